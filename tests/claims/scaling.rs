//! Claims of the chapter "Long context".

use std::f64::consts::TAU;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use figures::scaling::FittedScore;
use positional_encoding::Error;
use positional_encoding::scaling::{
    self, AttentionFactor, ByParts, Frequencies, KvCache, Llama3, LongRope, LongRopeAttention,
    Ramp, Scaling, Trained, Yarn,
};
use proptest::prelude::*;

const LLAMA_2: Trained = trained(128, 10_000.0, 4096);
const LLAMA_3: Trained = trained(128, 500_000.0, 8192);
const DEEPSEEK: Trained = trained(64, 10_000.0, 4096);

const fn trained(rotary_dim: usize, base: f64, length: usize) -> Trained {
    Trained {
        rotary_dim,
        base,
        length,
    }
}

fn yarn_by(factor: f64) -> Yarn {
    Yarn {
        factor,
        ..Yarn::default()
    }
}

fn yarn_on(ramp: Ramp, factor: f64) -> Yarn {
    Yarn {
        ramp,
        ..yarn_by(factor)
    }
}

fn ratios(after: &[f64], before: &[f64]) -> Vec<f64> {
    after.iter().zip(before).map(|(a, b)| a / b).collect()
}

// The reference values are f64 results of the published formulas; pow, ln and the order of the
// products may cost a few units in the last place, so 1e-12 is loose enough and still exact.
fn assert_frequencies(given: &[f64], expected: &[f64]) {
    assert_eq!(given.len(), expected.len());
    for (a, b) in given.iter().zip(expected) {
        assert_relative_eq!(a, b, max_relative = 1e-12);
    }
}

/// Any rotary embedding a model could have: even width, falling frequencies, some length.
fn any_trained() -> impl Strategy<Value = Trained> {
    (2usize..130, 100.0..1e7, 512usize..200_000)
        .prop_map(|(pairs, base, length)| trained(2 * pairs, base, length))
}

/// Every rule that takes one factor, with its usual other parameters.
fn rules(factor: f64) -> Vec<Scaling> {
    let mut rules = vec![
        Scaling::PositionInterpolation(factor),
        Scaling::NtkAware(factor),
        Scaling::NtkByParts(ByParts {
            factor,
            ..ByParts::default()
        }),
        Scaling::Llama3(Llama3 {
            factor,
            ..Llama3::default()
        }),
    ];
    let ramps = [Ramp::Turns, Ramp::Pairs, Ramp::WholePairs];
    rules.extend(ramps.map(|ramp| Scaling::Yarn(yarn_on(ramp, factor))));
    rules
}

// ---------------------------------------------------------------- which pairs never turn

#[test]
fn some_pairs_of_every_released_model_never_complete_a_turn() {
    for (name, trained, never) in [
        ("Llama 1", trained(128, 1e4, 2048), 23),
        ("Llama 2", LLAMA_2, 18),
        ("Llama 3", LLAMA_3, 29),
        ("Mistral 7B v0.1", trained(128, 1e4, 32_768), 4),
        ("Qwen2.5", trained(128, 1e6, 32_768), 24),
        ("Qwen3", trained(128, 1e6, 40_960), 23),
        ("gpt-oss", trained(64, 1.5e5, 4096), 14),
        ("Phi-3", trained(96, 1e4, 4096), 14),
    ] {
        let inv_freq = trained.inv_freq().unwrap();
        let counted = scaling::pairs_never_turning(&inv_freq, trained.length);
        assert_eq!(counted, never, "{name}");
        let border = scaling::pair_turning(&trained, 1.0).unwrap();
        let first = border.floor() as usize + 1;
        assert_eq!(inv_freq.len() - first, never, "{name}");
    }
}

#[test]
fn the_fastest_pair_of_llama_2_turns_651_times_and_the_slowest_a_thirteenth_of_once() {
    let turns = scaling::turns(&LLAMA_2.inv_freq().unwrap(), LLAMA_2.length);
    assert_eq!(turns[0].floor(), 651.0);
    assert_abs_diff_eq!(turns[63], 1.0 / 13.3, epsilon = 1e-3);
    let border = scaling::pair_turning(&LLAMA_2, 1.0).unwrap();
    assert_abs_diff_eq!(border, 45.03, epsilon = 0.005);
}

#[test]
fn llama_3_1_scaled_has_more_pairs_that_never_turn_at_its_new_length() {
    let plain = LLAMA_3.inv_freq().unwrap();
    let scaled = scaling::llama3(&LLAMA_3, &Llama3::default()).unwrap();
    let never = |inv_freq: &[f64]| scaling::pairs_never_turning(inv_freq, 131_072);
    assert_eq!((never(&plain), never(&scaled.inv_freq)), (15, 25));
}

#[test]
fn a_key_loses_weight_as_keys_join_the_softmax() {
    // One key scores 8, all others 0: what the softmax gives it among n keys.
    let weight = |score: f64, keys: f64| score.exp() / (score.exp() + keys - 1.0);
    assert_abs_diff_eq!(weight(8.0, 1024.0), 0.745, epsilon = 5e-4);
    assert_abs_diff_eq!(weight(8.0, 8192.0), 0.267, epsilon = 5e-4);
    // So many times the other keys cost exactly what its logarithm more in the score would mend.
    for times in [2.0, 8.0, 100.0_f64] {
        assert_relative_eq!(
            weight(8.0 + times.ln(), 1.0 + times * 1023.0),
            weight(8.0, 1024.0),
            max_relative = 1e-12
        );
    }
}

