//! Long context: rescale a trained rotary embedding so that positions it never saw turn its
//! pairs by angles it did see.
//!
//! Every rule answers the same question, "which frequencies, and which factor on cosine and
//! sine, at this current length?", with the same type, [`Frequencies`]. The functions are one
//! rule each; [`Scaling`] names the rule as a value.
//!
//! The errors stated are relative, against 100-digit arithmetic, and twice the largest measured or
//! more, for bases from 2,000 to 5,000,000, widths up to 256, factors up to 64 and a current length
//! of one million. Attention factors are within 5e-16 for every rule.
//!
//! ```
//! use positional_encoding::scaling::{Scaling, Trained, Yarn};
//!
//! let llama2 = Trained { rotary_dim: 128, base: 10_000.0, length: 4096 };
//! let yarn = Scaling::Yarn(Yarn { factor: 16.0, ..Yarn::default() });
//! let frequencies = yarn.frequencies(&llama2, 65_536)?;
//! assert_eq!(frequencies.inv_freq[0], 1.0);
//! assert!(frequencies.attention_factor > 1.27);
//! # Ok::<(), positional_encoding::Error>(())
//! ```

use std::f64::consts::TAU;

use crate::error::number;
use crate::{Error, rope};

/// What training fixed: the rotary embedding before anything is rescaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trained {
    /// How many entries of a head are rotated; even. `rotary_dim / 2` pairs.
    pub rotary_dim: usize,
    /// The base of the frequencies, `rope_theta` in model files.
    pub base: f64,
    /// The length, in positions, that the model was trained at before any extension
    /// (`original_max_position_embeddings` where a file names both).
    pub length: usize,
}

impl Trained {
    /// The frequencies as trained, in radians per position, shape `(rotary_dim / 2,)`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where `rotary_dim` is odd or zero, `base` is not a finite number
    /// above zero, or `length` is zero.
    ///
    /// ```
    /// use positional_encoding::scaling::Trained;
    ///
    /// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 4096 };
    /// assert_eq!(trained.inv_freq()?.len(), 4);
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    pub fn inv_freq(&self) -> Result<Vec<f64>, Error> {
        check_length("length", self.length)?;
        rope::inv_freq(self.rotary_dim, self.base)
    }
}

/// What a scaling rule answers: all that the rotation needs at one current length.
#[derive(Debug, Clone, PartialEq)]
pub struct Frequencies {
    /// Radians per position, fastest first, shape `(rotary_dim / 2,)`.
    pub inv_freq: Vec<f64>,
    /// Multiplies cosine and sine, so the score gets its **square**. 1 where a rule has none.
    pub attention_factor: f64,
}

/// How many positions each pair takes for one turn: `2π / inv_freq`, shape of `inv_freq`.
///
/// A frequency of zero never turns; its wavelength is infinite.
///
/// ```
/// let wavelengths = positional_encoding::scaling::wavelengths(&[1.0, 0.0]);
/// assert_eq!(wavelengths, [std::f64::consts::TAU, f64::INFINITY]);
/// ```
pub fn wavelengths(inv_freq: &[f64]) -> Vec<f64> {
    inv_freq.iter().map(|frequency| TAU / frequency).collect()
}

/// How many turns each pair makes over `length` positions, shape of `inv_freq`.
///
/// This is the ratio `r` of Peng et al. 2023, equation 17: length over wavelength.
///
/// ```
/// let turns = positional_encoding::scaling::turns(&[1.0, 0.001], 4096);
/// assert_eq!(turns[0].floor(), 651.0);
/// assert!(turns[1] < 1.0);
/// ```
// ANCHOR: turns
pub fn turns(inv_freq: &[f64], length: usize) -> Vec<f64> {
    wavelengths(inv_freq)
        .iter()
        .map(|wavelength| length as f64 / wavelength)
        .collect()
}
// ANCHOR_END: turns

/// How many pairs never complete a turn within the trained length: those whose wavelength
/// exceeds it.
///
/// Give the *trained* length, not the extended one, and the unscaled frequencies.
///
/// ```
/// use positional_encoding::{rope, scaling};
///
/// let llama2 = rope::inv_freq(128, 10_000.0)?;
/// assert_eq!(scaling::pairs_never_turning(&llama2, 4096), 18);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: never
pub fn pairs_never_turning(inv_freq: &[f64], trained_length: usize) -> usize {
    wavelengths(inv_freq)
        .iter()
        .filter(|wavelength| **wavelength > trained_length as f64)
        .count()
}
// ANCHOR_END: never

