//! Claims about attention with linear biases.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, Axis, array};
use positional_encoding::attention::{Mask, softmax, weights};
use positional_encoding::{Direction, alibi};
use proptest::prelude::*;

fn positions(seq_len: usize) -> Vec<usize> {
    (0..seq_len).collect()
}

/// The bias of one head over `seq_len` positions.
fn one_head(slope: f64, seq_len: usize, direction: Direction) -> Array2<f64> {
    let positions = positions(seq_len);
    alibi::bias(&[slope], &positions, &positions, direction).index_axis_move(Axis(0), 0)
}

/// Scores that depend on the seed and on nothing else worth knowing.
fn some_scores(seq_len: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_fn((seq_len, seq_len), |(query, key)| {
        3.0 * (seed + 12.9 * query as f64 + 78.2 * key as f64).sin()
    })
}

fn largest_difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    (a - b).iter().fold(0.0, |most, d| f64::max(most, d.abs()))
}

#[test]
fn eight_heads_have_slopes_from_one_half_to_one_256th() {
    let expected: Vec<f64> = (1..=8).map(|power| 0.5_f64.powi(power)).collect();
    assert_eq!(alibi::slopes(8).unwrap(), expected);
}

#[test]
fn slopes_match_the_released_code_for_other_numbers_of_heads() {
    assert_eq!(alibi::slopes(1).unwrap(), [0.00390625]);
    assert_eq!(alibi::slopes(3).unwrap(), [0.0625, 0.00390625, 0.25]);
    assert_eq!(
        alibi::slopes(6).unwrap(),
        [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    );
    let last_of_twelve = [
        std::f64::consts::FRAC_1_SQRT_2,
        0.353_553_390_593_273_8,
        0.176_776_695_296_636_9,
        0.088_388_347_648_318_45,
    ];
    let last_of_forty = [
        0.917004043,
        0.771105413,
        0.648419777,
        0.545253866,
        0.458502022,
        0.385552706,
        0.324209889,
        0.272626933,
    ];
    for (slope, expected) in alibi::slopes(12).unwrap()[8..].iter().zip(last_of_twelve) {
        assert_relative_eq!(*slope, expected, max_relative = 1e-15);
    }
    // The reference gives nine digits.
    for (slope, expected) in alibi::slopes(40).unwrap()[32..].iter().zip(last_of_forty) {
        assert_relative_eq!(*slope, expected, max_relative = 1e-8);
    }
}

#[test]
fn the_slopes_of_twelve_heads_are_not_in_order() {
    let slopes = alibi::slopes(12).unwrap();
    assert!(slopes[8] > slopes[0] && slopes[7] < slopes[8]);
    assert!(!slopes.is_sorted_by(|a, b| a > b));
}

#[test]
fn the_wrong_sign_turns_the_weights_around() {
    // Slope 0.5, query 3, keys 0 to 3, equal scores; nine digits from an independent calculation.
    let right = alibi::bias(&[0.5], &[3], &[0, 1, 2, 3], Direction::Causal);
    let right = right.index_axis_move(Axis(0), 0);
    let expected = [0.101536324, 0.167405097, 0.276004345, 0.455054234];
    let (right_weights, wrong_weights) = (softmax(right.view()), softmax((-&right).view()));
    for key in 0..4 {
        assert_abs_diff_eq!(right_weights[[0, key]], expected[key], epsilon = 1e-9);
        assert_abs_diff_eq!(wrong_weights[[0, key]], expected[3 - key], epsilon = 1e-9);
    }
}

#[test]
fn without_a_mask_the_causal_forms_reward_the_future() {
    let column = alibi::column_bias(&[0.5], &positions(4));
    let first_query = softmax(column.view());
    assert!(first_query[[0, 3]] > first_query[[0, 0]]);
    // The paper's -m (i - j), continued past the query, is the same ramp.
    let continued = array![[0.0, 0.5, 1.0, 1.5]];
    assert_eq!(column, continued);
    // Our causal form hides the future by itself.
    let bias = one_head(0.5, 4, Direction::Causal);
    assert_eq!(softmax(bias.view())[[0, 0]], 1.0);
}

#[test]
fn the_symmetric_form_cannot_tell_before_from_after() {
    let bias = one_head(0.25, 21, Direction::Bidirectional);
    assert_eq!(bias, bias.t());
    for offset in 1..=10 {
        assert_eq!(bias[[10, 10 - offset]], bias[[10, 10 + offset]]);
    }
}

#[test]
fn unmasked_padding_takes_weight_from_the_tokens() {
    let is_token = [false, false, true, true, true];
    let keys = alibi::key_positions(&is_token);
    let column = alibi::column_bias(&[0.5], &keys);
    let weights = softmax(column.view());
    assert!(weights[[0, 0]] + weights[[0, 1]] > 0.2);
}

#[test]
fn half_the_weight_lies_within_ln_2_over_the_slope() {
    let seq_len = 8192;
    for slope in alibi::slopes(8).unwrap() {
        let last = alibi::bias(
            &[slope],
            &[seq_len - 1],
            &positions(seq_len),
            Direction::Causal,
        );
        let weights = softmax(last.index_axis_move(Axis(0), 0).view());
        let near = (std::f64::consts::LN_2 / slope).ceil() as usize;
        let share = |tokens| weights.row(0).iter().rev().take(tokens).sum::<f64>();
        // A sum of 8192 rounded weights.
        assert!(share(near) >= 0.5 - 1e-12 && share(near - 1) < 0.5);
    }
}

proptest! {
    #[test]
    fn slopes_of_a_power_of_two_fall_by_one_factor(power in 0_u32..8) {
        let heads = 2_usize.pow(power);
        let slopes = alibi::slopes(heads).unwrap();
        let factor = (-8.0 / heads as f64).exp2();
        for (head, slope) in slopes.iter().enumerate() {
            // A product of up to 128 rounded factors.
            assert_relative_eq!(*slope, factor.powi(head as i32 + 1), max_relative = 1e-13);
        }
    }

    #[test]
    fn no_two_heads_share_a_slope(heads in 1_usize..300) {
        let mut slopes = alibi::slopes(heads).unwrap();
        prop_assert_eq!(slopes.len(), heads);
        slopes.sort_by(f64::total_cmp);
        prop_assert!(slopes.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(slopes[0] >= 0.00390625 && slopes[heads - 1] < 1.0);
    }

    #[test]
    fn the_bias_depends_on_the_offset_alone(
        slope in 0.001_f64..1.0,
        shift in 0_usize..1_000_000,
    ) {
        let there: Vec<usize> = (shift..shift + 40).collect();
        for direction in [Direction::Causal, Direction::Bidirectional] {
            let bias = alibi::bias(&[slope], &positions(40), &positions(40), direction);
            prop_assert_eq!(bias, alibi::bias(&[slope], &there, &there, direction));
        }
    }

    #[test]
    fn blooms_columns_give_the_papers_weights(
        slope in 0.001_f64..1.0,
        seed in 0.0_f64..100.0,
        seq_len in 1_usize..80,
    ) {
        let scores = some_scores(seq_len, seed);
        let paper = &scores + &one_head(slope, seq_len, Direction::Causal);
        let bloom = &scores + &alibi::column_bias(&[slope], &positions(seq_len));
        let paper = weights(paper.view(), Mask::Causal);
        let bloom = weights(bloom.view(), Mask::Causal);
        // Biases up to 80 are added to scores and taken away again: some 1e-14 of each is lost.
        prop_assert!(largest_difference(&paper, &bloom) < 1e-12);
    }

    #[test]
    fn each_token_further_back_weighs_less_by_the_same_factor(
        slope in 0.001_f64..1.0,
        seq_len in 2_usize..200,
    ) {
        let weights = softmax(one_head(slope, seq_len, Direction::Causal).view());
        let last = weights.row(seq_len - 1);
        for key in 1..seq_len {
            // Below 1e-300 a weight has lost its digits.
            if last[key - 1] > 1e-300 {
                let ratio = last[key - 1] / last[key];
                assert_relative_eq!(ratio, (-slope).exp(), max_relative = 1e-12);
            }
        }
    }

    #[test]
    fn a_left_padded_row_gets_the_weights_of_the_bare_row(
        slope in 0.001_f64..1.0,
        seed in 0.0_f64..100.0,
        padding in 0_usize..20,
        tokens in 1_usize..20,
    ) {
        let is_token: Vec<bool> = (0..padding + tokens).map(|k| k >= padding).collect();
        let counted = alibi::key_positions(&is_token);
        let raw = positions(padding + tokens);
        let bare = some_scores(tokens, seed) + alibi::column_bias(&[slope], &positions(tokens));
        let bare = weights(bare.view(), Mask::Causal);
        for keys in [counted, raw] {
            let column = alibi::column_bias(&[slope], &keys);
            let mut scores = Array2::from_elem((padding + tokens, padding + tokens), f64::NEG_INFINITY);
            for ((query, key), score) in some_scores(tokens, seed).indexed_iter() {
                let key = padding + key;
                scores[[padding + query, key]] = score + column[[0, key]];
            }
            let padded = weights(scores.view(), Mask::Causal);
            let rows = padded.slice(ndarray::s![padding.., padding..]).to_owned();
            // Counted from zero or not, the ramps differ by a constant in each row.
            prop_assert!(largest_difference(&rows, &bare) < 1e-12);
        }
    }

    #[test]
    fn a_model_that_ignores_the_longer_context_still_scores_better_on_it(
        gains in prop::collection::vec(0.0_f64..0.1, 2..60),
        times in 2_usize..9,
    ) {
        // Each token of context takes some loss away, until the last that the model can use.
        let loss = |context: usize| 5.0 - gains.iter().take(context).sum::<f64>();
        let split = |window: usize| (0..window).map(loss).sum::<f64>() / window as f64;
        let trained = gains.len();
        prop_assume!(gains.iter().sum::<f64>() > 1e-6);
        prop_assert!(split(times * trained) < split(trained));
        // Measured at the end of a sliding window, more context than is used changes nothing.
        prop_assert_eq!(loss(times * trained), loss(trained));
    }
}
