use std::f64::consts::TAU;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array1, Array2, Axis, concatenate, s};
use positional_encoding::sinusoidal::{
    BASE, BLOCK, add_to_embedding, binary_digits, dot_product, encoding, inv_freq, scaled_position,
    score_terms, shift_matrix, table, table_by_rotation, tensor2tensor_encoding,
    tensor2tensor_inv_freq, wavelengths,
};

use proptest::prelude::*;

/// Twice the rounding of the largest angle a position can have, plus a few roundings of the sum.
///
/// `inv_freq` is at most 1, so the angle `position * inv_freq` is rounded by at most
/// `position * 2^-53`, and so is `inv_freq` itself.
fn rounding(position: usize) -> f64 {
    4.0 * (position as f64 + 4.0) * f64::EPSILON
}

fn largest_difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    (a - b)
        .iter()
        .fold(0.0, |largest, entry| entry.abs().max(largest))
}

fn distance(a: &Array1<f64>, b: &Array1<f64>) -> f64 {
    (a - b).mapv(|entry| entry * entry).sum().sqrt()
}

/// Similarity scaled so that a position has similarity 1 with itself.
fn similarities(d_model: usize, last: i64) -> Vec<f64> {
    let inv_freq = inv_freq(d_model).unwrap();
    (0..=last)
        .map(|offset| dot_product(offset, &inv_freq) / inv_freq.len() as f64)
        .collect()
}

/// The distance between two encodings `offset` apart, from their dot product.
fn distance_by_offset(offset: i64, inv_freq: &[f64]) -> f64 {
    let squared = 2.0 * (inv_freq.len() as f64 - dot_product(offset, inv_freq));
    squared.max(0.0).sqrt()
}

fn even_width() -> impl Strategy<Value = usize> {
    (1usize..40).prop_map(|pairs| 2 * pairs)
}

/// A matrix with no structure that depends on nothing but its seed.
fn arbitrary_matrix(d_model: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_fn((d_model, d_model), |(row, column)| {
        (seed + 1.7 * row as f64 + 3.1 * (row * column) as f64 + column as f64).sin()
    })
}

// First ideas

#[test]
fn the_raw_integer_outgrows_any_embedding() {
    // A word of 512 entries of ordinary size, and its position written into one of them.
    let mut word = Array1::<f64>::from_elem(512, 1.0);
    let length_without = word.dot(&word).sqrt();
    word[0] += 1_000.0;
    let share = word[0] * word[0] / word.dot(&word);
    assert!(share > 0.999);
    assert!(word.dot(&word).sqrt() > 40.0 * length_without);
}

#[test]
fn a_scaled_position_takes_a_step_that_depends_on_the_length() {
    let step =
        |seq_len| scaled_position(1, seq_len).unwrap() - scaled_position(0, seq_len).unwrap();
    assert_eq!(step(5), 0.25);
    assert_eq!(step(101), 0.01);
    // And the same number means different places: third of five, 51st of 101.
    assert_eq!(
        scaled_position(2, 5).unwrap(),
        scaled_position(50, 101).unwrap()
    );
}

#[test]
fn in_binary_7_is_further_from_its_neighbour_8_than_0_is_from_8() {
    let differing = |a, b| {
        let pairs = binary_digits(a, 4).unwrap();
        let others = binary_digits(b, 4).unwrap();
        pairs.iter().zip(others).filter(|(x, y)| **x != *y).count()
    };
    assert_eq!(differing(7, 8), 4);
    assert_eq!(differing(0, 8), 1);
}

proptest! {
    #[test]
    fn binary_digits_name_each_position_once_and_then_the_odometer_is_full(
        digits in 1u32..12,
        a in 0usize..5000,
        b in 0usize..5000,
    ) {
        let full = 1usize << digits;
        match (binary_digits(a, digits), binary_digits(b, digits)) {
            (Ok(first), Ok(second)) => prop_assert_eq!(first == second, a == b),
            (first, second) => {
                prop_assert_eq!(first.is_err(), a >= full);
                prop_assert_eq!(second.is_err(), b >= full);
            }
        }
    }
}

