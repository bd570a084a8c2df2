//! Solutions of the exercises on learned tables, T5 and ALiBi.

use ndarray::{Array2, Array3, Axis, s};
use positional_encoding::attention::softmax;
use positional_encoding::{Direction, alibi, learned, t5};

#[test]
fn padding_in_the_middle_is_not_counted() {
    // ANCHOR: positions
    let positions = learned::positions_from_ids(&[5, 6, 1, 7], 1);
    assert_eq!(positions, [2, 3, 1, 4]);
    assert_eq!(learned::usable_positions(514, 1), Ok(512));
    // ANCHOR_END: positions
}

#[test]
fn an_encoder_shares_a_bucket_where_a_decoder_does_not() -> Result<(), positional_encoding::Error> {
    // ANCHOR: buckets
    let encoder = |relative| t5::bucket(relative, 32, 128, Direction::Bidirectional);
    assert_eq!(encoder(-20)?, 10);
    assert_eq!(encoder(-22)?, 10);
    assert_eq!(encoder(20)?, 26);

    let decoder = |relative| t5::bucket(relative, 32, 128, Direction::Causal);
    assert_eq!(decoder(-20)?, 17);
    assert_eq!(decoder(-22)?, 18);
    // ANCHOR_END: buckets
    Ok(())
}

// ANCHOR: horizon
/// How many of the nearest tokens get 90 % of the weight, counted out.
fn horizon(slope: f64, seq_len: usize) -> usize {
    let keys: Vec<usize> = (0..seq_len).collect();
    let bias = alibi::bias(&[slope], &[seq_len - 1], &keys, Direction::Causal);
    let weights = softmax(bias.index_axis(Axis(0), 0));
    let mut share = 0.0;
    for (further, weight) in weights.row(0).iter().rev().enumerate() {
        share += weight;
        if share >= 0.9 {
            return further + 1;
        }
    }
    seq_len
}

#[test]
fn nine_tenths_of_the_weight_lie_within_ln_10_over_the_slope() {
    for (slope, tokens) in [(1.0 / 2.0, 5), (1.0 / 256.0, 590)] {
        assert_eq!(horizon(slope, 8192), tokens);
        assert_eq!((f64::ln(10.0) / slope).ceil() as usize, tokens);
    }
}
// ANCHOR_END: horizon

// ANCHOR: alibi_as_t5
/// T5's table with ALiBi's penalties: shape `(32, heads)`.
fn alibi_table(slopes: &[f64]) -> Result<Array2<f64>, positional_encoding::Error> {
    let mut table = Array2::zeros((32, slopes.len()));
    // From far to near, so that each bucket ends with its nearest distance.
    for distance in (0..=128).rev() {
        let bucket = t5::bucket(-distance, 32, 128, Direction::Causal)?;
        for (head, slope) in slopes.iter().enumerate() {
            table[[bucket, head]] = -slope * distance as f64;
        }
    }
    Ok(table)
}
// ANCHOR_END: alibi_as_t5

#[test]
fn t5_can_hold_alibi_up_to_distance_16() -> Result<(), positional_encoding::Error> {
    let slopes = alibi::slopes(8)?;
    let table = alibi_table(&slopes)?;
    let (query, keys) = ([400], (0..=400).collect::<Vec<usize>>());
    let t5 = t5::bias(table.view(), &query, &keys, 128, Direction::Causal)?;
    let alibi = alibi::bias(&slopes, &query, &keys, Direction::Causal);

    let (near, apart) = (s![.., .., 400 - 16..], 400 - 17);
    assert_eq!(t5.slice(near), alibi.slice(near));
    assert_ne!(t5[[0, 0, apart]], alibi[[0, 0, apart]]);
    assert_eq!(t5[[0, 0, 200]], t5[[0, 0, 100]]);
    assert!(alibi[[0, 0, 200]] > alibi[[0, 0, 100]]);
    Ok(())
}

// ANCHOR: two_slopes
/// One slope for keys before the query and one for keys after it.
fn two_sided(before: &[f64], after: &[f64], seq_len: usize) -> Array3<f64> {
    let shape = (before.len().min(after.len()), seq_len, seq_len);
    Array3::from_shape_fn(shape, |(head, query, key)| {
        let slope = if key < query {
            before[head]
        } else {
            after[head]
        };
        -slope * key.abs_diff(query) as f64
    })
}

#[test]
fn two_slopes_tell_before_from_after() {
    let bias = two_sided(&[0.5], &[0.25], 9);
    assert_eq!(bias[[0, 4, 2]], -1.0);
    assert_eq!(bias[[0, 4, 6]], -0.5);

    let positions: Vec<usize> = (0..9).collect();
    let symmetric = alibi::bias(&[0.5], &positions, &positions, Direction::Bidirectional);
    assert_eq!(two_sided(&[0.5], &[0.5], 9), symmetric);
}
// ANCHOR_END: two_slopes
