//! Rotary position embedding: rotate query and key by an angle proportional to their position.
//!
//! The score of a query at position `m` and a key at position `n` is then `qᵀ R(n − m) k`: the
//! contents and the offset, and nothing of `m` or `n` alone. Su et al. 2021, equations 14 to 16
//! and 34.
//!
//! A head of `head_dim` entries has `rotary_dim ≤ head_dim` entries that turn, in pairs; which two
//! entries are a pair is the [`Layout`]. Pair `i` turns by `position · inv_freq[i]` radians,
//! anticlockwise.

use ndarray::{Array3, ArrayViewMut1};

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

impl Layout {
    // ANCHOR: layout
    /// The two entries that pair `i` of `pairs` consists of.
    ///
    /// ```
    /// use positional_encoding::rope::Layout;
    /// assert_eq!(Layout::Interleaved.pair(1, 4), [2, 3]);
    /// assert_eq!(Layout::Half.pair(1, 4), [1, 5]);
    /// ```
    pub fn pair(self, i: usize, pairs: usize) -> [usize; 2] {
        match self {
            Layout::Interleaved => [2 * i, 2 * i + 1],
            Layout::Half => [i, i + pairs],
        }
    }
    // ANCHOR_END: layout
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
    check_even("rotary_dim", rotary_dim)?;
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

/// Turns a vector of the plane anticlockwise by `angle` radians. Its length stays.
///
/// Su et al. 2021, equation 13.
///
/// ```
/// use positional_encoding::rope::rotate_pair;
/// let [x, y] = rotate_pair([1.0, 0.0], std::f64::consts::FRAC_PI_2);
/// approx::assert_abs_diff_eq!(x, 0.0, epsilon = 1e-15);
/// approx::assert_abs_diff_eq!(y, 1.0, epsilon = 1e-15);
/// ```
// ANCHOR: rotate_pair
pub fn rotate_pair([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [x * cos - y * sin, x * sin + y * cos]
}
// ANCHOR_END: rotate_pair

/// Rotates one head in place to `position`: pair `i` turns by `position · inv_freq[i]`.
///
/// `x` has shape `(head_dim,)`; its first `2 · inv_freq.len()` entries turn and the rest stay
/// (partial rotary). Su et al. 2021, equation 34.
///
/// # Errors
///
/// [`Error::Shape`] where there are more frequencies than pairs in `x`.
///
/// ```
/// use positional_encoding::rope::{Layout, inv_freq, rotate};
/// let mut x = [1.0, 2.0, 3.0, 4.0];
/// rotate(&mut x, 0, &inv_freq(4, 10_000.0)?, Layout::Half)?;
/// assert_eq!(x, [1.0, 2.0, 3.0, 4.0], "position 0 is not rotated");
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: rotate
pub fn rotate(
    x: &mut [f64],
    position: usize,
    inv_freq: &[f64],
    layout: Layout,
) -> Result<(), Error> {
    check_width("x", x.len(), inv_freq.len())?;
    for (i, frequency) in inv_freq.iter().enumerate() {
        let [a, b] = layout.pair(i, inv_freq.len());
        let angle = position as f64 * frequency;
        [x[a], x[b]] = rotate_pair([x[a], x[b]], angle);
    }
    Ok(())
}
// ANCHOR_END: rotate

/// Rotates a batch in place: row `s` of `x` to `positions[s]`, all its heads alike.
///
/// `x` has shape `(seq_len, heads, head_dim)`, queries or keys, and `positions` shape
/// `(seq_len,)`. The positions are the caller's to say: `5..9` for the tokens after a cache of
/// five, a count of the real tokens for a padded row, a fresh start for each document of a packed
/// one.
///
/// # Errors
///
/// [`Error::Shape`] where `positions` has another length than `x` has rows, or there are more
/// frequencies than pairs in a head.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::rope::{Layout, apply};
/// let mut x = array![[[1.0, 0.0], [0.0, 2.0]]];
/// apply(&mut x, &[1], &[std::f64::consts::PI], Layout::Interleaved)?;
/// approx::assert_abs_diff_eq!(x[[0, 0, 0]], -1.0, epsilon = 1e-15);
/// approx::assert_abs_diff_eq!(x[[0, 1, 1]], -2.0, epsilon = 1e-15);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: apply
pub fn apply(
    x: &mut Array3<f64>,
    positions: &[usize],
    inv_freq: &[f64],
    layout: Layout,
) -> Result<(), Error> {
    let (seq_len, _, head_dim) = x.dim();
    check_length("positions", positions.len(), seq_len)?;
    check_width("x", head_dim, inv_freq.len())?;
    for (mut heads, &position) in x.outer_iter_mut().zip(positions) {
        let turn = turns(position as f64, inv_freq);
        for head in heads.outer_iter_mut() {
            turn_pairs(head, &turn, layout);
        }
    }
    Ok(())
}
// ANCHOR_END: apply

// ANCHOR: turns
/// `(cos, sin)` of the angle of each pair.
fn turns(position: f64, inv_freq: &[f64]) -> Vec<[f64; 2]> {
    inv_freq
        .iter()
        .map(|frequency| (position * frequency).sin_cos())
        .map(|(sin, cos)| [cos, sin])
        .collect()
}

fn turn_pairs(mut head: ArrayViewMut1<f64>, turns: &[[f64; 2]], layout: Layout) {
    for (i, [cos, sin]) in turns.iter().enumerate() {
        let [a, b] = layout.pair(i, turns.len());
        let (x, y) = (head[a], head[b]);
        head[a] = x * cos - y * sin;
        head[b] = x * sin + y * cos;
    }
}
// ANCHOR_END: turns

fn check_even(name: &'static str, given: usize) -> Result<(), Error> {
    if given == 0 || !given.is_multiple_of(2) {
        return Err(Error::Parameter {
            name,
            given: given.to_string(),
            allowed: "an even number above zero".into(),
            remedy: "rotate an even number of entries, or leave the last one out".into(),
        });
    }
    Ok(())
}

fn check_width(name: &'static str, head_dim: usize, pairs: usize) -> Result<(), Error> {
    if head_dim < 2 * pairs {
        return Err(Error::Shape {
            name,
            given: vec![head_dim],
            expected: format!("(head_dim,) with head_dim at least {}", 2 * pairs),
            remedy: "make inv_freq for the rotary width of this head".into(),
        });
    }
    Ok(())
}

fn check_length(name: &'static str, given: usize, seq_len: usize) -> Result<(), Error> {
    if given != seq_len {
        return Err(Error::Shape {
            name,
            given: vec![given],
            expected: format!("(seq_len,) = ({seq_len},)"),
            remedy: "give one position for each row of x".into(),
        });
    }
    Ok(())
}
