//! Faults that have been made and reported, each beside the right way.
//!
//! Every test holds both: what goes wrong, and what it should have been. Wrong values that are
//! written out are there so that nobody takes them for right ones again. Numbers with nine digits
//! come from an independent f64 computation, so they are compared at 1e-8 relative.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, Array3, Axis, array, s};
use positional_encoding::attention::softmax;
use positional_encoding::config::{self, RopeType};
use positional_encoding::rope::{self, Heads, Layout};
use positional_encoding::scaling::{self, LongRope, LongRopeAttention, Trained};
use positional_encoding::{Direction, Error, alibi, sinusoidal, t5};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn rotated(x: &[f64], position: usize, inv_freq: &[f64], layout: Layout) -> Vec<f64> {
    let mut x = x.to_vec();
    rope::rotate(&mut x, position, inv_freq, layout).unwrap();
    x
}

/// The score of a query at position `m` with a key at position `n`, not scaled.
fn score(q: &[f64], k: &[f64], [m, n]: [usize; 2], inv_freq: &[f64], layout: Layout) -> f64 {
    dot(
        &rotated(q, m, inv_freq, layout),
        &rotated(k, n, inv_freq, layout),
    )
}

fn assert_all_close(left: &[f64], right: &[f64]) {
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().zip(right) {
        assert_relative_eq!(left, right, max_relative = 1e-8, epsilon = 1e-12);
    }
}

/// Numbers with no structure.
fn numbers(seed: f64, count: usize) -> Vec<f64> {
    (0..count)
        .map(|i| (seed + 1.7 * i as f64 + 0.3 * (i * i) as f64).sin())
        .collect()
}

// Layouts

// ANCHOR: kv_heads
#[test]
fn key_rows_counted_by_query_heads_stay_in_the_wrong_order() {
    let order = |count, head_dim| {
        let heads = Heads {
            count,
            head_dim,
            rotary_dim: head_dim,
        };
        heads.row_order(Layout::Half, Layout::Interleaved).unwrap()
    };
    // 8 query heads, 2 key-value heads of 4 entries: the key projection has 8 rows.
    let right = order(2, 4);
    let wrong = order(8 / 2, 8 / (8 / 2)); // "query heads per key head", 4 heads of 2 rows
    assert_eq!(right, [0, 2, 1, 3, 4, 6, 5, 7]);
    assert_eq!(wrong, [0, 1, 2, 3, 4, 5, 6, 7]); // nothing has moved

    // 64 query heads and 8 key-value heads: 64 / 8 is 8, and the mistake cannot be seen.
    assert_eq!(order(64 / 8, 128), order(8, 128));
}
// ANCHOR_END: kv_heads

#[test]
fn with_as_many_heads_as_tokens_no_shape_tells_that_the_axes_are_swapped() {
    let inv_freq = rope::inv_freq(4, 10_000.0).unwrap();
    let rotate = |x: &Array3<f64>| {
        let mut x = x.clone();
        rope::apply(&mut x, &[0, 1, 2], &inv_freq, Layout::Half).map(|()| x)
    };
    let swapped = |x: &Array3<f64>| {
        let heads_first = x.clone().permuted_axes([1, 0, 2]);
        rotate(&heads_first).map(|x| x.permuted_axes([1, 0, 2]))
    };

    let three_heads = Array3::from_shape_vec((3, 3, 4), numbers(0.2, 36)).unwrap();
    let (right, wrong) = (
        rotate(&three_heads).unwrap(),
        swapped(&three_heads).unwrap(),
    );
    assert!((right - wrong).mapv(f64::abs).sum() > 1.0);

    let two_heads = Array3::from_shape_vec((3, 2, 4), numbers(0.2, 24)).unwrap();
    assert!(rotate(&two_heads).is_ok());
    assert!(matches!(swapped(&two_heads), Err(Error::Shape { .. })));
}

// Precision

/// To bfloat16 and back: the upper half of an f32, rounded to nearest, ties to even.
fn bf16(x: f64) -> f64 {
    let bits = (x as f32).to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) & 0xffff_0000;
    f64::from(f32::from_bits(rounded))
}

