//! What is written in place has the numbers of the readable forms.

use ndarray::{Array2, Array3};
use positional_encoding::in_place::{self, Rotation};
use positional_encoding::rope::{self, Layout};
use positional_encoding::scaling::{Frequencies, Scaling, Trained, Yarn};
use positional_encoding::sinusoidal::table_by_rotation;
use positional_encoding::{Direction, Error, alibi, t5};

const LAYOUTS: [Layout; 2] = [Layout::Interleaved, Layout::Half];

/// Numbers without a pattern, between −1 and 1.
fn batch(shape: (usize, usize, usize)) -> Array3<f64> {
    let mut state = 1_u64;
    Array3::from_shape_simple_fn(shape, || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

fn plain(rotary_dim: usize) -> Frequencies {
    Frequencies {
        inv_freq: rope::inv_freq(rotary_dim, 10_000.0).unwrap(),
        attention_factor: 1.0,
    }
}

fn name(error: Error) -> &'static str {
    match error {
        Error::Parameter { name, .. } | Error::Shape { name, .. } => name,
        Error::Position { .. } => "position",
        other => panic!("an error of another kind: {other}"),
    }
}

#[test]
fn a_table_in_place_is_the_table_by_rotation() {
    for (seq_len, d_model) in [(1, 2), (255, 6), (256, 4), (257, 10), (1_000, 64)] {
        let mut table = vec![f64::NAN; seq_len * d_model];
        in_place::sinusoidal_table(&mut table, d_model).unwrap();
        let readable = table_by_rotation(seq_len, d_model).unwrap();
        assert_eq!(table, readable.as_slice().unwrap(), "{seq_len} × {d_model}");
    }
}

#[test]
fn a_rotation_in_place_is_the_rotation_of_the_book() {
    // Partial rotary, an odd rest, one head, a text that begins late, and one position for all.
    let cases: [(usize, usize, usize, &[usize]); 4] = [
        (2, 8, 8, &[0, 1, 2, 3]),
        (3, 11, 6, &[7, 5, 900, 0]),
        (1, 128, 128, &[41, 42]),
        (2, 4, 2, &[13, 13, 13]),
    ];
    for (heads, head_dim, rotary_dim, positions) in cases {
        for layout in LAYOUTS {
            let mut readable = batch((positions.len(), heads, head_dim));
            let mut written = readable.clone().into_raw_vec_and_offset().0;
            let frequencies = plain(rotary_dim);
            rope::apply(&mut readable, positions, &frequencies.inv_freq, layout).unwrap();
            let rotation = Rotation::new(1_000, &frequencies, layout).unwrap();
            rotation.apply(&mut written, positions, head_dim).unwrap();
            assert_eq!(
                written,
                readable.as_slice().unwrap(),
                "{layout:?}, {head_dim}"
            );
        }
    }
}

/// Each entry is two products of numbers below 1 with a cosine rounded to f32: three roundings of
/// 6e-8 at most for each product, and one for the sum.
#[test]
fn in_single_precision_a_long_position_loses_no_more_than_a_short_one() {
    let positions = [0, 1, 4_095, 131_071, 999_999];
    for layout in LAYOUTS {
        let mut readable = batch((positions.len(), 2, 8)).mapv(|x| f64::from(x as f32));
        let mut written: Vec<f32> = readable.iter().map(|&x| x as f32).collect();
        let frequencies = plain(8);
        rope::apply(&mut readable, &positions, &frequencies.inv_freq, layout).unwrap();
        let rotation = Rotation::new(1_000_000, &frequencies, layout).unwrap();
        rotation
            .single()
            .apply(&mut written, &positions, 8)
            .unwrap();
        for (written, readable) in written.iter().zip(&readable) {
            approx::assert_abs_diff_eq!(f64::from(*written), *readable, epsilon = 5e-7);
        }
    }
}

#[test]
fn the_attention_factor_multiplies_what_turns_and_nothing_else() {
    let trained = Trained {
        rotary_dim: 4,
        base: 10_000.0,
        length: 4_096,
    };
    let yarn = Scaling::Yarn(Yarn {
        factor: 16.0,
        ..Yarn::default()
    });
    let frequencies = yarn.frequencies(&trained, 65_536).unwrap();
    let factor = frequencies.attention_factor;
    assert!(factor > 1.2);
    for layout in LAYOUTS {
        let mut readable = batch((1, 1, 6));
        let mut written = readable.clone().into_raw_vec_and_offset().0;
        rope::apply(&mut readable, &[77], &frequencies.inv_freq, layout).unwrap();
        let rotation = Rotation::new(78, &frequencies, layout).unwrap();
        rotation.apply(&mut written, &[77], 6).unwrap();
        assert_eq!(written[4..], readable.as_slice().unwrap()[4..]);
        for (written, readable) in written[..4].iter().zip(&readable) {
            // Whether the factor is multiplied before or after: two roundings more.
            approx::assert_relative_eq!(*written, factor * readable, max_relative = 1e-14);
        }
    }
}

#[test]
fn a_bias_in_place_is_the_bias_of_every_pair_of_positions() {
    let table = Array2::from_shape_fn((32, 3), |(bucket, head)| (100 * head + bucket) as f64);
    for direction in [Direction::Causal, Direction::Bidirectional] {
        for seq_len in [1, 2, 17, 300] {
            let last = seq_len - 1;
            let keys: Vec<usize> = (0..2 * seq_len - 1).collect();
            let positions = &keys[..seq_len];
            let slopes = alibi::slopes(3).unwrap();
            let t5 = |queries: &[usize], keys: &[usize]| {
                t5::bias(table.view(), queries, keys, 128, direction).unwrap()
            };
            for (offsets, readable) in [
                (
                    alibi::bias(&slopes, &[last], &keys, direction),
                    alibi::bias(&slopes, positions, positions, direction),
                ),
                (t5(&[last], &keys), t5(positions, positions)),
            ] {
                let mut written = vec![f64::NAN; readable.len()];
                in_place::bias(&mut written, offsets.as_slice().unwrap(), seq_len).unwrap();
                assert_eq!(
                    written,
                    readable.as_slice().unwrap(),
                    "{seq_len}, {direction:?}"
                );
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_named_and_left_as_it_was() {
    let refused = |x: &mut [f64], positions: &[usize], head_dim| {
        let rotation = Rotation::new(4, &plain(4), Layout::Half).unwrap();
        let before = x.to_vec();
        let error = rotation.apply(x, positions, head_dim).unwrap_err();
        assert_eq!(x, before);
        name(error)
    };
    assert_eq!(refused(&mut [1.0; 8], &[0, 4], 4), "position");
    assert_eq!(refused(&mut [1.0; 9], &[0, 1], 4), "x");
    assert_eq!(refused(&mut [1.0; 4], &[], 4), "x");
    assert_eq!(refused(&mut [1.0; 6], &[0, 1], 3), "x");
    assert_eq!(refused(&mut [1.0; 4], &[0], 0), "x");

    let no_pairs = Rotation::new(
        4,
        &Frequencies {
            inv_freq: vec![],
            attention_factor: 1.0,
        },
        Layout::Half,
    );
    assert_eq!(name(no_pairs.unwrap_err()), "inv_freq");
    let too_long = Rotation::new(usize::MAX, &plain(4), Layout::Half);
    assert_eq!(name(too_long.unwrap_err()), "seq_len");

    let bias = |bias: usize, offsets: usize, seq_len| {
        name(in_place::bias(&mut vec![0.0; bias], &vec![0.0; offsets], seq_len).unwrap_err())
    };
    assert_eq!(bias(8, 7, 2), "offsets");
    assert_eq!(bias(7, 6, 2), "bias");
    assert_eq!(bias(4, 0, 2), "bias");
    assert_eq!(bias(0, 3, usize::MAX), "offsets");
    assert_eq!(bias(0, 3, 0), "offsets");

    let table = |entries, d_model| {
        name(in_place::sinusoidal_table(&mut vec![0.0; entries], d_model).unwrap_err())
    };
    assert_eq!(table(9, 4), "table");
    assert_eq!(table(9, 3), "d_model");
    assert_eq!(table(9, 0), "table");
    assert_eq!(table(0, 4), "seq_len");
}

#[test]
fn nothing_to_write_is_no_error() {
    let rotation = Rotation::new(4, &plain(4), Layout::Half).unwrap();
    assert_eq!(rotation.seq_len(), 4);
    assert_eq!(rotation.apply(&mut [], &[], 4), Ok(()));
    assert_eq!(rotation.apply(&mut [], &[3], 4), Ok(()));
    assert_eq!(in_place::bias::<f64>(&mut [], &[], 0), Ok(()));
}