// The formula

#[test]
fn the_papers_layout_agrees_with_the_reference_values() {
    let cases: [(usize, usize, &[f64]); 4] = [
        (4, 0, &[0.0, 1.0, 0.0, 1.0]),
        (
            4,
            1,
            &[
                0.8414709848078965,
                0.5403023058681398,
                0.009999833334166664,
                0.9999500004166653,
            ],
        ),
        (
            5,
            1,
            &[
                0.8414709848078965,
                0.5403023058681398,
                0.025116222909773774,
                0.9996845379152098,
                0.0006309573026154199,
            ],
        ),
        (
            6,
            3,
            &[
                0.1411200080598672,
                -0.9899924966004454,
                0.13879810108005053,
                0.990320699135675,
                0.006463259070189645,
                0.9999791129229608,
            ],
        ),
    ];
    for (d_model, position, expected) in cases {
        let found = encoding(position, d_model).unwrap();
        assert_eq!(found.len(), expected.len());
        // Two libraries may round a power, a sine or a cosine differently by one unit each.
        for (entry, value) in found.iter().zip(expected) {
            assert_abs_diff_eq!(*entry, *value, epsilon = 1e-15);
        }
    }
}

proptest! {
    #[test]
    fn the_table_is_the_formula_row_by_row(seq_len in 1usize..60, d_model in 1usize..40) {
        let table = table(seq_len, d_model).unwrap();
        prop_assert_eq!(table.dim(), (seq_len, d_model));
        for (position, row) in table.rows().into_iter().enumerate() {
            prop_assert_eq!(row, encoding(position, d_model).unwrap());
        }
    }

    #[test]
    fn an_odd_width_stops_before_the_last_cosine(position in 0usize..10_000, pairs in 0usize..40) {
        let odd = 2 * pairs + 1;
        let found = encoding(position, odd).unwrap();
        prop_assert_eq!(found.len(), odd);
        let angle = position as f64 * BASE.powf(-2.0 * pairs as f64 / odd as f64);
        prop_assert_eq!(found[odd - 1], angle.sin());
    }

    #[test]
    fn each_pair_is_slower_than_the_one_before_by_the_same_factor(d_model in 3usize..600) {
        let factor = BASE.powf(-2.0 / d_model as f64);
        let inv_freq = inv_freq(d_model).unwrap();
        prop_assert_eq!(inv_freq[0], 1.0);
        for pair in inv_freq.windows(2) {
            assert_relative_eq!(pair[1] / pair[0], factor, max_relative = 1e-14);
        }
    }
}

#[test]
fn the_first_pair_turns_once_in_6_28_positions_and_not_at_every_position() {
    for d_model in [8, 64, 512] {
        assert_eq!(wavelengths(d_model).unwrap()[0], TAU);
    }
    // Its sine passes from below zero to above it once a turn: 99 times in 628 positions.
    let sines = table(629, 8).unwrap().column(0).to_vec();
    let turns = sines
        .windows(2)
        .filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0);
    assert_eq!(turns.count(), (628.0 / TAU) as usize);
}

#[test]
fn the_longest_wavelength_stays_below_10000_times_two_pi() {
    // Reference values to the unit, so half a unit is allowed.
    for (d_model, expected) in [
        (8, 6_283.2),
        (64, 47_117.0),
        (128, 54_410.0),
        (512, 60_611.0),
    ] {
        let longest = *wavelengths(d_model).unwrap().last().unwrap();
        assert_abs_diff_eq!(longest, expected, epsilon = 0.5);
        assert!(longest < BASE * TAU);
    }
}

#[test]
fn eight_wide_the_last_hand_is_no_slower_than_one_radian_in_a_thousand_positions() {
    let slowest = |d_model| *inv_freq(d_model).unwrap().last().unwrap();
    assert_relative_eq!(1_000.0 * slowest(8), 1.0, max_relative = 1e-14);
    // A model's width makes the common picture true: a fortieth of a turn in a thousand positions.
    assert!(1_000.0 * slowest(64) < TAU / 40.0);
}