// ANCHOR: phase
/// The largest error of an angle, in radians on the circle, when only the frequency is rounded.
fn phase_error(positions: usize, round: fn(f64) -> f64) -> f64 {
    let inv_freq = rope::inv_freq(128, 10_000.0).unwrap();
    let off = inv_freq.iter().map(|w| (round(*w) - w).abs());
    (0..positions)
        .flat_map(|p| off.clone().map(move |off| p as f64 * off))
        .map(|angle| angle.sin().atan2(angle.cos()).abs())
        .fold(0.0, f64::max)
}

#[test]
fn a_frequency_rounded_to_bfloat16_before_the_product_loses_the_angle() {
    let in_bf16 = [512, 2048, 4096].map(|positions| phase_error(positions, bf16));
    let in_f32 = phase_error(4096, |w| f64::from(w as f32));
    for (error, expected) in in_bf16.iter().zip([0.625, 2.504, std::f64::consts::PI]) {
        assert_abs_diff_eq!(*error, expected, epsilon = 1e-3);
    }
    assert!(in_f32 < 1.3e-4);
}
// ANCHOR_END: phase

// Positions, padding, caches

// ANCHOR: cache
#[test]
fn a_new_token_rotated_as_position_zero_sees_the_wrong_distances() {
    let inv_freq = rope::inv_freq(8, 10_000.0).unwrap();
    let tokens = Array3::from_shape_vec((6, 1, 8), numbers(0.9, 48)).unwrap();
    let rotate = |x: &Array3<f64>, positions: &[usize]| {
        let mut x = x.clone();
        rope::apply(&mut x, positions, &inv_freq, Layout::Half).unwrap();
        x
    };
    let whole = rotate(&tokens, &[0, 1, 2, 3, 4, 5]);
    let last = tokens.slice(s![5.., .., ..]).to_owned();
    let continued = rotate(&last, &[5]); // five tokens are in the cache
    let restarted = rotate(&last, &[0]); // the start position was forgotten
    let expected = whole.slice(s![5.., .., ..]);
    assert_eq!(continued, expected);
    let scores = |query: &Array3<f64>| (query * &whole).sum_axis(Axis(2));
    let differences = scores(&restarted) - scores(&continued);
    assert!(differences.iter().any(|difference| difference.abs() > 0.1));
}
// ANCHOR_END: cache

#[test]
fn counting_padding_as_tokens_stamps_a_sentence_with_the_wrong_positions() {
    let is_token = [false, false, true, true, true];
    let from_mask = rope::positions_from_mask(&is_token);
    assert_eq!(from_mask, [0, 0, 0, 1, 2]);
    let stamped = |positions: &[usize]| {
        let words = Array2::zeros((3, 8));
        sinusoidal::add_to_embedding(words.view(), positions).unwrap()
    };
    let alone = stamped(&[0, 1, 2]);
    assert_eq!(stamped(&from_mask[2..]), alone);
    assert!((stamped(&[2, 3, 4]) - alone).mapv(f64::abs).sum() > 1.0);
}

// Widths

#[test]
fn a_head_width_that_is_computed_instead_of_read_gives_other_frequencies() {
    // Qwen3-0.6B: 1024 wide, 16 heads, yet its file gives heads of 128.
    let read = rope::inv_freq(128, 1e6).unwrap();
    let computed = rope::inv_freq(1024 / 16, 1e6).unwrap();
    assert_relative_eq!(read[1], 0.805842188, max_relative = 1e-8);
    assert_relative_eq!(computed[1], 0.649381632, max_relative = 1e-8);
    assert_eq!(read[0], computed[0]);
}

// Scaling settings

const LLAMA_3_1: Trained = Trained {
    rotary_dim: 128,
    base: 500_000.0,
    length: 8192,
};

