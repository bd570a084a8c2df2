//! What the functions do at the edge of what they accept.

use std::f64::consts::TAU;

use positional_encoding::rope::{self, Layout};
use positional_encoding::scaling::{self, AttentionFactor, ByParts, Llama3, Ramp, Trained, Yarn};
use positional_encoding::{Direction, Error, alibi, learned, sinusoidal, t5};

fn trained(rotary_dim: usize, length: usize) -> Trained {
    Trained {
        rotary_dim,
        base: 10_000.0,
        length,
    }
}

#[test]
fn a_token_does_not_bias_its_own_score_not_even_to_minus_zero() {
    for direction in [Direction::Causal, Direction::Bidirectional] {
        let bias = alibi::bias(&[0.5, f64::INFINITY], &[3], &[3], direction);
        assert!(bias.iter().all(|entry| entry.to_bits() == 0), "{bias}");
    }
}

#[test]
fn a_random_table_is_made_of_the_numbers_of_splitmix64() {
    // The first outputs for the seed 0, as the generator's authors publish them.
    let published: [u64; 3] = [
        0xe220_a839_7b1d_cdaf,
        0x6e78_9e6a_a1b9_65f4,
        0x06c4_5d18_8009_454f,
    ];
    let table = learned::random_table(1, 3, 0);
    for (entry, bits) in table.iter().zip(published) {
        let unit = (bits >> 11) as f64 / 2.0_f64.powi(53);
        // A product and a difference, each rounded once.
        assert!((entry - (0.2 * unit - 0.1)).abs() < 1e-16, "{entry}");
    }
}

#[test]
fn a_table_without_a_usable_row_is_refused() {
    for padding_idx in [1, 2, usize::MAX] {
        let error = learned::usable_positions(2, padding_idx).unwrap_err();
        assert!(error.to_string().contains("padding_idx"), "{error}");
    }
    assert_eq!(learned::usable_positions(3, 1).unwrap(), 1);
}

#[test]
fn a_row_that_equals_the_mean_is_similar_to_nothing_and_never_nan() {
    let alike = learned::similarity(ndarray::array![[2.0, 1.0], [2.0, 1.0]].view());
    assert_eq!(alike, ndarray::Array2::<f64>::zeros((2, 2)));
}

/// Scores this far apart leave a weight of exactly zero, whose logarithm is infinite.
#[test]
fn a_weight_of_zero_costs_nothing_where_none_is_wanted() {
    let mut table = ndarray::array![[40.0, 0.0], [0.0, 40.0]];
    let wanted = ndarray::Array2::eye(2);
    let losses = learned::train(&mut table, wanted.view(), 0.1, 1).unwrap();
    assert_eq!(losses, [0.0]);
}

#[test]
fn each_axis_turns_a_block_of_its_own_however_many_pairs_it_has() {
    for pairs in [1, 3, 4] {
        let inv_freq = rope::inv_freq(2 * pairs, 100.0).unwrap();
        let mut patch: Vec<f64> = (0..4 * pairs).map(|entry| entry as f64).collect();
        let mut expected = patch.clone();
        let (row, column) = expected.split_at_mut(2 * pairs);
        rope::rotate(row, 5, &inv_freq, Layout::Half).unwrap();
        rope::rotate(column, 2, &inv_freq, Layout::Half).unwrap();
        rope::rotate_axes(&mut patch, &[5, 2], &inv_freq, Layout::Half).unwrap();
        assert_eq!(patch, expected);
    }
}

/// Two unit steps, the second turned by the angle: their sum is as long as twice the cosine of half
/// of it.
#[test]
fn the_decay_bound_of_two_pairs_is_what_it_is_by_hand() {
    for offset in [-3_i64, 0, 2, 7] {
        let by_hand = (1.0 + 2.0 * (0.3 * offset as f64 / 2.0).cos().abs()) / 2.0;
        let bound = rope::decay_bound(offset, &[0.0, 0.3]);
        assert!((bound - by_hand).abs() < 1e-15, "{bound} {by_hand}");
    }
}