/// Position interpolation, `linear` in model files: every frequency divided by `factor`.
///
/// The same as dividing every position by it. Chen et al. 2023, section 2.3. Error: at most
/// 2e-15.
///
/// # Errors
///
/// [`Error::Parameter`] where `factor` is not a finite number above zero, or `trained` is
/// impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Trained};
///
/// let trained = Trained { rotary_dim: 4, base: 10_000.0, length: 512 };
/// let slowed = scaling::position_interpolation(&trained, 8.0)?;
/// assert_eq!(slowed.inv_freq, [0.125, 0.00125]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: interpolation
pub fn position_interpolation(trained: &Trained, factor: f64) -> Result<Frequencies, Error> {
    check_factor(factor)?;
    let inv_freq = trained.inv_freq()?;
    let slowed = inv_freq.iter().map(|w| w / factor).collect();
    finished(slowed, 1.0)
}
// ANCHOR_END: interpolation

/// The base of NTK-aware scaling, `base · factor^(d / (d - 2))` with `d = rotary_dim`.
///
/// Chosen so that the slowest pair is divided by exactly `factor` while the fastest stays.
/// bloc97 2023; Peng et al. 2023, equation 16.
///
/// # Errors
///
/// [`Error::Parameter`] where `rotary_dim` is below 4 (one pair cannot be fastest and slowest
/// at once), or `factor` is not a finite number above zero, or `trained` is impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Trained};
///
/// let trained = Trained { rotary_dim: 128, base: 10_000.0, length: 4096 };
/// assert_eq!(scaling::ntk_aware_base(&trained, 4.0)?.round(), 40_890.0);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: ntk
pub fn ntk_aware_base(trained: &Trained, factor: f64) -> Result<f64, Error> {
    check_factor(factor)?;
    check_two_pairs(trained.rotary_dim)?;
    let d = trained.rotary_dim as f64;
    Ok(trained.base * factor.powf(d / (d - 2.0)))
}
// ANCHOR_END: ntk

/// NTK-aware scaling: the frequencies of a larger base, [`ntk_aware_base`]. Error: at most
/// 4e-15.
///
/// # Errors
///
/// As [`ntk_aware_base`].
///
/// ```
/// use positional_encoding::scaling::{self, Trained};
///
/// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 64 };
/// let scaled = scaling::ntk_aware(&trained, 4.0)?.inv_freq;
/// assert_eq!(scaled[0], 1.0);
/// approx::assert_relative_eq!(scaled[3], 0.001 / 4.0, max_relative = 1e-13);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: ntk_aware
pub fn ntk_aware(trained: &Trained, factor: f64) -> Result<Frequencies, Error> {
    let base = ntk_aware_base(trained, factor)?;
    finished(Trained { base, ..*trained }.inv_freq()?, 1.0)
}
// ANCHOR_END: ntk_aware

/// Dynamic NTK as the paper writes it: NTK-aware with `factor = max(1, seq_len / length)`.
///
/// Peng et al. 2023, section 3.3. The base follows the current length, so keys cached after
/// rotation belong to the base of an earlier length: cache them unrotated. Error: at most
/// 4e-15.
///
/// # Errors
///
/// [`Error::Parameter`] where `seq_len` is zero, `rotary_dim` below 4, or `trained` impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Trained};
///
/// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 16 };
/// assert_eq!(scaling::dynamic_ntk(&trained, 5)?.inv_freq, trained.inv_freq()?);
/// assert_eq!(scaling::dynamic_ntk(&trained, 32)?, scaling::ntk_aware(&trained, 2.0)?);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: dynamic
pub fn dynamic_ntk(trained: &Trained, seq_len: usize) -> Result<Frequencies, Error> {
    check_lengths(trained, seq_len)?;
    let stretch = seq_len as f64 / trained.length as f64;
    ntk_aware(trained, stretch.max(1.0))
}
// ANCHOR_END: dynamic

