//! Rotary position embedding: rotate query and key by an angle proportional to their position.

use crate::Error;

/// Which two entries of a head form the pair that is rotated together.
///
/// The field uses both, each with weights made for it; they differ by a fixed permutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Neighbours: pair `i` is entries `(2i, 2i + 1)`. The paper, GPT-J, Meta's Llama code.
    Interleaved,
    /// Halves: pair `i` is entries `(i, i + rotary_dim / 2)`. GPT-NeoX and Hugging Face.
    Half,
}

/// The frequencies `base^(-2i / rotary_dim)`, in radians per position, fastest first.
///
/// Shape `(rotary_dim / 2,)`. Su et al. 2021, section 3.2.2.
///
/// # Errors
///
/// [`Error::Parameter`] where `rotary_dim` is odd or zero, or `base` is not a finite number
/// above zero.
///
/// ```
/// let inv_freq = positional_encoding::rope::inv_freq(4, 10_000.0)?;
/// assert_eq!(inv_freq[0], 1.0);
/// approx::assert_relative_eq!(inv_freq[1], 0.01, max_relative = 1e-15);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn inv_freq(rotary_dim: usize, base: f64) -> Result<Vec<f64>, Error> {
    if rotary_dim == 0 || !rotary_dim.is_multiple_of(2) {
        return Err(Error::Parameter {
            name: "rotary_dim",
            given: rotary_dim.to_string(),
            allowed: "an even number above zero".into(),
            remedy: "rotate an even number of entries, or leave the last one out".into(),
        });
    }
    if !(base.is_finite() && base > 0.0) {
        return Err(Error::Parameter {
            name: "base",
            given: base.to_string(),
            allowed: "a finite number above zero".into(),
            remedy: "use the model's rope_theta, 10000 in the paper".into(),
        });
    }
    Ok((0..rotary_dim / 2)
        .map(|i| base.powf(-2.0 * i as f64 / rotary_dim as f64))
        .collect())
}