// The heat map

#[test]
fn the_left_columns_swing_and_the_right_columns_stand_still() {
    let table = table(128, 128).unwrap();
    let spread = |column: usize| table.column(column).std(0.0);
    assert_abs_diff_eq!(spread(0), 1.0 / 2f64.sqrt(), epsilon = 2e-3);
    assert_abs_diff_eq!(spread(1), 1.0 / 2f64.sqrt(), epsilon = 2e-3);
    assert!(spread(126) < 0.005 && spread(127) < 0.0001);
    // The last sine stays near 0 and the last cosine near 1, whatever the position.
    assert!(table.column(126).iter().all(|sine| sine.abs() < 0.015));
    assert!(table.column(127).iter().all(|cosine| *cosine > 0.999));
}

#[test]
fn over_a_hundred_positions_a_quarter_of_the_pairs_turn_less_than_a_tenth_of_a_radian() {
    for d_model in [64, 128, 512, 1024] {
        let inv_freq = inv_freq(d_model).unwrap();
        let still = inv_freq.iter().filter(|w| 100.0 * **w < 0.1).count();
        // The first pair of the last quarter turns by 0.1 itself, give or take its rounding.
        assert!(still == inv_freq.len() / 4 || still == inv_freq.len() / 4 - 1);
    }
}

// Four properties

proptest! {
    #[test]
    fn every_entry_lies_between_minus_one_and_one(
        position in any::<usize>(),
        d_model in 1usize..600,
    ) {
        let found = encoding(position, d_model).unwrap();
        prop_assert!(found.iter().all(|entry| (-1.0..=1.0).contains(entry)));
    }

    #[test]
    fn every_encoding_has_length_root_of_half_the_width(
        position in 0usize..10_000_000,
        d_model in even_width(),
    ) {
        let found = encoding(position, d_model).unwrap();
        assert_relative_eq!(
            found.dot(&found).sqrt(),
            (d_model as f64 / 2.0).sqrt(),
            max_relative = 1e-14
        );
    }
}

#[test]
fn no_two_of_the_first_million_positions_share_an_encoding() {
    // The distance of two encodings depends on their offset alone, so the offsets are all pairs.
    // The first pair tells every two apart: pi is irrational, no offset is a whole turn.
    let first_pair = inv_freq(2).unwrap();
    let nearest = (1..1_000_000)
        .map(|offset| distance_by_offset(offset, &first_pair))
        .fold(f64::INFINITY, f64::min);
    assert!(nearest > 2e-6);
}

proptest! {
    #[test]
    fn two_positions_are_as_far_apart_as_their_offset_says(
        a in 0usize..100_000,
        b in 0usize..100_000,
        d_model in even_width(),
    ) {
        let measured = distance(&encoding(a, d_model).unwrap(), &encoding(b, d_model).unwrap());
        let by_offset = distance_by_offset(a as i64 - b as i64, &inv_freq(d_model).unwrap());
        // Squared, since the root of a difference near zero magnifies its rounding.
        let allowed = d_model as f64 * rounding(a.max(b)) * 4.0;
        prop_assert!((measured * measured - by_offset * by_offset).abs() < allowed);
    }
}

#[test]
fn a_tiny_model_almost_repeats_itself() {
    for (d_model, position, limit) in [(4, 325_469, 1.1e-3), (8, 169_646, 3.4e-3)] {
        let start = encoding(0, d_model).unwrap();
        let later = encoding(position, d_model).unwrap();
        assert!(distance(&start, &later) < limit);
        // Its own neighbour is hundreds of times further away.
        assert!(distance(&start, &encoding(1, d_model).unwrap()) > 0.9);
    }
}