/// Dynamic NTK as common implementations have it, with a fixed `factor` beside the length.
///
/// NTK-aware with `factor · seq_len / length - (factor - 1)`, and with the base as trained up
/// to `length`. Equal to [`dynamic_ntk`] only for `factor` 1; a larger one stretches sooner.
/// `dynamic` in model files means this form. Error: at most 4e-15.
///
/// # Errors
///
/// [`Error::Parameter`] where `factor` is not a finite number above zero, `seq_len` is zero,
/// `rotary_dim` below 4, or `trained` impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Trained};
///
/// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 16 };
/// let scaled = scaling::dynamic_ntk_with_factor(&trained, 2.0, 32)?;
/// assert_eq!(scaled, scaling::ntk_aware(&trained, 3.0)?);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: dynamic_with_factor
pub fn dynamic_ntk_with_factor(
    trained: &Trained,
    factor: f64,
    seq_len: usize,
) -> Result<Frequencies, Error> {
    check_factor(factor)?;
    check_lengths(trained, seq_len)?;
    let stretch = seq_len.max(trained.length) as f64 / trained.length as f64;
    // factor * stretch - (factor - 1), which for a large factor would lose the 1.
    ntk_aware(trained, 1.0 + factor * (stretch - 1.0))
}
// ANCHOR_END: dynamic_with_factor

/// The parameters of NTK-by-parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByParts {
    /// How many times the trained length is to be covered.
    pub factor: f64,
    /// Pairs with fewer turns than this over the trained length are divided by `factor`.
    pub alpha: f64,
    /// Pairs with more turns than this are left alone.
    pub beta: f64,
}

impl Default for ByParts {
    /// The paper's bounds for the Llama family, 1 and 32 turns, with factor 1.
    fn default() -> Self {
        Self {
            factor: 1.0,
            alpha: 1.0,
            beta: 32.0,
        }
    }
}

/// NTK-by-parts: slow pairs interpolated, fast pairs untouched, a ramp in turns between.
///
/// Peng et al. 2023, equations 17 to 20. Error: at most 5e-15; where little of a frequency is kept, the
/// error of that little is magnified by `factor`.
///
/// # Errors
///
/// [`Error::Parameter`] where `factor` is not a finite number above zero, the bounds are not
/// finite with `0 <= alpha < beta`, or `trained` is impossible.
///
/// ```
/// use positional_encoding::scaling::{self, ByParts, Trained};
///
/// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 4096 };
/// let parts = ByParts { factor: 4.0, ..ByParts::default() };
/// let scaled = scaling::ntk_by_parts(&trained, &parts)?.inv_freq;
/// assert_eq!(scaled[0], 1.0);
/// assert_eq!(scaled[3], trained.inv_freq()?[3] / 4.0);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: by_parts
pub fn ntk_by_parts(trained: &Trained, parts: &ByParts) -> Result<Frequencies, Error> {
    let (alpha, beta) = (parts.alpha, parts.beta);
    check_factor(parts.factor)?;
    check_bounds(("alpha", alpha), ("beta", beta))?;
    let inv_freq = trained.inv_freq()?;
    let kept = turns(&inv_freq, trained.length)
        .into_iter()
        .map(|r| ((r - alpha) / (beta - alpha)).clamp(0.0, 1.0));
    finished(blend(&inv_freq, parts.factor, kept), 1.0)
}
// ANCHOR_END: by_parts

/// Each frequency between divided (`kept` 0) and as trained (`kept` 1).
// ANCHOR: blend
fn blend(inv_freq: &[f64], factor: f64, kept: impl Iterator<Item = f64>) -> Vec<f64> {
    inv_freq
        .iter()
        .zip(kept)
        .map(|(w, kept)| (1.0 - kept) * w / factor + kept * w)
        .collect()
}
// ANCHOR_END: blend

/// Where YaRN's ramp runs from untouched to divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ramp {
    /// Linear in the number of turns, as the paper writes it (Peng et al. 2023, equation 18).
    Turns,
    /// Linear in the pair's index between the two bounds, unrounded: `truncate: false`.
    Pairs,
    /// Linear in the pair's index between the bounds rounded outwards: the reference code,
    /// `truncate: true`, what a model file means when it says nothing.
    WholePairs,
}

/// Where YaRN's factor on cosine and sine comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AttentionFactor {
    /// `0.1 ln(factor) + 1`: the paper's.
    FromFactor,
    /// The file's own `attention_factor`; it wins over everything else.
    Explicit(f64),
    /// `m(mscale) / m(mscale_all_dim)` with `m` = [`mscale`]: DeepSeek's pair of keys. For a
    /// file that gives only one of the two, or a zero, use [`AttentionFactor::FromFactor`].
    Ratio {
        /// The weight in the numerator; above zero.
        mscale: f64,
        /// The weight in the denominator; above zero.
        mscale_all_dim: f64,
    },
}

/// The parameters of YaRN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yarn {
    /// How many times the trained length is to be covered.
    pub factor: f64,
    /// Pairs with more turns than this over the trained length are left alone; `β` in the
    /// paper.
    pub beta_fast: f64,
    /// Pairs with fewer turns than this are divided by `factor`; `α` in the paper.
    pub beta_slow: f64,
    /// How the pairs between are blended.
    pub ramp: Ramp,
    /// The factor on cosine and sine.
    pub attention_factor: AttentionFactor,
}