// ---------------------------------------------------------------- why unseen offsets hurt

/// The largest score at offsets from `from` to `to`, a quarter of a step apart.
fn largest(score: &FittedScore, from: usize, to: usize) -> f64 {
    (4 * from..4 * to)
        .map(|quarter| score.at(quarter as f64 / 4.0).abs())
        .fold(0.0, f64::max)
}

#[test]
fn a_score_fitted_on_trained_offsets_explodes_beyond_them() {
    let llama_1 = trained(128, 10_000.0, 2048);
    for seed in 1..6 {
        let score = FittedScore::new(&llama_1, 1e-8, seed).unwrap();
        let within = largest(&score, 0, 2048);
        let beyond = largest(&score, 2048, 4096);
        assert!(within < 2.0 && beyond > 500.0 * within, "{within} {beyond}");
    }
}

#[test]
fn small_coefficients_soften_the_explosion_but_do_not_end_it() {
    let llama_1 = trained(128, 10_000.0, 2048);
    for seed in 1..6 {
        let score = FittedScore::new(&llama_1, 1e-2, seed).unwrap();
        let within = largest(&score, 0, 2048);
        let beyond = largest(&score, 2048, 4096);
        assert!(within < 2.0 && beyond > 1.5 * within && beyond < 20.0 * within);
    }
}

#[test]
fn a_fitted_score_stays_tame_between_its_trained_offsets() {
    let score = FittedScore::new(&trained(128, 10_000.0, 2048), 1e-8, 1).unwrap();
    let at_whole = (0..=2048).map(|offset| score.at(f64::from(offset)).abs());
    let whole = at_whole.fold(0.0, f64::max);
    assert!(largest(&score, 0, 2048) < 1.1 * whole);
}

// ---------------------------------------------------------------- laws that all rules keep

proptest! {
    #[test]
    fn a_factor_of_one_changes_nothing(trained in any_trained(), seq_len in 1usize..1_000_000) {
        for rule in rules(1.0) {
            let scaled = rule.frequencies(&trained, seq_len).unwrap();
            prop_assert_eq!(scaled.attention_factor, 1.0);
            // (1 - g) w + g w may round once more than w.
            for (a, b) in scaled.inv_freq.iter().zip(trained.inv_freq().unwrap()) {
                prop_assert!((a - b).abs() <= 2.0 * f64::EPSILON * b, "{:?}", rule);
            }
        }
    }

    #[test]
    fn a_larger_factor_never_speeds_a_pair_up(
        trained in any_trained(),
        factor in 1.0..64.0f64,
        times in 1.0..4.0f64,
    ) {
        for (rule, stronger) in rules(factor).iter().zip(rules(factor * times)) {
            let weak = rule.frequencies(&trained, 1).unwrap().inv_freq;
            let strong = stronger.frequencies(&trained, 1).unwrap().inv_freq;
            for (a, b) in strong.iter().zip(&weak) {
                prop_assert!(*a <= b * (1.0 + 4.0 * f64::EPSILON), "{:?}", rule);
            }
        }
    }

    #[test]
    fn a_scaled_pair_lies_between_divided_and_untouched(
        trained in any_trained(),
        factor in 1.0..64.0f64,
    ) {
        for rule in rules(factor) {
            let scaled = rule.frequencies(&trained, 1).unwrap().inv_freq;
            for ratio in ratios(&scaled, &trained.inv_freq().unwrap()) {
                let rounding = 1e-12;
                prop_assert!(ratio <= 1.0 + rounding && ratio >= (1.0 - rounding) / factor);
            }
        }
    }

    #[test]
    fn any_parameters_give_finite_frequencies_or_an_error(
        rotary_dim in 0usize..12,
        base in prop::num::f64::ANY,
        length in 0usize..5000,
        seq_len in 0usize..5000,
        factor in prop::num::f64::ANY,
        (low, high) in (prop::num::f64::ANY, prop::num::f64::ANY),
        weights in (prop::num::f64::ANY, prop::num::f64::ANY),
    ) {
        let ratio = AttentionFactor::Ratio { mscale: weights.0, mscale_all_dim: weights.1 };
        let mut all = rules(factor);
        all.extend([
            Scaling::DynamicNtk,
            Scaling::DynamicNtkWithFactor(factor),
            Scaling::NtkByParts(ByParts { factor: 4.0, alpha: low, beta: high }),
            Scaling::Yarn(Yarn { beta_slow: low, beta_fast: high, ..yarn_by(4.0) }),
            Scaling::Yarn(Yarn { attention_factor: ratio, ..yarn_by(4.0) }),
            Scaling::Llama3(Llama3 { factor: 4.0, low_freq_factor: low, high_freq_factor: high }),
            Scaling::LongRope(LongRope {
                short_factor: vec![factor; rotary_dim / 2],
                long_factor: vec![low; rotary_dim / 2],
                attention: LongRopeAttention::FromFactor(high),
            }),
        ]);
        for rule in all {
            let scaled = rule.frequencies(&trained(rotary_dim, base, length), seq_len);
            if let Ok(Frequencies { inv_freq, attention_factor }) = scaled {
                prop_assert_eq!(inv_freq.len(), rotary_dim / 2);
                prop_assert!(inv_freq.iter().all(|w| w.is_finite() && *w >= 0.0), "{:?}", rule);
                prop_assert!(attention_factor.is_finite() && attention_factor > 0.0);
            }
        }
    }
}