#[test]
fn a_pair_that_turns_exactly_once_does_turn() {
    // Dividing by a power of two rounds nothing, so the wavelength is 4096 to the last bit.
    assert_eq!(scaling::pairs_never_turning(&[TAU / 4096.0], 4096), 0);
    assert_eq!(scaling::pairs_never_turning(&[TAU / 4096.0], 4095), 1);
}

fn band(length: usize, beta_fast: f64, beta_slow: f64) -> (f64, f64) {
    let yarn = Yarn {
        factor: 4.0,
        beta_fast,
        beta_slow,
        ramp: Ramp::Pairs,
        attention_factor: AttentionFactor::FromFactor,
    };
    scaling::yarn_band(&trained(8, length), &yarn).unwrap()
}

/// As in the released code, which counts entries here and not pairs.
#[test]
fn the_band_of_yarn_ends_one_before_the_rotated_width() {
    assert_eq!(band(4096, 32.0, 1e-30).1, 7.0);
    assert_eq!(band(4096, 1e30, 1.0).0, 0.0);
}

#[test]
fn equal_bounds_of_yarn_are_a_thousandth_of_a_pair_apart() {
    let (low, high) = band(4096, 4.0, 4.0);
    // A difference of numbers below 4, each rounded to 4e-16.
    assert!((high - low - 0.001).abs() < 1e-15, "{low} {high}");
}

#[test]
fn a_pair_exactly_at_equal_bounds_of_llama3_stays_as_trained() {
    let bound = 1000.0 / TAU;
    assert_eq!(1000.0 / bound, TAU, "the first pair stands at the bound");
    let rule = Llama3 {
        factor: 8.0,
        low_freq_factor: bound,
        high_freq_factor: bound,
    };
    let trained = trained(4, 1000);
    let plain = trained.inv_freq().unwrap();
    let scaled = scaling::llama3(&trained, &rule).unwrap().inv_freq;
    assert_eq!(scaled, [plain[0], plain[1] / 8.0]);
}

#[test]
fn a_weight_of_yarns_temperature_below_zero_or_not_finite_is_refused() {
    for weight in [-1.0, f64::INFINITY, f64::NAN] {
        let error = scaling::mscale(4.0, weight).unwrap_err().to_string();
        assert!(error.starts_with("weight is "), "{error}");
    }
}

#[test]
fn an_input_of_no_positions_is_refused() {
    let trained = trained(8, 4096);
    for refused in [
        scaling::dynamic_ntk(&trained, 0),
        scaling::dynamic_ntk_with_factor(&trained, 2.0, 0),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("seq_len"), "{error}");
    }
}

#[test]
fn a_ramp_in_turns_needs_two_different_bounds() {
    for (alpha, beta) in [(1.0, 1.0), (0.0, 0.0), (2.0, 1.0)] {
        let parts = ByParts {
            factor: 4.0,
            alpha,
            beta,
        };
        let error = scaling::ntk_by_parts(&trained(8, 4096), &parts).unwrap_err();
        assert!(error.to_string().starts_with("alpha is "), "{error}");
    }
}

#[test]
fn digits_that_cannot_hold_a_position_say_how_many_positions_they_hold() {
    let length = |position, digits| match sinusoidal::binary_digits(position, digits) {
        Err(Error::Position { length, .. }) => length,
        other => panic!("{other:?}"),
    };
    assert_eq!(length(8, 3), 8);
    assert_eq!(length(usize::MAX, 4), 16);
}

/// Otherwise no bucket is left for the distances past those that have one of their own.
#[test]
fn the_largest_distance_of_t5_is_past_the_buckets_of_one_distance() {
    for (direction, of_their_own) in [(Direction::Causal, 16), (Direction::Bidirectional, 8)] {
        assert!(t5::bucket(0, 32, of_their_own, direction).is_err());
        let last = t5::bucket(-100, 32, of_their_own + 1, direction).unwrap();
        assert_eq!(last, 2 * of_their_own - 1);
    }
}