#[test]
fn no_base_can_be_told_from_the_first_pair() {
    // A model of base 10000 read with a default of a million.
    let right = rope::inv_freq(128, 1e4).unwrap();
    let wrong = rope::inv_freq(128, 1e6).unwrap();
    assert_eq!(right[0], wrong[0]);
    assert_all_close(&[right[1], wrong[1]], &[0.865964323, 0.805842188]);
    assert_all_close(&[right[63], wrong[63]], &[1.15478198e-4, 1.24093776e-6]);
}

#[test]
fn the_first_29_pairs_of_llama_3_1_do_not_tell_whether_its_scaling_was_read() {
    let plain = LLAMA_3_1.inv_freq().unwrap();
    let scaled = scaling::llama3(&LLAMA_3_1, &Default::default()).unwrap();
    let same = plain.iter().zip(&scaled.inv_freq);
    assert_eq!(
        same.take_while(|(plain, scaled)| plain == scaled).count(),
        29
    );
    assert_relative_eq!(scaled.inv_freq[63] * 8.0, plain[63], max_relative = 1e-12);
    assert_relative_eq!(scaled.inv_freq[63], 3.06892599e-7, max_relative = 1e-8);
}

#[test]
fn a_factor_divides_the_frequencies_and_a_scale_multiplies_them() {
    let trained = Trained {
        rotary_dim: 4,
        base: 10_000.0,
        length: 2048,
    };
    let interpolated = scaling::position_interpolation(&trained, 8.0).unwrap();
    assert_all_close(&interpolated.inv_freq, &[0.125, 0.00125]);
    // Position 4096 then turns as far as position 512 did, and not as far as 32768 would.
    let plain = trained.inv_freq().unwrap();
    let angle = 4096.0 * interpolated.inv_freq[1];
    assert_relative_eq!(angle, 512.0 * plain[1], max_relative = 1e-12);
    assert!(angle < 32_768.0 * plain[1]);
}

const LLAMA_1: Trained = Trained {
    rotary_dim: 128,
    base: 10_000.0,
    length: 2048,
};

#[test]
fn a_dynamic_base_worked_out_once_is_wrong_at_every_other_length() {
    let base = |seq_len| {
        let frequencies = scaling::dynamic_ntk_with_factor(&LLAMA_1, 2.0, seq_len).unwrap();
        // The second of 64 pairs is base^(-1/64).
        frequencies.inv_freq[1].powi(-64)
    };
    let bases = [1, 2048, 3072, 4096].map(base);
    // The 64th power multiplies rounding by 64.
    for (base, expected) in bases
        .iter()
        .zip([10_000.0, 10_000.0, 20221.2617, 30527.7367])
    {
        assert_relative_eq!(*base, expected, max_relative = 1e-8);
    }
}

#[test]
fn a_key_cached_under_a_dynamic_base_no_longer_fits_when_the_text_has_grown() {
    let inv_freq = |seq_len| scaling::dynamic_ntk(&LLAMA_1, seq_len).unwrap().inv_freq;
    let (q, k) = (numbers(0.1, 128), numbers(2.3, 128));
    let layout = Layout::Half;
    let query = rotated(&q, 4095, &inv_freq(4096), layout);
    let stale = dot(&query, &rotated(&k, 2000, &inv_freq(2048), layout));
    let fresh = dot(&query, &rotated(&k, 2000, &inv_freq(4096), layout));
    let shifted = score(&q, &k, [2095, 0], &inv_freq(4096), layout);
    // Angles of 4000 radians are rounded by 1e-12; the score sums 128 products.
    assert_abs_diff_eq!(fresh, shifted, epsilon = 1e-9);
    assert!((stale - fresh).abs() > 0.1);
}