// ---------------------------------------------------------------- position interpolation

proptest! {
    #[test]
    fn interpolation_is_the_same_as_dividing_every_position(
        trained in any_trained(),
        factor in 1u32..64,
        position in 0usize..100_000,
    ) {
        let scaled = scaling::position_interpolation(&trained, f64::from(factor)).unwrap();
        let stretched = position * factor as usize;
        for (slow, fast) in scaled.inv_freq.iter().zip(trained.inv_freq().unwrap()) {
            let (a, b) = (stretched as f64 * slow, position as f64 * fast);
            prop_assert!((a - b).abs() <= 1e-12 * b.abs());
        }
    }

    #[test]
    fn between_two_trained_offsets_the_score_stays_near_their_chord(
        parts in prop::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 64),
        offset in 0u32..4096,
        fraction in 0.0..1.0f64,
    ) {
        let inv_freq = LLAMA_2.inv_freq().unwrap();
        let score = |offset: f64| -> f64 {
            let terms = inv_freq.iter().zip(&parts);
            terms.map(|(w, (a, b))| a * (offset * w).cos() + b * (offset * w).sin()).sum()
        };
        let (left, right) = (score(f64::from(offset)), score(f64::from(offset) + 1.0));
        let chord = left + fraction * (right - left);
        let largest = parts.iter().map(|(a, b)| a.hypot(*b)).fold(0.0, f64::max);
        let bound = 128.0 * largest / (32.0 * 10_000f64.ln());
        prop_assert!((score(f64::from(offset) + fraction) - chord).abs() <= bound);
    }
}

#[test]
fn interpolation_agrees_with_the_published_values() {
    let four = trained(4, 10_000.0, 4096);
    let scaled = scaling::position_interpolation(&four, 8.0).unwrap();
    assert_frequencies(&scaled.inv_freq, &[0.125, 0.00125]);
    assert_eq!(scaled.attention_factor, 1.0);
    // Factor 8 slows: position 4096 now turns as 512 did, not as 32768 would.
    assert_eq!(4096.0 * scaled.inv_freq[0], 512.0);
}

// ---------------------------------------------------------------- NTK-aware