impl Default for Yarn {
    /// What model files mean when they say nothing: 32 and 1 turns, the reference code's
    /// rounded ramp, the paper's attention factor; with factor 1.
    fn default() -> Self {
        Self {
            factor: 1.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            ramp: Ramp::WholePairs,
            attention_factor: AttentionFactor::FromFactor,
        }
    }
}

/// YaRN: NTK-by-parts with a factor on the attention scores.
///
/// Peng et al. 2023, section 3.4. With [`Ramp::Turns`] the frequencies are those of
/// [`ntk_by_parts`]; the reference code and its descendants run the ramp over the pair's index
/// instead, [`Ramp::WholePairs`] or [`Ramp::Pairs`].
///
/// Error: at most 5e-15, but 3e-14 for [`Ramp::Pairs`], whose unrounded bounds come from
/// logarithms.
///
/// # Errors
///
/// [`Error::Parameter`] where `factor` is not a finite number above zero, the bounds are not
/// finite with `0 <= beta_slow < beta_fast` (above zero, and equal allowed, for a ramp over
/// pairs), an explicit
/// attention factor or a weight is not a finite number above zero, no pair lies near the ramp,
/// or `trained` is impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Trained, Yarn};
///
/// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 100 };
/// let scaled = scaling::yarn(&trained, &Yarn { factor: 4.0, ..Yarn::default() })?;
/// approx::assert_relative_eq!(scaled.inv_freq[1], 0.0625, max_relative = 1e-15);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: yarn
pub fn yarn(trained: &Trained, yarn: &Yarn) -> Result<Frequencies, Error> {
    let attention_factor = yarn_attention_factor(yarn)?;
    let inv_freq = match yarn.ramp {
        Ramp::Turns => {
            let parts = ByParts {
                factor: yarn.factor,
                alpha: yarn.beta_slow,
                beta: yarn.beta_fast,
            };
            ntk_by_parts(trained, &parts)?.inv_freq
        }
        Ramp::Pairs | Ramp::WholePairs => {
            let (low, high) = yarn_band(trained, yarn)?;
            let inv_freq = trained.inv_freq()?;
            let kept = (0..inv_freq.len()).map(|pair| {
                let divided = (pair as f64 - low) / (high - low);
                1.0 - divided.clamp(0.0, 1.0)
            });
            blend(&inv_freq, yarn.factor, kept)
        }
    };
    finished(inv_freq, attention_factor)
}
// ANCHOR_END: yarn

/// The pair, counted with a fraction, that makes `turns` turns over the trained length:
/// `rotary_dim · ln(length / (2π · turns)) / (2 ln base)`.
///
/// With one turn it is the border that [`pairs_never_turning`] counts from. `d(r)` in the
/// reference code of YaRN. Negative, or beyond the last pair, where no pair turns so seldom or
/// so often.
///
/// # Errors
///
/// [`Error::Parameter`] where `turns` is not a finite number above zero, `base` is not above 1
/// (no pair would be slower than another), or `trained` is impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Trained};
///
/// let llama2 = Trained { rotary_dim: 128, base: 10_000.0, length: 4096 };
/// approx::assert_relative_eq!(scaling::pair_turning(&llama2, 1.0)?, 45.0269, epsilon = 1e-4);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: pair_turning
pub fn pair_turning(trained: &Trained, turns: f64) -> Result<f64, Error> {
    check_positive("turns", turns, "give the turns over the trained length")?;
    check_falling(trained)?;
    let d = trained.rotary_dim as f64;
    let wavelength = trained.length as f64 / turns;
    Ok(d * (wavelength / TAU).ln() / (2.0 * trained.base.ln()))
}
// ANCHOR_END: pair_turning