#[test]
fn fast_and_slow_bounds_exchanged_are_refused() {
    let yarn = scaling::Yarn {
        factor: 4.0,
        ..scaling::Yarn::default()
    };
    assert_eq!((yarn.beta_fast, yarn.beta_slow), (32.0, 1.0));
    let exchanged = scaling::Yarn {
        beta_fast: yarn.beta_slow,
        beta_slow: yarn.beta_fast,
        ..yarn
    };
    assert!(scaling::yarn(&LLAMA_1, &exchanged).is_err());
    // Fast pairs stay, slow ones are divided; exchanged bounds would turn that round.
    let plain = LLAMA_1.inv_freq().unwrap();
    let scaled = scaling::yarn(&LLAMA_1, &yarn).unwrap().inv_freq;
    assert_eq!(scaled[0], plain[0]);
    assert_relative_eq!(scaled[63], plain[63] / 4.0, max_relative = 1e-12);
}

#[test]
fn bounds_that_should_not_be_rounded_change_the_blend() {
    let gpt_oss = Trained {
        rotary_dim: 64,
        base: 150_000.0,
        length: 4096,
    };
    let yarn = |ramp| scaling::Yarn {
        factor: 32.0,
        ramp,
        ..scaling::Yarn::default()
    };
    let band = |ramp| scaling::yarn_band(&gpt_oss, &yarn(ramp)).unwrap();
    let (low, high) = band(scaling::Ramp::Pairs);
    assert_all_close(&[low, high], &[8.092779115512402, 17.39802450158856]);
    assert_eq!(band(scaling::Ramp::WholePairs), (8.0, 18.0));

    let at = |ramp| scaling::yarn(&gpt_oss, &yarn(ramp)).unwrap().inv_freq[17];
    let ratio = at(scaling::Ramp::WholePairs) / at(scaling::Ramp::Pairs);
    assert!(
        ratio > 1.5,
        "pair 17 turns {ratio} times as fast when the bounds are rounded"
    );
}

#[test]
fn an_attention_factor_acts_on_the_score_by_its_square() {
    let factor = scaling::mscale(40.0, 1.0).unwrap();
    assert_relative_eq!(factor, 1.368887945, max_relative = 1e-8);
    let inv_freq = rope::inv_freq(8, 10_000.0).unwrap();
    let (q, k) = (numbers(0.1, 8), numbers(2.3, 8));
    let scaled = |x: &[f64], position| {
        let turned = rotated(x, position, &inv_freq, Layout::Half);
        turned.iter().map(|x| x * factor).collect::<Vec<_>>()
    };
    let plain = score(&q, &k, [9, 4], &inv_freq, Layout::Half);
    let with_factor = dot(&scaled(&q, 9), &scaled(&k, 4));
    assert_relative_eq!(with_factor / plain, 1.873854207, max_relative = 1e-8);
}

#[test]
fn an_attention_factor_that_the_file_gives_is_not_computed_again() {
    let attention_factor = |attention_factor| {
        let yarn = scaling::Yarn {
            factor: 64.0,
            attention_factor,
            ..scaling::Yarn::default()
        };
        scaling::yarn(&LLAMA_1, &yarn).unwrap().attention_factor
    };
    let given = attention_factor(scaling::AttentionFactor::Explicit(1.0));
    let computed = attention_factor(scaling::AttentionFactor::FromFactor);
    assert_eq!(given, 1.0);
    assert_relative_eq!(computed, 1.415888308, max_relative = 1e-8);
}

#[test]
fn longrope_lists_are_chosen_by_the_length_of_the_text_and_not_of_the_buffer() {
    let trained = Trained {
        rotary_dim: 8,
        base: 10_000.0,
        length: 4096,
    };
    let lists = LongRope {
        short_factor: vec![1.0; 4],
        long_factor: vec![1.0, 2.0, 4.0, 8.0],
        attention: LongRopeAttention::FromLength(131_072),
    };
    let at = |seq_len| scaling::longrope(&trained, &lists, seq_len).unwrap();
    assert_all_close(&at(4096).inv_freq, &[1.0, 0.1, 0.01, 0.001]);
    assert_all_close(&at(4097).inv_freq, &[1.0, 0.05, 0.0025, 0.000125]);
    // The attention factor is the same on both sides of the switch.
    assert_relative_eq!(at(1).attention_factor, 1.190238071, max_relative = 1e-8);
    assert_eq!(at(1).attention_factor, at(131_072).attention_factor);
}