#[test]
fn sixteen_wide_no_position_of_400000_is_nearer_than_a_neighbour() {
    for d_model in [16, 18, 24] {
        let inv_freq = inv_freq(d_model).unwrap();
        let neighbour = distance_by_offset(1, &inv_freq);
        assert!(neighbour > 1.0);
        let nearest = (2..=400_000)
            .map(|offset| distance_by_offset(offset, &inv_freq))
            .fold(f64::INFINITY, f64::min);
        assert!(nearest > neighbour);
    }
    // Fourteen wide it does not hold yet.
    let inv_freq = inv_freq(14).unwrap();
    assert!(distance_by_offset(253_533, &inv_freq) < 0.7 * distance_by_offset(1, &inv_freq) + 0.01);
}

// The shift

proptest! {
    #[test]
    fn one_matrix_carries_every_position_k_steps_on(
        position in 0usize..100_000,
        offset in 0usize..10_000,
        d_model in even_width(),
    ) {
        let shift = shift_matrix(offset as i64, d_model).unwrap();
        let back = shift_matrix(-(offset as i64), d_model).unwrap();
        let here = encoding(position, d_model).unwrap();
        let there = encoding(position + offset, d_model).unwrap();
        let allowed = rounding(position + offset);
        let forward = shift.dot(&here) - &there;
        prop_assert!(forward.iter().all(|entry| entry.abs() < allowed));
        let backward = back.dot(&there) - &here;
        prop_assert!(backward.iter().all(|entry| entry.abs() < allowed));
    }

    #[test]
    fn shifting_back_is_the_transposed_matrix(offset in 0i64..100_000, d_model in even_width()) {
        let forward = shift_matrix(offset, d_model).unwrap();
        prop_assert_eq!(&forward.t(), &shift_matrix(-offset, d_model).unwrap());
        let both = forward.t().dot(&forward);
        prop_assert!(largest_difference(&both, &Array2::eye(d_model)) < 1e-15);
    }
}

#[test]
fn a_shift_forward_turns_each_sine_cosine_pair_clockwise() {
    let shift = shift_matrix(1, 16).unwrap();
    // From (sine, cosine) = (0, 1), straight up, towards (1, 0), to the right: as a clock's hand.
    let moved = shift.dot(&encoding(0, 16).unwrap());
    for (i, w) in inv_freq(16).unwrap().into_iter().enumerate() {
        assert!(moved[2 * i] > 0.0 && moved[2 * i + 1] < 1.0);
        assert_eq!(shift[[2 * i, 2 * i + 1]], w.sin());
        assert_eq!(shift[[2 * i + 1, 2 * i]], -w.sin());
    }
}

proptest! {
    #[test]
    fn the_dot_product_of_two_encodings_depends_on_their_offset_alone(
        a in 0usize..50_000,
        b in 0usize..50_000,
        moved in 0usize..50_000,
        d_model in even_width(),
    ) {
        let product = |a, b| encoding(a, d_model).unwrap().dot(&encoding(b, d_model).unwrap());
        let allowed = d_model as f64 * rounding(100_000);
        let by_offset = dot_product(a as i64 - b as i64, &inv_freq(d_model).unwrap());
        prop_assert!((product(a, b) - by_offset).abs() < allowed);
        prop_assert!((product(a, b) - product(a + moved, b + moved)).abs() < allowed);
    }
}

#[test]
fn positions_3_and_5_are_as_alike_as_300_and_302() {
    let product = |a, b| encoding(a, 512).unwrap().dot(&encoding(b, 512).unwrap());
    assert_abs_diff_eq!(product(3, 5), 231.733_620_389_7, epsilon = 1e-9);
    assert_abs_diff_eq!(product(300, 302), 231.733_620_389_7, epsilon = 1e-9);
}

// Similarity against offset