/// The pairs between which YaRN's ramp over pairs runs: left alone up to the first number,
/// divided from the second on.
///
/// Cut to `0` and `rotary_dim - 1` as in the reference code (not to the last pair), and moved
/// apart by 0.001 where both are equal. For [`Ramp::Turns`] the numbers are those of
/// [`Ramp::Pairs`]: the same two pairs bound it.
///
/// # Errors
///
/// As [`yarn`].
///
/// ```
/// use positional_encoding::scaling::{self, Trained, Yarn};
///
/// let llama2 = Trained { rotary_dim: 128, base: 10_000.0, length: 4096 };
/// let band = scaling::yarn_band(&llama2, &Yarn { factor: 16.0, ..Yarn::default() })?;
/// assert_eq!(band, (20.0, 46.0));
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: yarn_band
pub fn yarn_band(trained: &Trained, yarn: &Yarn) -> Result<(f64, f64), Error> {
    check_factor(yarn.factor)?;
    check_order(("beta_slow", yarn.beta_slow), ("beta_fast", yarn.beta_fast))?;
    let mut low = pair_turning(trained, yarn.beta_fast)?;
    let mut high = pair_turning(trained, yarn.beta_slow)?;
    if yarn.ramp == Ramp::WholePairs {
        (low, high) = (low.floor(), high.ceil());
    }
    low = low.max(0.0);
    high = high.min(trained.rotary_dim as f64 - 1.0);
    check_band(trained, low, high)?;
    // Equal bounds would divide by zero; the reference code parts them by this much.
    Ok((low, if low == high { high + 0.001 } else { high }))
}
// ANCHOR_END: yarn_band

/// `m(factor, weight) = 0.1 · weight · ln(factor) + 1`, and 1 where `factor` is at most 1.
///
/// With weight 1 it is the factor on cosine and sine that Peng et al. 2023 recommend in
/// equation 22; DeepSeek's keys `mscale` and `mscale_all_dim` are weights.
///
/// # Errors
///
/// [`Error::Parameter`] where `factor` is not a finite number above zero, or `weight` is not
/// a finite number from zero up.
///
/// ```
/// let m = positional_encoding::scaling::mscale(40.0, 1.0)?;
/// approx::assert_relative_eq!(m, 1.368887945, max_relative = 1e-9);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: mscale
pub fn mscale(factor: f64, weight: f64) -> Result<f64, Error> {
    check_factor(factor)?;
    check_not_negative("weight", weight)?;
    Ok(if factor <= 1.0 {
        1.0
    } else {
        0.1 * weight * factor.ln() + 1.0
    })
}
// ANCHOR_END: mscale

/// What DeepSeek multiplies the softmax scale `1 / √head_dim` by: `m(mscale_all_dim)²`.
///
/// It stands beside [`Frequencies::attention_factor`], not in its place: with both weights
/// equal that one is 1 and all the temperature is here. Only some model families apply it.
///
/// # Errors
///
/// As [`mscale`].
///
/// ```
/// let factor = positional_encoding::scaling::softmax_scale_factor(40.0, 1.0)?;
/// approx::assert_relative_eq!(factor, 1.873854207, max_relative = 1e-9);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: softmax_scale_factor
pub fn softmax_scale_factor(factor: f64, mscale_all_dim: f64) -> Result<f64, Error> {
    Ok(mscale(factor, mscale_all_dim)?.powi(2))
}
// ANCHOR_END: softmax_scale_factor

fn yarn_attention_factor(yarn: &Yarn) -> Result<f64, Error> {
    match yarn.attention_factor {
        AttentionFactor::FromFactor => mscale(yarn.factor, 1.0),
        AttentionFactor::Explicit(given) => check_attention_factor(given),
        AttentionFactor::Ratio {
            mscale: upper,
            mscale_all_dim: lower,
        } => {
            let remedy = "take AttentionFactor::FromFactor where a file leaves one out";
            check_positive("mscale", upper, remedy)?;
            check_positive("mscale_all_dim", lower, remedy)?;
            Ok(mscale(yarn.factor, upper)? / mscale(yarn.factor, lower)?)
        }
    }
}

/// The parameters of Llama 3's scaling; the trained length is
/// `original_max_position_embeddings`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Llama3 {
    /// What long wavelengths' frequencies are divided by.
    pub factor: f64,
    /// Wavelengths above `length / low_freq_factor` are slowed in full.
    pub low_freq_factor: f64,
    /// Wavelengths below `length / high_freq_factor` are left alone.
    pub high_freq_factor: f64,
}

impl Default for Llama3 {
    /// Llama 3.1: factor 8, bounds 1 and 4.
    fn default() -> Self {
        Self {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
        }
    }
}

