use std::f64::consts::TAU;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::Array2;
use positional_encoding::sinusoidal::{dot_product, encoding, inv_freq};
use positional_encoding::{Error, rope};
use proptest::prelude::*;

#[test]
fn at_position_0_all_hands_stand_at_twelve() {
    // ANCHOR: predict
    let start = encoding(0, 6).unwrap();
    assert_eq!(start.to_vec(), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);

    let change = (&encoding(1, 6).unwrap() - &start).mapv(f64::abs);
    let least = change.iter().copied().fold(f64::MAX, f64::min);
    assert_eq!(change[5], least);
    assert_relative_eq!(least, 2.32e-6, max_relative = 1e-3);
    // ANCHOR_END: predict
}

// ANCHOR: read_the_clock
fn position_of(stamp: &[f64]) -> Result<usize, Error> {
    let inv_freq = inv_freq(stamp.len())?;
    let mut estimate = 0.0;
    for (pair, frequency) in stamp.chunks(2).zip(&inv_freq).rev() {
        let turn = TAU / frequency;
        let within_one_turn = pair[0].atan2(pair[1]) / frequency;
        let turns = ((estimate - within_one_turn) / turn).round();
        estimate = within_one_turn + turns * turn;
    }
    Ok(estimate.round() as usize)
}
// ANCHOR_END: read_the_clock

proptest! {
    #[test]
    fn a_stamp_of_three_decimals_can_still_be_read(position in 0usize..3_000, pairs in 4usize..20) {
        let rounded = |entry: f64| (1000.0 * entry).round() / 1000.0;
        let stamp = encoding(position, 2 * pairs).unwrap().mapv(rounded);
        prop_assert_eq!(position_of(&stamp.to_vec()).unwrap(), position);
    }
}

// ANCHOR: before_or_after
fn before_or_after(d_model: usize) -> Array2<f64> {
    let mut matrix = Array2::zeros((d_model, d_model));
    for i in 0..d_model / 2 {
        matrix[[2 * i, 2 * i + 1]] = -1.0;
        matrix[[2 * i + 1, 2 * i]] = 1.0;
    }
    matrix
}
// ANCHOR_END: before_or_after

proptest! {
    #[test]
    fn one_matrix_tells_before_from_after(a in 0usize..100_000, offset in 1usize..=50) {
        let matrix = before_or_after(64);
        let score = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|position| encoding(position, 64).unwrap());
            a.dot(&matrix.dot(&b))
        };
        prop_assert!(score(a, a + offset) > 1.0);
        assert_abs_diff_eq!(score(a, a + offset), -score(a + offset, a), epsilon = 1e-9);
    }
}

#[test]
fn sixty_four_wide_the_compass_fails_first_at_offset_131() {
    let matrix = before_or_after(64);
    let start = encoding(0, 64).unwrap();
    let score = |offset| start.dot(&matrix.dot(&encoding(offset, 64).unwrap()));
    assert_eq!((1..1_000).find(|offset| score(*offset) < 0.0), Some(131));
}

// ANCHOR: wide_enough
fn nearest_are_neighbours(d_model: usize, positions: i64) -> Result<bool, Error> {
    let inv_freq = inv_freq(d_model)?;
    // Two stamps are nearer the larger their dot product, since all are equally long.
    let neighbours = dot_product(1, &inv_freq);
    Ok((2..positions).all(|offset| dot_product(offset, &inv_freq) < neighbours))
}
// ANCHOR_END: wide_enough

#[test]
fn the_smallest_width_without_near_repeats() {
    let smallest = (2..40)
        .step_by(2)
        .find(|d_model| nearest_are_neighbours(*d_model, 100_000).unwrap());
    assert_eq!(smallest, Some(16));
}

// ANCHOR: choose_the_base
fn base_for(longest_wavelength: f64, d_model: usize) -> f64 {
    let width = d_model as f64;
    (longest_wavelength / TAU).powf(width / (width - 2.0))
}
// ANCHOR_END: choose_the_base

#[test]
fn a_base_of_about_234000_gives_64_entries_a_wavelength_of_a_million() {
    let base = base_for(1e6, 64);
    assert_abs_diff_eq!(base, 234_000.0, epsilon = 1_000.0);
    let slowest = *rope::inv_freq(64, base).unwrap().last().unwrap();
    assert_relative_eq!(TAU / slowest, 1e6, max_relative = 1e-12);
}