proptest! {
    #[test]
    fn ntk_aware_leaves_the_fastest_pair_and_divides_the_slowest_by_the_factor(
        trained in any_trained(),
        factor in 1.0..64.0f64,
    ) {
        let before = trained.inv_freq().unwrap();
        let after = scaling::ntk_aware(&trained, factor).unwrap().inv_freq;
        let last = before.len() - 1;
        prop_assert_eq!(after[0], before[0]);
        // The exponent d / (d - 2) is rounded once and then raised: a few ulps.
        prop_assert!((before[last] / after[last] / factor - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ntk_aware_takes_every_pair_but_the_slowest_past_its_trained_angle(
        trained in any_trained(),
        factor in 1.5..64.0f64,
    ) {
        let before = trained.inv_freq().unwrap();
        let after = scaling::ntk_aware(&trained, factor).unwrap().inv_freq;
        for pair in 0..before.len() - 1 {
            prop_assert!(factor * after[pair] > before[pair]);
        }
    }
}

#[test]
fn ntk_aware_bases_agree_with_the_published_values() {
    for (trained, factor, base) in [
        (LLAMA_2, 2.0, 20_221.3),
        (LLAMA_2, 4.0, 40_889.9),
        (DEEPSEEK, 8.0, 85_550.4),
    ] {
        let scaled = scaling::ntk_aware_base(&trained, factor).unwrap();
        assert_abs_diff_eq!(scaled, base, epsilon = 0.05);
    }
    let by_eight = scaling::ntk_aware_base(&LLAMA_2, 8.0).unwrap();
    assert_relative_eq!(by_eight, 82684.6226, max_relative = 1e-8);
}

#[test]
fn ntk_aware_by_four_keeps_the_slow_pairs_in_range_to_less_than_three_lengths() {
    let before = LLAMA_2.inv_freq().unwrap();
    let after = scaling::ntk_aware(&LLAMA_2, 4.0).unwrap().inv_freq;
    let never = scaling::pairs_never_turning(&before, LLAMA_2.length);
    let reach = ratios(&before, &after)[64 - never..]
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    assert_abs_diff_eq!(reach, 2.75, epsilon = 0.005);
}

#[test]
fn the_base_of_code_llama_is_ntk_aware_scaling_by_93() {
    let base = scaling::ntk_aware_base(&LLAMA_2, 93.06).unwrap();
    assert_relative_eq!(base, 1e6, max_relative = 1e-3);
}

// ---------------------------------------------------------------- dynamic NTK

proptest! {
    #[test]
    fn dynamic_ntk_changes_nothing_within_the_trained_length(
        trained in any_trained(),
        part in 0.0..=1.0f64,
        factor in 1.0..64.0f64,
    ) {
        let seq_len = ((trained.length as f64 * part) as usize).max(1);
        let plain = trained.inv_freq().unwrap();
        for rule in [Scaling::DynamicNtk, Scaling::DynamicNtkWithFactor(factor)] {
            let scaled = rule.frequencies(&trained, seq_len).unwrap().inv_freq;
            // factor - (factor - 1) may miss 1 by a rounding.
            for (a, b) in scaled.iter().zip(&plain) {
                prop_assert!((a - b).abs() <= 1e-12 * b);
            }
        }
    }
}

/// The base, read back from the second pair.
fn base_of(scaled: &Frequencies) -> f64 {
    let pairs = scaled.inv_freq.len() as f64;
    scaled.inv_freq[1].powf(-pairs)
}

#[test]
fn the_two_forms_of_dynamic_ntk_agree_only_for_factor_one() {
    let papers = base_of(&scaling::dynamic_ntk(&LLAMA_2, 8192).unwrap());
    for (factor, base) in [(1.0, 20_221.0), (2.0, 30_528.0), (4.0, 51_294.0)] {
        let scaled = scaling::dynamic_ntk_with_factor(&LLAMA_2, factor, 8192).unwrap();
        assert_abs_diff_eq!(base_of(&scaled), base, epsilon = 0.5);
        assert_eq!((base_of(&scaled) - papers).abs() < 1e-6, factor == 1.0);
    }
}

#[test]
fn dynamic_ntk_agrees_with_the_published_values() {
    let small = trained(8, 10_000.0, 16);
    let scaled = |length| scaling::dynamic_ntk_with_factor(&small, 2.0, length).unwrap();
    assert_frequencies(&scaled(1).inv_freq, &[1.0, 0.1, 0.01, 0.001]);
    assert_frequencies(
        &scaled(17).inv_freq,
        &[
            1.0,
            0.09614997135382722,
            0.009244816991341796,
            0.0008888888888888888,
        ],
    );
    assert_frequencies(
        &scaled(32).inv_freq,
        &[
            1.0,
            0.06933612743506347,
            0.004807498567691361,
            0.0003333333333333334,
        ],
    );
    let llama_1 = trained(128, 10_000.0, 2048);
    let nomic = trained(64, 1000.0, 2048);
    for (trained, seq_len, base) in [
        (small, 17, 11700.47150466696),
        (small, 32, 43267.487109222246),
        (small, 64, 133_905.183),
        (llama_1, 2048, 10_000.0),
        (llama_1, 3072, 20221.2617),
        (llama_1, 4096, 30527.7367488067),
        (nomic, 512, 1000.0),
        (nomic, 8192, 7453.48303),
    ] {
        let scaled = scaling::dynamic_ntk_with_factor(&trained, 2.0, seq_len).unwrap();
        // Nine digits are given for some; the base is read back through a power of up to 64.
        assert_relative_eq!(base_of(&scaled), base, max_relative = 2e-9);
    }
}

#[test]
fn dynamic_ntk_forgets_a_long_text_when_a_short_one_follows() {
    let rule = Scaling::DynamicNtkWithFactor(2.0);
    let at = |seq_len| rule.frequencies(&LLAMA_2, seq_len).unwrap();
    let (short, long, short_again) = (at(4096), at(16_384), at(4096));
    assert_ne!(short, long);
    assert_eq!(short, short_again);
}

proptest! {
    #[test]
    fn keys_cached_while_the_base_moves_all_share_one_angle_of_the_slowest_pair(
        position in 4096usize..200_000,
    ) {
        let slowest = LLAMA_2.inv_freq().unwrap()[63];
        // Rotated as decoding does it: at the moment its token is the last one.
        let then = scaling::dynamic_ntk(&LLAMA_2, position + 1).unwrap().inv_freq[63];
        let border = 4096.0 * slowest;
        prop_assert!((position as f64 * then - border).abs() < slowest);
    }
}

#[test]
fn a_key_cached_before_the_base_moved_no_longer_sits_at_its_offset() {
    let (query, key) = (8191.0, 5000.0);
    let then = scaling::dynamic_ntk(&LLAMA_2, 5001).unwrap().inv_freq[63];
    let now = scaling::dynamic_ntk(&LLAMA_2, 8192).unwrap().inv_freq[63];
    let read_as = (query * now - key * then) / now;
    assert_eq!(query - key, 3191.0);
    assert!(read_as.abs() < 1.0, "{read_as}");
}

// ---------------------------------------------------------------- NTK-by-parts and YaRN

proptest! {
    #[test]
    fn by_parts_leaves_fast_pairs_alone_and_divides_slow_ones(
        trained in any_trained(),
        factor in 1.0..64.0f64,
    ) {
        let parts = ByParts { factor, ..ByParts::default() };
        let before = trained.inv_freq().unwrap();
        let after = scaling::ntk_by_parts(&trained, &parts).unwrap().inv_freq;
        let turns = scaling::turns(&before, trained.length);
        for ((before, after), turns) in before.iter().zip(after).zip(turns) {
            if turns > 32.0 {
                prop_assert_eq!(after, *before);
            }
            if turns < 1.0 {
                prop_assert_eq!(after, before / factor);
            }
        }
    }

    #[test]
    fn yarn_on_turns_is_by_parts_with_a_temperature(
        trained in any_trained(),
        factor in 1.0..64.0f64,
    ) {
        let parts = ByParts { factor, ..ByParts::default() };
        let by_parts = scaling::ntk_by_parts(&trained, &parts).unwrap();
        let yarn = scaling::yarn(&trained, &yarn_on(Ramp::Turns, factor)).unwrap();
        prop_assert_eq!(by_parts.inv_freq, yarn.inv_freq);
        prop_assert_eq!(by_parts.attention_factor, 1.0);
        prop_assert!((yarn.attention_factor - 0.1 * factor.ln() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_bands_meet_without_a_jump(
        length in 512usize..200_000,
        factor in 1.0..64.0f64,
        bound in prop::sample::select(vec![1.0, 4.0, 32.0]),
    ) {
        // With two pairs the second's wavelength is 2π √base: put it on both sides of the bound.
        let edge = (length as f64 / bound / TAU).powi(2);
        prop_assume!(edge > 1.1);
        let ratio = |rule: &Scaling, base: f64| {
            let trained = trained(4, base, length);
            let after = rule.frequencies(&trained, 1).unwrap().inv_freq;
            after[1] / trained.inv_freq().unwrap()[1]
        };
        let by_parts = Scaling::NtkByParts(ByParts { factor, ..ByParts::default() });
        let llama3 = Scaling::Llama3(Llama3 { factor, ..Llama3::default() });
        for rule in [by_parts, llama3] {
            // A ramp changes by at most its length per turn, far below 1e-6 over a step of 2e-9.
            let step = ratio(&rule, edge * (1.0 - 1e-9)) - ratio(&rule, edge * (1.0 + 1e-9));
            prop_assert!(step.abs() < 1e-6);
        }
    }
}

#[test]
fn yarn_agrees_with_the_released_implementations() {
    let sixteen = trained(16, 10_000.0, 256);
    let eight = trained(8, 10_000.0, 100);
    for (trained, ramp, band, expected) in [
        (sixteen, Ramp::WholePairs, (0.0, 4.0), &YARN_16[..]),
        (
            sixteen,
            Ramp::Pairs,
            (0.2098202372676571, 3.220120193907469),
            &YARN_16_UNROUNDED,
        ),
        (
            eight,
            Ramp::WholePairs,
            (0.0, 2.0),
            &[1.0, 0.0625, 0.0025, 0.00025],
        ),
        (
            trained(128, 1e6, 32_768),
            Ramp::WholePairs,
            (23.0, 40.0),
            &QWEN,
        ),
    ] {
        let yarn = yarn_on(ramp, 4.0);
        let scaled = scaling::yarn(&trained, &yarn).unwrap();
        let (low, high) = scaling::yarn_band(&trained, &yarn).unwrap();
        assert_abs_diff_eq!(low, band.0, epsilon = 1e-12);
        assert_abs_diff_eq!(high, band.1, epsilon = 1e-12);
        assert_frequencies(&scaled.inv_freq, expected);
        assert_relative_eq!(
            scaled.attention_factor,
            1.138629436111989,
            max_relative = 1e-15
        );
    }
    let gpt_oss = trained(64, 150_000.0, 4096);
    let scaled = scaling::yarn(&gpt_oss, &yarn_on(Ramp::Pairs, 32.0)).unwrap();
    assert_frequencies(&scaled.inv_freq, &GPT_OSS);
    assert_relative_eq!(
        scaled.attention_factor,
        1.3465735902799727,
        max_relative = 1e-15
    );
    let low = scaling::pair_turning(&eight, 32.0).unwrap();
    assert_relative_eq!(low, -0.303329846678021, max_relative = 1e-12);
}

#[test]
fn rounding_the_bounds_moves_frequencies_by_up_to_three_quarters() {
    let gpt_oss = trained(64, 150_000.0, 4096);
    let frequencies = |ramp| {
        scaling::yarn(&gpt_oss, &yarn_on(ramp, 32.0))
            .unwrap()
            .inv_freq
    };
    let rounded = frequencies(Ramp::WholePairs);
    let change = ratios(&rounded, &frequencies(Ramp::Pairs))
        .into_iter()
        .map(|ratio| (ratio - 1.0).abs())
        .fold(0.0, f64::max);
    assert_abs_diff_eq!(change, 0.76, epsilon = 0.005);
}

#[test]
fn the_ramp_of_the_code_is_not_the_ramp_of_the_paper() {
    let ratio = |trained: &Trained, factor: f64| {
        let frequencies = |ramp| {
            scaling::yarn(trained, &yarn_on(ramp, factor))
                .unwrap()
                .inv_freq
        };
        ratios(&frequencies(Ramp::WholePairs), &frequencies(Ramp::Turns))
    };
    let llama_2 = ratio(&LLAMA_2, 16.0);
    assert_abs_diff_eq!(llama_2[38], 3.04, epsilon = 0.005);
    // What each keeps of the trained frequency at that pair.
    let turns = scaling::turns(&LLAMA_2.inv_freq().unwrap(), 4096)[38];
    assert_abs_diff_eq!((turns - 1.0) / 31.0, 0.056, epsilon = 5e-4);
    assert_eq!(
        scaling::yarn_band(&LLAMA_2, &yarn_by(16.0)).unwrap(),
        (20.0, 46.0)
    );
    assert_abs_diff_eq!(1.0 - (38.0 - 20.0) / 26.0, 0.308, epsilon = 5e-4);
    let deepseek = ratio(&DEEPSEEK, 40.0);
    assert_abs_diff_eq!(
        deepseek.into_iter().fold(0.0, f64::max),
        4.28,
        epsilon = 0.005
    );
}

#[test]
fn exchanged_bounds_are_refused() {
    let exchanged = Yarn {
        beta_fast: 1.0,
        beta_slow: 32.0,
        ..yarn_by(4.0)
    };
    for ramp in [Ramp::Turns, Ramp::Pairs, Ramp::WholePairs] {
        let yarn = Yarn { ramp, ..exchanged };
        let error = scaling::yarn(&LLAMA_2, &yarn).unwrap_err();
        assert!(error.to_string().contains("exchanged"), "{error}");
    }
    // In the right order the fast pairs stay and the slow ones are divided.
    let scaled = scaling::yarn(&LLAMA_2, &yarn_by(4.0)).unwrap().inv_freq;
    let kept = ratios(&scaled, &LLAMA_2.inv_freq().unwrap());
    assert_eq!((kept[0], kept[63]), (1.0, 0.25));
}

#[test]
fn the_attention_factor_acts_squared_on_the_scores() {
    for (factor, on_cosine_and_sine, on_scores) in [
        (1.0, 1.0, 1.0),
        (2.0, 1.069314718, 1.143434),
        (4.0, 1.138629436, 1.296476993),
        (8.0, 1.207944154, 1.459129),
        (16.0, 1.277258872, 1.631390227),
        (32.0, 1.346573590, 1.813260434),
        (40.0, 1.368887945, 1.873854207),
        (64.0, 1.415888308, 2.004739701),
    ] {
        let m = scaling::yarn(&LLAMA_2, &yarn_by(factor))
            .unwrap()
            .attention_factor;
        assert_relative_eq!(m, on_cosine_and_sine, max_relative = 1e-9);
        // Some squares are given to six decimals only.
        assert_relative_eq!(m * m, on_scores, max_relative = 1e-6);
        let turned = |angle: f64, m: f64| [m * angle.cos(), m * angle.sin()];
        let score = |m: f64| {
            let (query, key) = (turned(0.9, m), turned(0.2, m));
            query[0] * key[0] + query[1] * key[1]
        };
        assert_relative_eq!(score(m), m * m * score(1.0), max_relative = 1e-14);
    }
}

#[test]
fn deepseek_moves_the_temperature_from_cosine_to_softmax() {
    let factor_of = |mscale, mscale_all_dim| {
        let attention_factor = AttentionFactor::Ratio {
            mscale,
            mscale_all_dim,
        };
        let yarn = Yarn {
            attention_factor,
            ..yarn_by(40.0)
        };
        scaling::yarn(&DEEPSEEK, &yarn).unwrap().attention_factor
    };
    assert_eq!(factor_of(1.0, 1.0), 1.0);
    assert_eq!(factor_of(0.707, 0.707), 1.0);
    assert_relative_eq!(factor_of(0.707, 1.0), 0.921042355, max_relative = 1e-9);
    let sharper = scaling::softmax_scale_factor(40.0, 1.0).unwrap();
    assert_relative_eq!(sharper, 1.873854207, max_relative = 1e-9);
    assert_relative_eq!(sharper / 192f64.sqrt(), 0.135233779, max_relative = 1e-8);
    assert_eq!(scaling::softmax_scale_factor(40.0, 0.0).unwrap(), 1.0);
}

#[test]
fn an_explicit_attention_factor_wins() {
    let yarn = Yarn {
        attention_factor: AttentionFactor::Explicit(1.0),
        ..yarn_by(64.0)
    };
    assert_eq!(
        scaling::yarn(&LLAMA_2, &yarn).unwrap().attention_factor,
        1.0
    );
}

// ---------------------------------------------------------------- Llama 3

proptest! {
    #[test]
    fn llama_3_is_by_parts_with_one_and_four_to_the_last_bit(
        trained in any_trained(),
        factor in 1.0..64.0f64,
    ) {
        let llama3 = Llama3 { factor, low_freq_factor: 1.0, high_freq_factor: 4.0 };
        let parts = ByParts { factor, alpha: 1.0, beta: 4.0 };
        let (a, b) = (scaling::llama3(&trained, &llama3), scaling::ntk_by_parts(&trained, &parts));
        prop_assert_eq!(a.unwrap(), b.unwrap());
    }
}

/// How many pairs a rule leaves alone, blends, and divides in full.
fn bands(trained: &Trained, factor: f64) -> (usize, usize, usize) {
    let llama3 = Llama3 {
        factor,
        ..Llama3::default()
    };
    let scaled = scaling::llama3(trained, &llama3).unwrap().inv_freq;
    let before = trained.inv_freq().unwrap();
    let alone = ratios(&scaled, &before)
        .iter()
        .filter(|r| **r == 1.0)
        .count();
    let divided = scaled
        .iter()
        .zip(&before)
        .filter(|(a, b)| **a == *b / factor)
        .count();
    (alone, before.len() - alone - divided, divided)
}

#[test]
fn llama_3_1_leaves_29_pairs_blends_6_and_divides_29() {
    assert_eq!(bands(&LLAMA_3, 8.0), (29, 6, 29));
    assert_eq!(bands(&LLAMA_3, 32.0), (29, 6, 29));
    assert_eq!(bands(&trained(64, 500_000.0, 8192), 32.0), (15, 3, 14));
}

#[test]
fn llama_3_agrees_with_the_released_frequencies() {
    let scaled = scaling::llama3(&LLAMA_3, &Llama3::default()).unwrap();
    assert_eq!(scaled.attention_factor, 1.0);
    assert_frequencies(&scaled.inv_freq, &LLAMA_3_1);
    let small = Llama3 {
        factor: 4.0,
        ..Llama3::default()
    };
    let scaled = scaling::llama3(&trained(8, 10_000.0, 64), &small).unwrap();
    assert_frequencies(
        &scaled.inv_freq,
        &[1.0, 0.025464790894703257, 0.0025, 0.00025],
    );
}

// ---------------------------------------------------------------- LongRoPE

fn lists(attention: LongRopeAttention) -> LongRope {
    LongRope {
        short_factor: vec![1.0; 4],
        long_factor: vec![1.0, 2.0, 4.0, 8.0],
        attention,
    }
}

#[test]
fn longrope_changes_its_list_one_token_past_the_trained_length() {
    let phi = trained(8, 10_000.0, 4096);
    let lists = lists(LongRopeAttention::FromLength(131_072));
    let at = |seq_len| scaling::longrope(&phi, &lists, seq_len).unwrap();
    assert_frequencies(&at(4096).inv_freq, &[1.0, 0.1, 0.01, 0.001]);
    assert_frequencies(&at(4097).inv_freq, &[1.0, 0.05, 0.0025, 0.000125]);
    assert_eq!(at(4096).attention_factor, at(4097).attention_factor);
    assert_eq!(at(100), at(4096));
    // What a key cached at 4095 under the short list is off by in the second pair, in radians.
    let cached = 4095.0 * (at(4096).inv_freq[1] - at(4097).inv_freq[1]);
    assert_abs_diff_eq!(cached, 204.75, epsilon = 1e-9);
}

#[test]
fn the_attention_factor_of_longrope_comes_from_the_lengths() {
    for (length, attention, expected) in [
        (
            4096,
            LongRopeAttention::FromLength(131_072),
            1.1902380714238083,
        ),
        (8192, LongRopeAttention::FromLength(131_072), 1.14354375),
        (4096, LongRopeAttention::FromLength(2048), 1.0),
        (4096, LongRopeAttention::FromFactor(16.0), 1.154700538),
        (4096, LongRopeAttention::Explicit(1.5), 1.5),
    ] {
        let trained = trained(8, 10_000.0, length);
        let scaled = scaling::longrope(&trained, &lists(attention), 1).unwrap();
        assert_relative_eq!(scaled.attention_factor, expected, max_relative = 1e-8);
    }
}

// ---------------------------------------------------------------- errors and costs

#[test]
fn impossible_parameters_are_refused_with_a_remedy() {
    let short = LongRope {
        long_factor: vec![1.0; 3],
        ..lists(LongRopeAttention::FromFactor(4.0))
    };
    let negative = LongRope {
        short_factor: vec![1.0, 1.0, -1.0, 1.0],
        ..lists(LongRopeAttention::FromFactor(4.0))
    };
    let exchanged = Llama3 {
        factor: 8.0,
        low_freq_factor: 4.0,
        high_freq_factor: 1.0,
    };
    let zero_weight = AttentionFactor::Ratio {
        mscale: 0.0,
        mscale_all_dim: 1.0,
    };
    let phi = trained(8, 10_000.0, 4096);
    for (rule, trained, seq_len, named) in [
        (Scaling::PositionInterpolation(0.0), LLAMA_2, 1, "factor"),
        (Scaling::NtkAware(-2.0), LLAMA_2, 1, "factor"),
        (Scaling::NtkAware(f64::NAN), LLAMA_2, 1, "factor"),
        (Scaling::Yarn(yarn_by(f64::INFINITY)), LLAMA_2, 1, "factor"),
        (
            Scaling::NtkAware(2.0),
            trained(2, 1e4, 4096),
            1,
            "rotary_dim",
        ),
        (Scaling::None, trained(7, 1e4, 4096), 1, "rotary_dim"),
        (Scaling::None, trained(8, 1e4, 0), 1, "length"),
        (Scaling::DynamicNtk, LLAMA_2, 0, "seq_len"),
        (
            Scaling::Yarn(yarn_by(4.0)),
            trained(8, 1.0, 4096),
            1,
            "base",
        ),
        (
            Scaling::Yarn(yarn_on(Ramp::Pairs, 4.0)),
            trained(8, 1e4, 2),
            1,
            "length",
        ),
        (Scaling::Llama3(exchanged), LLAMA_3, 1, "low_freq_factor"),
        (
            Scaling::Yarn(Yarn {
                attention_factor: zero_weight,
                ..yarn_by(4.0)
            }),
            LLAMA_2,
            1,
            "mscale",
        ),
        (Scaling::LongRope(short), phi, 1, "long_factor"),
        (Scaling::LongRope(negative), phi, 1, "short_factor"),
    ] {
        match rule.frequencies(&trained, seq_len) {
            Err(Error::Parameter { name, remedy, .. } | Error::Shape { name, remedy, .. }) => {
                assert_eq!(name, named, "{rule:?}");
                assert!(!remedy.is_empty());
            }
            other => panic!("{rule:?} gave {other:?}"),
        }
    }
}

#[test]
fn a_token_of_llama_2_takes_half_a_mebibyte_of_cache_and_one_of_llama_3_an_eighth() {
    let llama_2 = KvCache {
        layers: 32,
        kv_heads: 32,
        head_dim: 128,
        bytes_per_number: 2,
    };
    let llama_3 = KvCache {
        kv_heads: 8,
        ..llama_2
    };
    let gib = 1u64 << 30;
    assert_eq!(llama_2.bytes(1).unwrap(), 1 << 19);
    assert_eq!(llama_3.bytes(1).unwrap(), 1 << 17);
    assert_eq!(llama_2.bytes(4096).unwrap(), 2 * gib);
    assert_eq!(llama_3.bytes(131_072).unwrap(), 16 * gib);
    assert!(llama_2.bytes(usize::MAX).is_err());
}

// ---------------------------------------------------------------- published values

const YARN_16: [f64; 8] = [
    1.0,
    0.2569350598886808,
    0.0625,
    0.01383496476323666,
    0.0025,
    0.0007905694150420948,
    0.00025,
    7.905694150420948e-05,
];

const YARN_16_UNROUNDED: [f64; 8] = [
    1.0,
    0.25397231355700634,
    0.05539863663460478,
    0.00963994285097862,
    0.0025,
    0.0007905694150420948,
    0.00025,
    7.905694150420948e-05,
];

const QWEN: [f64; 64] = [
    1.0,
    0.8058421877614819,
    0.6493816315762113,
    0.5232991146814947,
    0.4216965034285822,
    0.3398208328942559,
    0.27384196342643613,
    0.220673406908459,
    0.1778279410038923,
    0.14330125702369628,
    0.11547819846894582,
    0.0930572040929699,
    0.07498942093324558,
    0.060429639023813285,
    0.04869675251658631,
    0.03924189758484536,
    0.03162277660168379,
    0.025482967479793464,
    0.02053525026457146,
    0.016548170999431813,
    0.01333521432163324,
    0.010746078283213174,
    0.008659643233600653,
    0.006978305848598663,
    0.005375321490790102,
    0.004131738022518394,
    0.003168422574711092,
    0.002423422380407644,
    0.0018482765647068783,
    0.001405112481595912,
    0.001064360981247002,
    0.0008029597275452302,
    0.0006029411764705882,
    0.0004503235755137692,
    0.0003342405456642264,
    0.0002462584069089387,
    0.0001798411558739542,
    0.0001299314949301567,
    9.262301704129457e-05,
    6.490394320837029e-05,
    4.445698525097307e-05,
    3.582531425592407e-05,
    2.8869549617236455e-05,
    2.3264301023242475e-05,
    1.8747355233311396e-05,
    1.510740975595332e-05,
    1.2174188129146578e-05,
    9.81047439621134e-06,
    7.905694150420949e-06,
    6.370741869948366e-06,
    5.133812566142865e-06,
    4.137042749857953e-06,
    3.33380358040831e-06,
    2.686519570803294e-06,
    2.1649108084001634e-06,
    1.7445764621496658e-06,
    1.4058533129758728e-06,
    1.1328959094002045e-06,
    9.129353181370943e-07,
    7.356817940523204e-07,
    5.928434264154138e-07,
    4.777382437426101e-07,
    3.84981631514873e-07,
    3.102344401879299e-07,
];

const GPT_OSS: [f64; 32] = [
    1.0,
    0.6890443058881632,
    0.4747820554769007,
    0.3271458718642365,
    0.22541800020287084,
    0.15532298948448497,
    0.10702442147781144,
    0.07374456821026082,
    0.050813274815461475,
    0.03170569618466377,
    0.01933500112654036,
    0.011592049256286924,
    0.006794959489732219,
    0.0038603593171920685,
    0.0020937923789696887,
    0.0010526021013863357,
    0.00045648391922324086,
    0.0001293187012450632,
    3.8308812373753384e-05,
    2.639646903147278e-05,
    1.818833668168956e-05,
    1.2532569824095001e-05,
    8.63549587543848e-06,
    5.950239261491605e-06,
    4.09997848180298e-06,
    2.8250668271503398e-06,
    1.9465962110014815e-06,
    1.3412910350540445e-06,
    9.242089502428302e-07,
    6.36820914615699e-07,
    4.387978250864396e-07,
    3.0235114281192144e-07,
];

const LLAMA_3_1: [f64; 64] = [
    1.0,
    0.8146172338565447,
    0.6636012376960885,
    0.540581004635767,
    0.44036660267178046,
    0.3587302237512899,
    0.2922278225730151,
    0.2380538204803507,
    0.19392274474868576,
    0.1579728099090432,
    0.12868737343265052,
    0.10483095217796996,
    0.08539710028576561,
    0.06956594961416032,
    0.05666962144529105,
    0.04616405026546052,
    0.03760603093086393,
    0.030634520893224042,
    0.024955408670558694,
    0.020329105980970152,
    0.016560440080994446,
    0.013490419890226748,
    0.010989528534539826,
    0.0089522593361944,
    0.007292664737217109,
    0.005940730375674967,
    0.004839421345719893,
    0.003942276030116656,
    0.003211445994752591,
    0.002166570763503359,
    0.0013718935677611381,
    0.0008567514129196321,
    0.0005248461609929547,
    0.00031269375038406517,
    0.0001785078127679964,
    9.556212353964683e-05,
    7.78465527393245e-05,
    6.341514345777615e-05,
    5.165906874818956e-05,
    4.208236768725526e-05,
    3.428102195952591e-05,
    2.7925911282444468e-05,
    2.2748928601828183e-05,
    1.8531669290821308e-05,
    1.509621717643313e-05,
    1.2297638677963614e-05,
    1.0017868402809974e-05,
    8.160728247435943e-06,
    6.647869871181235e-06,
    5.415469365499922e-06,
    4.411534674558404e-06,
    3.5937121736509995e-06,
    2.9274998701761677e-06,
    2.3847918463583033e-06,
    1.942692537204043e-06,
    1.58255082089091e-06,
    1.2891731721515574e-06,
    1.0501826834601687e-06,
    8.554969126443659e-07,
    6.969025285511674e-07,
    5.677088100759837e-07,
    4.624653805000883e-07,
    3.767322690173964e-07,
    3.068925988914511e-07,
];
