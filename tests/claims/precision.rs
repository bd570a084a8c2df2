use approx::{assert_abs_diff_eq, assert_relative_eq};
use positional_encoding::precision::{Format, angle, angle_error, distinct_positions, round};
use positional_encoding::rope::inv_freq;
use std::f64::consts::PI;

use Format::{Bf16, F16, F32};

fn ladder(rotary_dim: usize, base: f64) -> Vec<f64> {
    inv_freq(rotary_dim, base).unwrap()
}

#[test]
fn short_formats_run_out_of_whole_numbers() {
    for (format, last) in [(Bf16, 256.0), (F16, 2048.0), (F32, 16_777_216.0)] {
        assert_eq!(round(last, format), last);
        assert_eq!(round(last + 1.0, format), last);
    }
    assert_eq!(round(259.0, Bf16), 260.0);
    assert_eq!(round(511.0, Bf16), 512.0);
    assert_eq!(round(65_519.0, F16), 65_504.0);
    assert_eq!(round(65_520.0, F16), f64::INFINITY);
}

#[test]
fn of_4096_positions_bf16_keeps_769_and_f16_3073() {
    assert_eq!(distinct_positions(4096, Bf16), 769);
    assert_eq!(distinct_positions(4096, F16), 3073);
    assert_eq!(distinct_positions(4096, F32), 4096);
    assert_eq!(distinct_positions(0, Bf16), 0);
}

#[test]
fn an_angle_in_a_short_format_is_off_by_radians() {
    let frequency = ladder(32, 1e4)[1];
    assert_relative_eq!(1857.0 * frequency, 1044.26784088, max_relative = 1e-11);
    assert_abs_diff_eq!(angle(1857, frequency, F32), 1044.267822, epsilon = 1e-6);
    assert_eq!(angle(1857, frequency, F16), 1045.0);
    assert_eq!(angle(1857, frequency, Bf16), 1040.0);
}

#[test]
fn a_table_made_in_a_short_format_has_wrong_cosines() {
    let ladder = ladder(32, 1e4);
    let worst = |format| {
        let cells = (0..2048).flat_map(|position| ladder.iter().map(move |w| (position, w)));
        let errors = cells.map(|(position, w)| {
            (angle(position, *w, format).cos() - (position as f64 * w).cos()).abs()
        });
        errors.fold(0.0, f64::max)
    };
    assert_abs_diff_eq!(worst(F16), 0.7819, epsilon = 1e-4);
    assert_abs_diff_eq!(worst(Bf16), 1.995, epsilon = 1e-3);
    assert!(worst(F32) < 1e-4);
}

#[test]
fn cosines_cast_at_the_end_are_as_good_as_the_format() {
    let cells = (0..2048).flat_map(|p| ladder(32, 1e4).into_iter().map(move |w| p as f64 * w));
    for angle in cells {
        for (format, bits) in [(Bf16, 8), (F16, 11), (F32, 24)] {
            // Numbers from 1/2 to 1 lie 2^-bits apart, so rounding is off by half of that; a part
            // in 2^8 more where the conversion's own cut turned the tie the other way.
            let error = (round(angle.cos(), format) - angle.cos()).abs();
            assert!(error <= 0.5f64.powi(bits + 1) * (1.0 + 0.5f64.powi(8)));
        }
    }
}

#[test]
fn the_second_frequency_is_stored_with_three_digits_in_bf16() {
    let frequency = ladder(128, 1e4)[1];
    assert_relative_eq!(frequency, 0.8659643234, max_relative = 1e-9);
    assert_eq!(round(frequency, Bf16), 0.8671875);
    assert_eq!(round(frequency, F16), 0.8657226562_5);
}

#[test]
fn rounded_frequencies_turn_a_pair_wrong_in_proportion_to_the_position() {
    let ladder = ladder(128, 1e4);
    let worst = |seq_len, format| {
        let errors = (0..seq_len).map(|position| angle_error(position, &ladder, format));
        errors.fold(0.0, f64::max)
    };
    for (seq_len, bf16, f16, f32) in [
        (512, 0.625, 0.124, 1.5e-5),
        (2048, 2.504, 0.495, 6.1e-5),
        (4096, PI, 0.990, 1.2e-4),
        (32_768, PI, PI, 9.7e-4),
    ] {
        // The digits printed in the text.
        assert_abs_diff_eq!(worst(seq_len, Bf16), bf16, epsilon = 1e-3);
        assert_abs_diff_eq!(worst(seq_len, F16), f16, epsilon = 1e-3);
        assert_relative_eq!(worst(seq_len, F32), f32, max_relative = 2e-2);
    }
    assert_relative_eq!(
        angle_error(131_071, &ladder, F32),
        3.9e-3,
        max_relative = 1e-2
    );
}

/// The frequencies as a model that computes in f32 has them, by a power and by an exponential.
fn ladders_in_f32(base: f32) -> [Vec<f32>; 2] {
    let exponents = (0..64).map(|i| 2.0 * i as f32 / 128.0);
    let powers = exponents.clone().map(|e| 1.0 / base.powf(e));
    let exponentials = exponents.map(|e| (-base.ln() * e).exp());
    [powers.collect(), exponentials.collect()]
}

#[test]
fn two_formulas_for_the_frequencies_differ_in_f32() {
    let [powers, exponentials] = ladders_in_f32(1e4);
    let exact = ladder(128, 1e4);
    let worst = |ladder: &[f32]| {
        let errors = ladder
            .iter()
            .zip(&exact)
            .map(|(w, exact)| (f64::from(*w) / exact - 1.0).abs());
        errors.fold(0.0, f64::max)
    };
    assert_ne!(powers, exponentials);
    // One or two roundings of f32 for the power; the exponential multiplies its argument's.
    assert!(worst(&powers) < 1.3e-7, "{}", worst(&powers));
    assert!(
        (2e-7..1e-6).contains(&worst(&exponentials)),
        "{}",
        worst(&exponentials)
    );
}

#[test]
fn in_f32_a_cosine_at_131071_is_good_to_two_or_three_digits() {
    for base in [1e4, 5e5, 1e6] {
        let [powers, _] = ladders_in_f32(base as f32);
        let worst = |position: f64| {
            let errors = powers.iter().zip(ladder(128, base)).map(|(w, exact)| {
                let computed = f64::from((position as f32 * w).cos());
                (computed - (position * exact).cos()).abs()
            });
            errors.fold(0.0, f64::max)
        };
        assert!(
            (5e-4..5e-3).contains(&worst(131_071.0)),
            "{base}: {}",
            worst(131_071.0)
        );
        assert!(
            (5e-3..0.1).contains(&worst(1_048_575.0)),
            "{base}: {}",
            worst(1_048_575.0)
        );
    }
}