proptest! {
    #[test]
    fn similarity_cannot_tell_before_from_after(offset in any::<i32>(), d_model in even_width()) {
        let inv_freq = inv_freq(d_model).unwrap();
        let offset = i64::from(offset);
        prop_assert_eq!(dot_product(offset, &inv_freq), dot_product(-offset, &inv_freq));
    }

    #[test]
    fn similarity_is_highest_at_offset_zero(offset in 1i64..100_000, d_model in even_width()) {
        let inv_freq = inv_freq(d_model).unwrap();
        let own = d_model as f64 / 2.0;
        prop_assert_eq!(dot_product(0, &inv_freq), own);
        prop_assert!(dot_product(offset, &inv_freq) < own);
    }
}

#[test]
fn about_half_of_all_steps_away_bring_more_similarity() {
    for (d_model, first, rises, negative) in [
        (64, 5, 2026, 725),
        (128, 11, 1992, 1707),
        (512, 43, 2018, 3284),
    ] {
        let curve = similarities(d_model, 4096);
        let rising = |pair: &[f64]| pair[1] > pair[0];
        assert_eq!(curve.windows(2).position(rising), Some(first));
        assert_eq!(curve.windows(2).filter(|pair| rising(pair)).count(), rises);
        assert_eq!(curve.iter().position(|value| *value < 0.0), Some(negative));
    }
}

#[test]
fn sixty_four_wide_offset_1024_is_more_alike_than_offset_512() {
    let curve = similarities(64, 1024);
    // Reference values to four digits.
    assert_abs_diff_eq!(curve[512], 0.1854, epsilon = 5e-5);
    assert_abs_diff_eq!(curve[1024], 0.2629, epsilon = 5e-5);
}

#[test]
fn the_envelope_of_similarity_falls() {
    // The highest value of each stretch four times as long as the one before.
    for d_model in [64, 128, 512] {
        let curve = similarities(d_model, 4096);
        let peaks: Vec<f64> = [1, 4, 16, 64, 256, 1024]
            .map(|start| {
                curve[start..4 * start]
                    .iter()
                    .copied()
                    .fold(f64::MIN, f64::max)
            })
            .to_vec();
        assert!(peaks.windows(2).all(|pair| pair[1] < pair[0]));
    }
}

// What attention sees

proptest! {
    #[test]
    fn turning_the_query_two_back_finds_the_position_two_back(
        position in 2usize..2_000,
        seq_len in 1usize..200,
        pairs in 8usize..33,
    ) {
        let d_model = 2 * pairs;
        let seq_len = position.max(seq_len) + 1;
        let query = shift_matrix(-2, d_model).unwrap().dot(&encoding(position, d_model).unwrap());
        let scores = table(seq_len, d_model).unwrap().dot(&query);
        let (best, _) = scores.indexed_iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        prop_assert_eq!(best, position - 2);
    }

    #[test]
    fn a_score_on_stamped_words_is_the_sum_of_four_terms(
        parts in prop::collection::vec(-3.0f64..3.0, 4 * 6),
        seed in 0.0f64..100.0,
    ) {
        let parts = Array2::from_shape_vec((4, 6), parts).unwrap();
        let [x, p, x_key, p_key] = [0, 1, 2, 3].map(|row| parts.row(row));
        let (w_query, w_key) = (arbitrary_matrix(6, seed), arbitrary_matrix(6, seed + 0.5));
        let whole = w_query.dot(&(&x + &p)).dot(&w_key.dot(&(&x_key + &p_key)));
        let terms = score_terms([x, p], [x_key, p_key], w_query.view(), w_key.view()).unwrap();
        assert_abs_diff_eq!(whole, terms.concat().iter().sum::<f64>(), epsilon = 1e-9);
    }
}

#[test]
fn arbitrary_weights_see_more_than_the_offset() {
    let weights = arbitrary_matrix(8, 0.3);
    let product = |a, b| {
        let [a, b] = [a, b].map(|position| encoding(position, 8).unwrap());
        a.dot(&weights.dot(&b))
    };
    let scores = [product(3, 5), product(10, 12), product(300, 302)];
    let spread = scores.iter().fold(f64::MIN, |most, score| score.max(most))
        - scores
            .iter()
            .fold(f64::MAX, |least, score| score.min(least));
    assert!(spread > 1.0);
}