#[test]
fn turns_are_counted_over_the_trained_length_and_not_the_extended_one() {
    let inv_freq = LLAMA_3_1.inv_freq().unwrap();
    assert_eq!(scaling::pairs_never_turning(&inv_freq, 8192), 29);
    assert_eq!(scaling::pairs_never_turning(&inv_freq, 131_072), 15);
}

// Sinusoids

#[test]
fn an_exponent_counted_by_column_tears_sine_and_cosine_apart() {
    // The mistake: column c uses 10000^(-2c/d), so the two columns of a pair differ.
    let torn = |p: f64| {
        let angle = |column: f64| p * 10_000_f64.powf(-2.0 * column / 4.0);
        [
            angle(0.0).sin(),
            angle(1.0).cos(),
            angle(2.0).sin(),
            angle(3.0).cos(),
        ]
    };
    assert_all_close(&torn(1.0), &[0.841470985, 0.99995, 9.99999998e-5, 1.0]);
    let right = |p| sinusoidal::encoding(p, 4).unwrap().to_vec();
    assert_all_close(
        &right(1),
        &[0.841470985, 0.540302306, 0.00999983333, 0.99995],
    );
    // What is lost: encodings of one length, and similarity by offset.
    assert_relative_eq!(dot(&right(3), &right(3)), 2.0, max_relative = 1e-12);
    assert!((dot(&torn(3.0), &torn(3.0)) - 2.0).abs() > 0.01);
    let wrong = dot(&torn(3.0), &torn(5.0)) - dot(&torn(300.0), &torn(302.0));
    assert!(wrong.abs() > 0.1);
}

// ALiBi

#[test]
fn six_heads_take_their_slopes_from_four_and_from_eight() {
    let slopes = alibi::slopes(6).unwrap();
    assert_all_close(&slopes, &[0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]);
    // The mistakes: one geometric series for any number of heads, and a list put in order.
    let series: Vec<f64> = (1..=6)
        .map(|h| (-8.0 * f64::from(h) / 6.0).exp2())
        .collect();
    assert_relative_eq!(series[0], 0.396850263, max_relative = 1e-8);
    assert_ne!(slopes[0], series[0]);
    assert!(!slopes.is_sorted_by(|a, b| a >= b));
}

#[test]
fn the_first_slope_of_eight_heads_is_a_half_and_not_one() {
    let slopes = alibi::slopes(8).unwrap();
    let exponents = |first: i32| (first..first + 8).map(|h| f64::from(-h).exp2());
    assert!(slopes.iter().copied().eq(exponents(1)));
    // The mistake: heads counted from zero, every slope twice as steep.
    assert!(slopes.iter().map(|slope| 2.0 * slope).eq(exponents(0)));
}

#[test]
fn a_bias_with_the_wrong_sign_looks_at_the_far_end() {
    let positions = [0, 1, 2, 3];
    let bias = alibi::bias(&[0.5], &[3], &positions, Direction::Causal);
    let row = bias.index_axis(Axis(0), 0).to_owned();
    assert_eq!(row, array![[-1.5, -1.0, -0.5, 0.0]]);
    let near = softmax(row.view());
    assert_all_close(
        near.as_slice().unwrap(),
        &[0.101536324, 0.167405097, 0.276004345, 0.455054234],
    );
    let far = softmax((-&row).view());
    assert!(far[[0, 0]] > far[[0, 3]]);
}

#[test]
fn a_bias_by_column_is_the_same_bias_only_under_a_causal_mask() {
    let positions = [0, 1, 2, 3];
    let slopes = alibi::slopes(4).unwrap();
    let column = alibi::column_bias(&slopes, &positions);
    let causal = alibi::bias(&slopes, &[3], &positions, Direction::Causal);
    for head in 0..4 {
        let by_column = column.slice(s![head..=head, ..]).to_owned();
        let by_distance = causal.index_axis(Axis(0), head).to_owned();
        let (left, right) = (softmax(by_column.view()), softmax(by_distance.view()));
        assert_all_close(left.as_slice().unwrap(), right.as_slice().unwrap());
    }
    // Seen from the middle, with later keys visible, the column's bias prefers the last key.
    let middle = alibi::bias(&slopes, &[1], &positions, Direction::Bidirectional);
    let by_distance = softmax(middle.index_axis(Axis(0), 0));
    let by_column = softmax(column.slice(s![..1, ..]));
    assert!(by_distance[[0, 1]] > by_distance[[0, 3]]);
    assert!(by_column[[0, 1]] < by_column[[0, 3]]);
}