/// Llama 3's three bands of wavelengths: alone, blended, divided.
///
/// As in the model's published code. NTK-by-parts said in wavelengths: with bounds 1 and 4 it
/// is [`ntk_by_parts`] with `alpha` 1 and `beta` 4, to the last bit. Error: at most 2e-14,
/// as its ramp is narrower.
///
/// # Errors
///
/// [`Error::Parameter`] where `factor` is not a finite number above zero, the bounds are not
/// finite with `0 <= low_freq_factor <= high_freq_factor` (equal ones make a step), or `trained` is impossible.
///
/// ```
/// use positional_encoding::scaling::{self, Llama3, Trained};
///
/// let trained = Trained { rotary_dim: 128, base: 500_000.0, length: 8192 };
/// let scaled = scaling::llama3(&trained, &Llama3::default())?.inv_freq;
/// let plain = trained.inv_freq()?;
/// assert_eq!(scaled[..29], plain[..29]);
/// assert_eq!(scaled[35], plain[35] / 8.0);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: llama3
pub fn llama3(trained: &Trained, llama3: &Llama3) -> Result<Frequencies, Error> {
    let (low, high) = (llama3.low_freq_factor, llama3.high_freq_factor);
    let factor = llama3.factor;
    check_factor(factor)?;
    check_order(("low_freq_factor", low), ("high_freq_factor", high))?;
    let length = trained.length as f64;
    let scale = |w: f64| {
        let wavelength = TAU / w;
        if wavelength < length / high || (low == high && wavelength == length / high) {
            return w;
        }
        if wavelength > length / low {
            return w / factor;
        }
        let smooth = (length / wavelength - low) / (high - low);
        (1.0 - smooth) * w / factor + smooth * w
    };
    finished(trained.inv_freq()?.into_iter().map(scale).collect(), 1.0)
}
// ANCHOR_END: llama3

/// Where LongRoPE's factor on cosine and sine comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LongRopeAttention {
    /// From the extended length (`max_position_embeddings`) over the trained one.
    FromLength(usize),
    /// From a given `factor`.
    FromFactor(f64),
    /// The file's own `attention_factor`.
    Explicit(f64),
}

/// The parameters of LongRoPE.
#[derive(Debug, Clone, PartialEq)]
pub struct LongRope {
    /// Divides each frequency up to the trained length, shape `(rotary_dim / 2,)`.
    pub short_factor: Vec<f64>,
    /// Divides each frequency beyond it, shape `(rotary_dim / 2,)`.
    pub long_factor: Vec<f64>,
    /// The factor on cosine and sine, the same for both lists.
    pub attention: LongRopeAttention,
}

/// LongRoPE: a searched divisor for every pair, one list up to the trained length and another
/// past it.
///
/// Ding et al. 2024. The list is chosen by the **current** length, strictly: `seq_len` equal
/// to the trained length is still short. Keys rotated before the switch do not fit those after
/// it. The attention factor is `√(1 + ln s / ln length)`, 1 where `s` is at most 1. Error: at
/// most 2e-15.
///
/// # Errors
///
/// [`Error::Shape`] where a list is not `(rotary_dim / 2,)`; [`Error::Parameter`] where an
/// entry or the attention factor is not a finite number above zero, `seq_len` is zero, or
/// `trained` is impossible.
///
/// ```
/// use positional_encoding::scaling::{self, LongRope, LongRopeAttention, Trained};
///
/// let trained = Trained { rotary_dim: 4, base: 10_000.0, length: 4096 };
/// let lists = LongRope {
///     short_factor: vec![1.0, 1.0],
///     long_factor: vec![1.0, 8.0],
///     attention: LongRopeAttention::FromLength(131_072),
/// };
/// assert_eq!(scaling::longrope(&trained, &lists, 4096)?.inv_freq, [1.0, 0.01]);
/// assert_eq!(scaling::longrope(&trained, &lists, 4097)?.inv_freq, [1.0, 0.00125]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: longrope
pub fn longrope(trained: &Trained, lists: &LongRope, seq_len: usize) -> Result<Frequencies, Error> {
    check_lengths(trained, seq_len)?;
    let inv_freq = trained.inv_freq()?;
    check_list("short_factor", &lists.short_factor, inv_freq.len())?;
    check_list("long_factor", &lists.long_factor, inv_freq.len())?;
    let divisors = if seq_len > trained.length {
        &lists.long_factor
    } else {
        &lists.short_factor
    };
    let scaled = inv_freq.iter().zip(divisors).map(|(w, by)| w / by);
    let attention_factor = longrope_attention_factor(trained, lists.attention)?;
    finished(scaled.collect(), attention_factor)
}
// ANCHOR_END: longrope