proptest! {
    #[test]
    fn weights_made_of_shifts_see_the_offset_alone(
        shift in -50i64..50,
        a in 0usize..5_000,
        b in 0usize..5_000,
        moved in 0usize..5_000,
    ) {
        let weights = shift_matrix(shift, 16).unwrap();
        let product = |a, b| {
            encoding(a, 16).unwrap().dot(&weights.dot(&encoding(b, 16).unwrap()))
        };
        prop_assert!((product(a, b) - product(a + moved, b + moved)).abs() < 16.0 * rounding(10_000));
    }
}

// Adding

proptest! {
    #[test]
    fn what_enters_the_first_layer_is_the_scaled_embedding_plus_the_stamp(
        entries in prop::collection::vec(-2.0f64..2.0, 3 * 10),
        positions in prop::collection::vec(0usize..100_000, 3),
    ) {
        let embedding = Array2::from_shape_vec((3, 10), entries).unwrap();
        let input = add_to_embedding(embedding.view(), &positions).unwrap();
        for (row, position) in positions.iter().enumerate() {
            let expected = &embedding.row(row) * 10f64.sqrt() + encoding(*position, 10).unwrap();
            prop_assert_eq!(input.row(row), expected);
        }
    }

    #[test]
    fn adding_is_concatenating_and_then_one_matrix(
        word in prop::collection::vec(-2.0f64..2.0, 6),
        position in 0usize..1000,
        seed in 0.0f64..100.0,
    ) {
        let (word, stamp) = (Array1::from(word), encoding(position, 6).unwrap());
        let weights = arbitrary_matrix(6, seed);
        let side_by_side = concatenate![Axis(0), word, stamp];
        let twice = concatenate![Axis(1), weights, weights];
        let difference = weights.dot(&(&word + &stamp)) - twice.dot(&side_by_side);
        prop_assert!(difference.iter().all(|entry| entry.abs() < 1e-12));
    }
}

#[test]
fn unscaled_the_stamp_is_far_longer_than_a_small_embedding() {
    // Embeddings drawn with variance 1 / d_model have length about 1, however wide the model.
    let d_model = 512;
    let word = Array1::from_elem(d_model, 1.0 / (d_model as f64).sqrt());
    let stamp = encoding(7, d_model).unwrap();
    let length = |vector: &Array1<f64>| vector.dot(vector).sqrt();
    assert_relative_eq!(length(&stamp) / length(&word), 16.0, max_relative = 1e-14);
    let scaled = &word * (d_model as f64).sqrt();
    assert_relative_eq!(length(&scaled), 512f64.sqrt(), max_relative = 1e-14);
    assert!(length(&scaled) > 1.4 * length(&stamp));
}

// The other layout

#[test]
fn tensor2tensors_layout_agrees_with_the_reference_values() {
    let even = [
        0.8414709848078965,
        9.999999983333325e-05,
        0.5403023058681398,
        0.999999995,
    ];
    let odd = [even[0], even[1], even[2], even[3], 0.0];
    let cases: [(usize, &[f64]); 2] = [(4, &even), (5, &odd)];
    for (d_model, expected) in cases {
        let found = tensor2tensor_encoding(1, d_model).unwrap();
        assert_eq!(found.len(), expected.len());
        for (entry, value) in found.iter().zip(expected) {
            assert_abs_diff_eq!(*entry, *value, epsilon = 1e-15);
        }
    }
}

#[test]
fn the_two_layouts_differ_by_more_than_the_order_of_their_entries() {
    let sorted = |encoding: Array1<f64>| {
        let mut entries = encoding.to_vec();
        entries.sort_by(f64::total_cmp);
        entries
    };
    let paper = sorted(encoding(1, 8).unwrap());
    let code = sorted(tensor2tensor_encoding(1, 8).unwrap());
    let apart = paper.iter().zip(code).any(|(a, b)| (a - b).abs() > 0.01);
    assert!(apart);
}