// T5

#[test]
fn query_minus_key_puts_the_past_into_the_buckets_of_the_future() {
    let bucket = |relative| t5::bucket(relative, 32, 128, Direction::Bidirectional).unwrap();
    // Key minus query: a key three tokens back, and one three tokens ahead.
    assert_eq!((bucket(-3), bucket(3)), (3, 19));
    // In a causal model every earlier key would share bucket 0.
    let causal = |relative| t5::bucket(relative, 32, 128, Direction::Causal).unwrap();
    assert_eq!((causal(-3), causal(3)), (3, 0));
}

// Configuration keys

fn model(position: &str) -> Result<config::Model, Error> {
    let file = format!(
        r#"{{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
            "num_hidden_layers": 4, "max_position_embeddings": 32768, {position}}}"#
    );
    config::read(file.as_bytes(), None)
}

fn only_table(position: &str) -> config::Table {
    let mut tables = model(position).unwrap().tables;
    assert_eq!(tables.len(), 1);
    tables.remove(0)
}

#[test]
fn both_names_of_the_kind_are_read_and_the_newer_one_wins() {
    let kind = |scaling: &str| {
        let table = only_table(&format!(r#""rope_theta": 1e4, "rope_scaling": {scaling}"#));
        table.rope_type
    };
    assert_eq!(
        kind(r#"{"type": "linear", "factor": 2.0}"#),
        RopeType::Linear
    );
    assert_eq!(
        kind(r#"{"rope_type": "linear", "factor": 2.0}"#),
        RopeType::Linear
    );
    let both = r#"{"type": "linear", "rope_type": "dynamic", "factor": 2.0}"#;
    assert_eq!(kind(both), RopeType::Dynamic);
}

#[test]
fn a_whole_number_is_a_factor_too() {
    let scaled = |factor: &str| {
        let scaling = format!(r#"{{"rope_type": "linear", "factor": {factor}}}"#);
        only_table(&format!(r#""rope_theta": 1e4, "rope_scaling": {scaling}"#)).inv_freq
    };
    assert_eq!(scaled("8"), scaled("8.0"));
    assert_all_close(&scaled("8")[..2], &[0.125, 0.865964323 / 8.0]);
}

#[test]
fn a_block_that_says_default_is_not_a_scaling() {
    let plain = only_table(r#""rope_theta": 5e5"#);
    let absent = only_table(r#""rope_theta": 5e5, "rope_scaling": null"#);
    let said = only_table(r#""rope_parameters": {"rope_type": "default", "rope_theta": 5e5}"#);
    for table in [&absent, &said] {
        assert_eq!(table.inv_freq, plain.inv_freq);
        assert_eq!(table.rope_type, RopeType::Default);
    }
}

#[test]
fn a_base_inside_the_newer_block_beats_one_outside() {
    let table = only_table(r#""rope_theta": 5e5, "rope_parameters": {"rope_theta": 1e6}"#);
    assert_eq!(table.base, Some(1e6));
    // Nothing is taken in silence.
    let without = model(r#""rope_theta": null"#).unwrap();
    assert_eq!(without.tables[0].base, Some(10_000.0));
    assert!(without.notes.iter().any(|note| note.contains("rope_theta")));
}

#[test]
fn an_unknown_kind_is_refused_and_not_run_as_if_it_were_none() {
    let refused = model(r#""rope_theta": 1e4, "rope_scaling": {"rope_type": "foo"}"#).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("foo") && said.contains("yarn"), "{said}");
}

#[test]
fn the_maximum_of_an_extended_model_is_not_extended_again() {
    let table = only_table(
        r#""rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
            "original_max_position_embeddings": 8192}"#,
    );
    assert_eq!(table.trained_length, Some(8192));
    assert_eq!(table.max_length, Some(32_768));
}

#[test]
fn a_one_in_no_rope_layers_means_that_the_layer_rotates() {
    let file = br#"{"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16,
        "num_hidden_layers": 8, "max_position_embeddings": 65536, "rope_theta": 5e6,
        "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]}"#;
    let tables = config::read(file, None).unwrap().tables;
    let without = tables
        .iter()
        .find(|table| table.rope_type == RopeType::None)
        .unwrap();
    assert_eq!(without.layer_indices.as_deref(), Some(&[3, 7][..]));
}

#[test]
fn gemma_3_scales_the_layers_that_see_everything_and_no_others() {
    let file = br#"{"model_type": "gemma3_text", "hidden_size": 2560, "num_attention_heads": 8,
        "num_hidden_layers": 26, "head_dim": 256, "max_position_embeddings": 131072,
        "sliding_window_pattern": 6, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0}}"#;
    let tables = config::read(file, None).unwrap().tables;
    let [full, sliding] = ["full", "sliding"].map(|kind| {
        let of_kind = |table: &&config::Table| table.layers == kind;
        tables.iter().find(of_kind).unwrap()
    });
    assert_eq!((full.base, full.inv_freq[0]), (Some(1e6), 0.125));
    assert_eq!((sliding.base, sliding.inv_freq[0]), (Some(1e4), 1.0));
    assert_eq!(full.layer_indices.as_deref(), Some(&[5, 11, 17, 23][..]));
}

#[test]
fn deepseeks_second_factor_stands_on_the_softmax() {
    let file = br#"{"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128,
        "num_hidden_layers": 61, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
        "max_position_embeddings": 163840, "rope_theta": 10000,
        "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
            "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0}}"#;
    let table = config::read(file, None).unwrap().tables.remove(0);
    assert_eq!((table.rotary_dim, table.attention_factor), (64, 1.0));
    assert_relative_eq!(table.softmax_scale_factor, 1.873854207, max_relative = 1e-8);
}

#[test]
fn a_memo_kept_by_length_alone_turns_the_second_request_by_the_angles_of_the_first() {
    let x = [1.0, 2.0, 3.0, 4.0];
    let mut memo = std::collections::HashMap::new();
    let mut by_length = |base: f64, length: usize| {
        let angles = memo
            .entry(length)
            .or_insert_with(|| rope::inv_freq(4, base).unwrap());
        rotated(&x, 5, angles, Layout::Half)
    };
    let first = by_length(10_000.0, 8);
    let second = by_length(500_000.0, 8);
    let right = rotated(&x, 5, &rope::inv_freq(4, 500_000.0).unwrap(), Layout::Half);
    assert_all_close(&second, &first);
    // The slow pair should have turned by 0.007 radians and turned by 0.05.
    assert!((second[1] - right[1]).abs() > 0.1, "{second:?} {right:?}");
}

#[test]
fn a_bias_in_cross_attention_makes_the_answer_depend_on_where_the_question_stands() {
    let table = Array2::from_shape_fn((32, 1), |(bucket, _)| bucket as f64 / 8.0);
    let scores = array![[0.3, -0.2, 0.1, 0.4]];
    let answer = |question: usize, biased: bool| {
        let mut scores = scores.clone();
        if biased {
            let bias = t5::bias(
                table.view(),
                &[question],
                &[0, 1, 2, 3],
                128,
                Direction::Bidirectional,
            );
            scores += &bias.unwrap().index_axis(Axis(0), 0);
        }
        softmax(scores.view())
    };
    assert_eq!(answer(0, false), answer(9, false));
    let moved = (&answer(0, true) - &answer(9, true)).mapv(f64::abs).sum();
    assert!(moved > 0.05, "the weights moved by {moved}");
}