fn longrope_attention_factor(
    trained: &Trained,
    attention: LongRopeAttention,
) -> Result<f64, Error> {
    let factor = match attention {
        LongRopeAttention::Explicit(given) => return check_attention_factor(given),
        LongRopeAttention::FromFactor(factor) => factor,
        LongRopeAttention::FromLength(extended) => {
            check_length("extended length", extended)?;
            extended as f64 / trained.length as f64
        }
    };
    check_factor(factor)?;
    if factor <= 1.0 {
        return Ok(1.0);
    }
    if trained.length == 1 {
        return Err(parameter(
            "length",
            1.0,
            "at least 2 to derive an attention factor",
            "give the attention factor itself",
        ));
    }
    Ok((1.0 + factor.ln() / (trained.length as f64).ln()).sqrt())
}

/// A scaling rule with its parameters, as a value: what a model file chooses.
#[derive(Debug, Clone, PartialEq)]
pub enum Scaling {
    /// The frequencies as trained.
    None,
    /// [`position_interpolation`] by this factor.
    PositionInterpolation(f64),
    /// [`ntk_aware`] by this factor.
    NtkAware(f64),
    /// [`dynamic_ntk`], the paper's form.
    DynamicNtk,
    /// [`dynamic_ntk_with_factor`], the common implementations' form, with its factor.
    DynamicNtkWithFactor(f64),
    /// [`ntk_by_parts`].
    NtkByParts(ByParts),
    /// [`yarn`].
    Yarn(Yarn),
    /// [`llama3`].
    Llama3(Llama3),
    /// [`longrope`].
    LongRope(LongRope),
}

impl Scaling {
    /// The frequencies and the attention factor at a current length.
    ///
    /// A pure function of its arguments: a short text after a long one gets the same answer as
    /// a short text alone. Only dynamic NTK and LongRoPE look at `seq_len`.
    ///
    /// # Errors
    ///
    /// Those of the rule; and [`Error::Parameter`] for a `seq_len` of zero, whatever the rule.
    ///
    /// ```
    /// use positional_encoding::scaling::{Scaling, Trained};
    ///
    /// let trained = Trained { rotary_dim: 8, base: 10_000.0, length: 16 };
    /// let frequencies = Scaling::None.frequencies(&trained, 1_000_000)?;
    /// assert_eq!(frequencies.inv_freq, trained.inv_freq()?);
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    pub fn frequencies(&self, trained: &Trained, seq_len: usize) -> Result<Frequencies, Error> {
        check_length("seq_len", seq_len)?;
        match self {
            Self::None => finished(trained.inv_freq()?, 1.0),
            Self::PositionInterpolation(factor) => position_interpolation(trained, *factor),
            Self::NtkAware(factor) => ntk_aware(trained, *factor),
            Self::DynamicNtk => dynamic_ntk(trained, seq_len),
            Self::DynamicNtkWithFactor(factor) => {
                dynamic_ntk_with_factor(trained, *factor, seq_len)
            }
            Self::NtkByParts(parts) => ntk_by_parts(trained, parts),
            Self::Yarn(parameters) => yarn(trained, parameters),
            Self::Llama3(parameters) => llama3(trained, parameters),
            Self::LongRope(lists) => longrope(trained, lists, seq_len),
        }
    }
}

fn finished(inv_freq: Vec<f64>, attention_factor: f64) -> Result<Frequencies, Error> {
    if let Some(w) = inv_freq.iter().find(|w| !w.is_finite()) {
        return Err(parameter(
            "inv_freq",
            *w,
            "finite after scaling",
            "use a factor nearer to 1",
        ));
    }
    Ok(Frequencies {
        inv_freq,
        attention_factor,
    })
}

fn parameter(name: &'static str, given: f64, allowed: &str, remedy: &str) -> Error {
    Error::Parameter {
        name,
        given: number(given),
        allowed: allowed.into(),
        remedy: remedy.into(),
    }
}

fn check_positive(name: &'static str, given: f64, remedy: &str) -> Result<(), Error> {
    if given.is_finite() && given > 0.0 {
        return Ok(());
    }
    Err(parameter(name, given, "a finite number above zero", remedy))
}

fn check_not_negative(name: &'static str, given: f64) -> Result<(), Error> {
    if given.is_finite() && given >= 0.0 {
        return Ok(());
    }
    let remedy = "use 1 for the paper's factor, 0 for none";
    Err(parameter(
        name,
        given,
        "a finite number from zero up",
        remedy,
    ))
}

fn check_factor(factor: f64) -> Result<(), Error> {
    let remedy = "give the extended length over the trained one, 1 to change nothing";
    check_positive("factor", factor, remedy)
}

fn check_attention_factor(given: f64) -> Result<f64, Error> {
    check_positive("attention_factor", given, "use 1 for no temperature")?;
    Ok(given)
}

