//! Claims about T5's relative bias.

use ndarray::Array2;
use positional_encoding::{Direction, t5};
use proptest::prelude::*;

const DIRECTIONS: [Direction; 2] = [Direction::Causal, Direction::Bidirectional];

fn bucket(relative_position: i64, direction: Direction) -> usize {
    t5::bucket(relative_position, 32, 128, direction).unwrap()
}

/// The distance at which each bucket of keys before the query begins.
fn first_distances(direction: Direction) -> Vec<i64> {
    (0..1000)
        .filter(|&distance| {
            distance == 0 || bucket(-distance, direction) != bucket(-distance + 1, direction)
        })
        .collect()
}

#[test]
fn buckets_begin_where_the_released_code_begins_them() {
    // Computed from the released rule with 40 digits.
    let bidirectional = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91];
    let causal = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31, 35, 40, 46,
        52, 59, 67, 77, 87, 99, 113,
    ];
    assert_eq!(first_distances(Direction::Bidirectional), bidirectional);
    assert_eq!(first_distances(Direction::Causal), causal);
}

#[test]
fn the_last_bucket_begins_before_max_distance() {
    for (direction, begins, last) in [
        (Direction::Bidirectional, 91, 15),
        (Direction::Causal, 113, 31),
    ] {
        assert_eq!(bucket(-begins, direction), last);
        assert_eq!(bucket(-begins + 1, direction), last - 1);
        assert!(begins < 128);
    }
}

#[test]
fn a_key_just_before_and_a_key_just_after_fall_into_buckets_1_and_17() {
    assert_eq!(bucket(-1, Direction::Bidirectional), 1);
    assert_eq!(bucket(0, Direction::Bidirectional), 0);
    assert_eq!(bucket(1, Direction::Bidirectional), 17);
    assert_eq!(bucket(8, Direction::Bidirectional), 24);
    assert_eq!(bucket(91, Direction::Bidirectional), 31);
}

#[test]
fn bucket_16_of_an_encoder_is_never_used() {
    // It would be distance 0 of the later side, and distance 0 belongs to the earlier.
    let used = (-1000..1000).map(|relative| bucket(relative, Direction::Bidirectional));
    let used: std::collections::BTreeSet<usize> = used.collect();
    assert_eq!(used.len(), 31);
    assert!(!used.contains(&16));
}

#[test]
fn sizes_without_a_logarithmic_half_are_refused() {
    assert!(t5::bucket(0, 1, 128, Direction::Causal).is_err());
    assert!(t5::bucket(0, 2, 128, Direction::Bidirectional).is_err());
    assert!(t5::bucket(0, 31, 128, Direction::Bidirectional).is_err());
    assert!(t5::bucket(0, 32, 16, Direction::Causal).is_err());
    assert!(t5::bucket(0, 32, 17, Direction::Causal).is_ok());
    assert!(t5::bucket(0, 32, 9, Direction::Bidirectional).is_ok());
}

proptest! {
    #[test]
    fn a_bucket_never_falls_as_the_distance_grows(
        half in 2_usize..32,
        reach in 2_usize..200,
        distance in 0_i64..100_000,
        further in 0_i64..1_000,
    ) {
        for direction in DIRECTIONS {
            let (buckets, max_distance) = (2 * half, half + reach);
            let of = |d: i64| t5::bucket(-d, buckets, max_distance, direction).unwrap();
            prop_assert!(of(distance) <= of(distance + further));
            prop_assert!(of(distance) < buckets);
        }
    }

    #[test]
    fn every_distance_from_the_last_bucket_on_looks_the_same(distance in 113_i64..i64::MAX) {
        prop_assert_eq!(bucket(-distance, Direction::Causal), 31);
        // An encoder's last buckets begin 22 earlier, at 91.
        let distance = distance - 22;
        prop_assert_eq!(bucket(-distance, Direction::Bidirectional), 15);
        prop_assert_eq!(bucket(distance, Direction::Bidirectional), 31);
    }

    #[test]
    fn an_encoder_keeps_before_and_after_apart(before in 0_i64..100_000, after in 1_i64..100_000) {
        let before = bucket(-before, Direction::Bidirectional);
        let after = bucket(after, Direction::Bidirectional);
        prop_assert!(before < 16 && after > 16);
    }

    #[test]
    fn a_decoder_puts_every_future_key_into_bucket_zero(after in 1_i64..i64::MAX) {
        prop_assert_eq!(bucket(after, Direction::Causal), 0);
    }

    #[test]
    fn the_bias_depends_on_the_offset_alone(shift in 0_usize..1_000_000, heads in 1_usize..5) {
        let table = Array2::from_shape_fn((32, heads), |(row, head)| (row * heads + head) as f64);
        let here: Vec<usize> = (0..150).collect();
        let there: Vec<usize> = (shift..shift + 150).collect();
        for direction in DIRECTIONS {
            let bias = |positions: &[usize]| {
                t5::bias(table.view(), positions, positions, 128, direction).unwrap()
            };
            prop_assert_eq!(bias(&here), bias(&there));
        }
    }

    #[test]
    fn one_more_token_leaves_the_bias_of_the_earlier_ones_alone(length in 1_usize..100) {
        let table = Array2::from_shape_fn((32, 2), |(row, head)| (row * 2 + head) as f64);
        let positions: Vec<usize> = (0..=length).collect();
        let whole = t5::bias(table.view(), &positions, &positions, 128, Direction::Causal).unwrap();
        // Decoding with a cache: one query, at the position it really has.
        let last = t5::bias(table.view(), &[length], &positions, 128, Direction::Causal).unwrap();
        for ((head, _, key), bias) in last.indexed_iter() {
            prop_assert_eq!(*bias, whole[[head, length, key]]);
        }
    }
}
