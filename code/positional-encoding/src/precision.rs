//! What the short number formats of accelerators do to positions, frequencies and angles.
//!
//! Models store numbers as `f32`, `f16` or `bf16`. A rotation needs the angle
//! `position · inv_freq` to a small part of a radian, however large the position is, so the
//! angle's **absolute** error counts, and that grows with the position. Compute angles in `f32`
//! or better, positions as integers, and cast the finished cosines and sines.

use half::{bf16, f16};

/// A number format, told by its significant bits (the leading one included).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 24 significant bits, exponents of 8 bits.
    F32,
    /// 11 significant bits, exponents of 5 bits: infinite from 65520 on.
    F16,
    /// 8 significant bits, exponents of 8 bits: the upper half of an `f32`.
    Bf16,
}

/// The number of this format nearest to `x`; ties go to the even last bit.
///
/// The conversion to the two short formats looks at the first 21 significant bits of `x`, so what
/// lies within a part in a million of the middle between two numbers is taken for the middle.
///
/// ```
/// use positional_encoding::precision::{Format, round};
/// assert_eq!(round(256.0, Format::Bf16), 256.0);
/// assert_eq!(round(257.0, Format::Bf16), 256.0);
/// assert_eq!(round(2049.0, Format::F16), 2048.0);
/// assert_eq!(round(16_777_217.0, Format::F32), 16_777_216.0);
/// ```
// ANCHOR: round
pub fn round(x: f64, format: Format) -> f64 {
    match format {
        Format::F32 => f64::from(x as f32),
        Format::F16 => f16::from_f64(x).to_f64(),
        Format::Bf16 => bf16::from_f64(x).to_f64(),
    }
}
// ANCHOR_END: round

/// How many different numbers are left of the positions `0..seq_len` once they are stored.
///
/// ```
/// use positional_encoding::precision::{Format, distinct_positions};
/// assert_eq!(distinct_positions(4096, Format::F32), 4096);
/// assert_eq!(distinct_positions(4096, Format::Bf16), 769);
/// ```
// ANCHOR: distinct_positions
pub fn distinct_positions(seq_len: usize, format: Format) -> usize {
    let stored = (0..seq_len).map(|position| round(position as f64, format));
    let mut last = None;
    stored
        .filter(|value| last.replace(*value) != Some(*value))
        .count()
}
// ANCHOR_END: distinct_positions

/// The angle `position · frequency` in radians when all three numbers are stored in `format`.
///
/// ```
/// use positional_encoding::{precision::{Format, angle}, rope::inv_freq};
/// let frequency = inv_freq(32, 10_000.0)?[1];
/// approx::assert_abs_diff_eq!(1857.0 * frequency, 1044.26784, epsilon = 1e-5);
/// assert_eq!(angle(1857, frequency, Format::F16), 1045.0);
/// assert_eq!(angle(1857, frequency, Format::Bf16), 1040.0);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: angle
pub fn angle(position: usize, frequency: f64, format: Format) -> f64 {
    let product = round(position as f64, format) * round(frequency, format);
    round(product, format)
}
// ANCHOR_END: angle

/// The largest error of an angle at `position`, in radians from 0 to π, over all pairs, when
/// `inv_freq` alone was stored in `format` and everything after is exact.
///
/// Before it is taken to the nearest turn, the error is `position` times the rounding of a
/// frequency, so it grows in proportion to the position until it cannot grow any more: at π the
/// arrow points the other way.
///
/// ```
/// use positional_encoding::{precision::{Format, angle_error}, rope::inv_freq};
/// let inv_freq = inv_freq(128, 10_000.0)?;
/// assert!(angle_error(511, &inv_freq, Format::Bf16) > 0.6);
/// assert!(angle_error(511, &inv_freq, Format::F32) < 2e-5);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: angle_error
pub fn angle_error(position: usize, inv_freq: &[f64], format: Format) -> f64 {
    use std::f64::consts::TAU;
    let errors = inv_freq.iter().map(|frequency| {
        let error = position as f64 * (round(*frequency, format) - frequency);
        (error - TAU * (error / TAU).round()).abs()
    });
    errors.fold(0.0, f64::max)
}
// ANCHOR_END: angle_error