fn check_length(name: &'static str, length: usize) -> Result<(), Error> {
    if length > 0 {
        return Ok(());
    }
    let remedy = "count positions, starting with one for the first token";
    Err(parameter(name, 0.0, "at least 1", remedy))
}

fn check_lengths(trained: &Trained, seq_len: usize) -> Result<(), Error> {
    check_length("length", trained.length)?;
    check_length("seq_len", seq_len)
}

fn check_two_pairs(rotary_dim: usize) -> Result<(), Error> {
    if rotary_dim >= 4 {
        return Ok(());
    }
    let remedy = "with one pair, use position interpolation: there is no other to leave alone";
    Err(parameter(
        "rotary_dim",
        rotary_dim as f64,
        "at least 4",
        remedy,
    ))
}

fn check_bounds(low: (&'static str, f64), high: (&'static str, f64)) -> Result<(), Error> {
    if low.1.is_finite() && high.1.is_finite() && 0.0 <= low.1 && low.1 < high.1 {
        return Ok(());
    }
    Err(Error::Parameter {
        name: low.0,
        given: format!("{} with {} {}", number(low.1), high.0, number(high.1)),
        allowed: format!("finite, not negative and below {}", high.0),
        remedy: "check that the two are not exchanged: they count turns, the smaller for slow \
                 pairs"
            .into(),
    })
}

/// Bounds that may be equal: the blend between them is then a step.
fn check_order(low: (&'static str, f64), high: (&'static str, f64)) -> Result<(), Error> {
    if low.1 == high.1 && low.1.is_finite() && low.1 >= 0.0 {
        return Ok(());
    }
    check_bounds(low, high)
}

fn check_falling(trained: &Trained) -> Result<(), Error> {
    trained.inv_freq()?;
    if trained.base > 1.0 {
        return Ok(());
    }
    let remedy = "use the model's rope_theta; 10000 in the paper";
    Err(parameter(
        "base",
        trained.base,
        "above 1 to order pairs by their turns",
        remedy,
    ))
}

fn check_band(trained: &Trained, low: f64, high: f64) -> Result<(), Error> {
    if low <= high {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "length",
        given: trained.length.to_string(),
        allowed: "a length over which the pairs' turns reach the bounds".into(),
        remedy: format!(
            "lower beta_slow or raise beta_fast: the ramp would run from pair {low} to {high}"
        ),
    })
}

fn check_list(name: &'static str, list: &[f64], pairs: usize) -> Result<(), Error> {
    if list.len() != pairs {
        return Err(Error::Shape {
            name,
            given: vec![list.len()],
            expected: format!("(rotary_dim / 2,) = ({pairs},)"),
            remedy: "give one divisor for each pair, the fastest first".into(),
        });
    }
    list.iter()
        .try_for_each(|by| check_positive(name, *by, "use 1 to leave a pair alone"))
}

/// What a decoder keeps of every token it has read: one key and one value for each
/// key-value head of each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KvCache {
    /// Layers that attend.
    pub layers: usize,
    /// Key-value heads of a layer; fewer than the query heads where heads share them.
    pub kv_heads: usize,
    /// Entries of one head.
    pub head_dim: usize,
    /// Bytes of one number: 2 for bf16 and f16, 4 for f32.
    pub bytes_per_number: usize,
}

impl KvCache {
    /// The bytes that `seq_len` tokens of one sequence take.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where the product does not fit 64 bits.
    ///
    /// ```
    /// use positional_encoding::scaling::KvCache;
    ///
    /// let llama2 = KvCache { layers: 32, kv_heads: 32, head_dim: 128, bytes_per_number: 2 };
    /// assert_eq!(llama2.bytes(1)?, 512 * 1024);
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    // ANCHOR: kv_cache
    pub fn bytes(&self, seq_len: usize) -> Result<u64, Error> {
        let key_and_value = 2;
        [
            self.layers,
            self.kv_heads,
            self.head_dim,
            self.bytes_per_number,
            seq_len,
        ]
        .iter()
        .try_fold(key_and_value, |bytes: u64, n| bytes.checked_mul(*n as u64))
        .ok_or_else(|| too_large(seq_len))
    }
    // ANCHOR_END: kv_cache
}

fn too_large(seq_len: usize) -> Error {
    let remedy = "check the model's numbers: no machine holds this cache";
    parameter(
        "seq_len",
        seq_len as f64,
        "such that the bytes fit 64 bits",
        remedy,
    )
}