#[test]
fn only_tensor2tensor_reaches_a_wavelength_of_10000_times_two_pi() {
    for d_model in [8, 64, 512] {
        let slowest = *tensor2tensor_inv_freq(d_model).unwrap().last().unwrap();
        assert_relative_eq!(TAU / slowest, BASE * TAU, max_relative = 1e-13);
    }
}

// By rotation

proptest! {
    #[test]
    fn a_table_by_rotation_is_off_by_no_more_than_the_rounding_of_its_angles(
        seq_len in 1usize..(3 * BLOCK),
        d_model in even_width(),
    ) {
        let turned = table_by_rotation(seq_len, d_model).unwrap();
        let direct = table(seq_len, d_model).unwrap();
        // One unit in the last place of the largest angle, and a few roundings of the turn.
        let allowed = (seq_len as f64 + 4.0) * f64::EPSILON;
        prop_assert!(largest_difference(&turned, &direct) < allowed);
    }
}

#[test]
fn by_rotation_errors_do_not_build_up_along_a_long_table() {
    let turned = table_by_rotation(131_072, 8).unwrap();
    for block in [0, 131_072 / 2, 131_072 - BLOCK] {
        let rows = turned.slice(s![block..block + BLOCK, ..]);
        for (row, position) in rows.rows().into_iter().zip(block..) {
            let direct = encoding(position, 8).unwrap();
            let allowed = (position as f64 + 4.0) * f64::EPSILON;
            assert!((&row - &direct).iter().all(|entry| entry.abs() < allowed));
        }
    }
}

#[test]
fn a_long_table_by_rotation_is_nearer_to_the_truth_than_one_by_sine_and_cosine() {
    let (seq_len, d_model) = (131_072, 64);
    let kept = include_str!("../../code/positional-encoding/tests/references/exact.json");
    let kept: serde_json::Value = serde_json::from_str(kept).unwrap();
    let largest_error = |table: Array2<f64>| {
        let mut largest = 0.0f64;
        for case in kept["table"].as_array().unwrap() {
            if case["seq_len"] != seq_len {
                continue;
            }
            let row = table.row(case["position"].as_u64().unwrap() as usize);
            for (offset, name) in ["sin", "cos"].into_iter().enumerate() {
                let pairs = case["pairs"].as_array().unwrap().iter();
                for (pair, value) in pairs.zip(case[name].as_array().unwrap()) {
                    // The nearest double, and the rest of 32 digits.
                    let parts = value.as_str().unwrap().split(' ');
                    let ours = row[2 * pair.as_u64().unwrap() as usize + offset];
                    let error = parts.fold(ours, |left, part| left - part.parse::<f64>().unwrap());
                    largest = largest.max(error.abs());
                }
            }
        }
        largest
    };
    let by_sine = largest_error(table(seq_len, d_model).unwrap());
    let by_rotation = largest_error(table_by_rotation(seq_len, d_model).unwrap());
    assert!(by_sine > 1.2e-11, "{by_sine}");
    assert!(by_rotation < 0.55 * by_sine, "{by_rotation}");
}

#[test]
fn a_table_in_place_is_the_table_by_rotation() {
    for (seq_len, d_model) in [(1, 2), (256, 6), (1_000, 64)] {
        let mut table = vec![f64::NAN; seq_len * d_model];
        positional_encoding::in_place::sinusoidal_table(&mut table, d_model).unwrap();
        let by_rotation = table_by_rotation(seq_len, d_model).unwrap();
        assert_eq!(table, by_rotation.as_slice().unwrap());
    }
}

#[test]
fn a_row_of_the_table_holds_the_sines_and_cosines_of_its_own_shift() {
    for k in [1usize, 5, 100] {
        let row = encoding(k, 12).unwrap();
        let shift = shift_matrix(k as i64, 12).unwrap();
        for i in 0..6 {
            assert_eq!(shift[[2 * i, 2 * i + 1]], row[2 * i]);
            assert_eq!(shift[[2 * i, 2 * i]], row[2 * i + 1]);
        }
    }
}
