//! Sinusoidal positional encoding: a stamp of sines and cosines, added to the embedding.
//!
//! Every function here is [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.5,
//! or follows from it. For position `pos` and pair `i` of a model `d_model` wide,
//!
//! ```text
//! PE(pos, 2i)     = sin(pos * inv_freq[i])
//! PE(pos, 2i + 1) = cos(pos * inv_freq[i])      inv_freq[i] = 10000^(-2i / d_model)
//! ```
//!
//! An odd `d_model` keeps this layout and stops early: its last sine has no cosine beside it.
//! Two laws need every cosine, so [`shift_matrix`] and [`table_by_rotation`] refuse odd widths.
//!
//! Positions are exact up to 2^53. The angle `pos * inv_freq[i]` is rounded once, and the
//! frequency before it, so the entries of position `pos` are within about `pos * 2.3e-16` of the
//! true ones: 3e-11 at position 131,072.

use std::f64::consts::TAU;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, s};

use crate::Error;

/// The paper's base: the slowest pair turns almost this many times more slowly than the fastest.
pub const BASE: f64 = 10_000.0;

/// The largest number of entries that one call fills: 2^27, a table of 1 GiB.
///
/// It holds 131,072 positions 1,024 wide. A larger request is taken for a mistake and answered
/// with an error rather than with the end of the machine's memory.
pub const MAX_ENTRIES: usize = 1 << 27;

/// The frequencies `10000^(-2i / d_model)`, in radians per position, fastest first.
///
/// Shape `(d_model / 2,)`, rounded up where `d_model` is odd: the last sine has a frequency too.
/// Vaswani et al. 2017, section 3.5.
///
/// Error: a relative 1.3e-15 at most against 100-digit arithmetic, for the rounding of the exponent
/// is magnified by `ln 10000`; and at most 1.2e-16 in radians per position.
///
/// # Errors
///
/// [`Error::Parameter`] where `d_model` is zero or above [`MAX_ENTRIES`].
///
/// ```
/// // Four clock hands, each ten times slower than the one before.
/// let inv_freq = positional_encoding::sinusoidal::inv_freq(8)?;
/// for (frequency, expected) in inv_freq.iter().zip([1.0, 0.1, 0.01, 0.001]) {
///     approx::assert_relative_eq!(*frequency, expected, max_relative = 1e-15);
/// }
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn inv_freq(d_model: usize) -> Result<Vec<f64>, Error> {
    check_width(d_model, MAX_ENTRIES)?;
    let width = d_model as f64;
    // ANCHOR: inv_freq
    let pairs = d_model.div_ceil(2);
    let inv_freq = (0..pairs)
        .map(|i| BASE.powf(-2.0 * i as f64 / width))
        .collect();
    // ANCHOR_END: inv_freq
    Ok(inv_freq)
}

/// How many positions each pair needs for one turn, `2 pi / inv_freq[i]`, shortest first.
///
/// Shape `(d_model / 2,)`, rounded up. The shortest is always 2 pi; the longest is
/// `2 pi * 10000^((d_model - 2) / d_model)` for even `d_model`, never quite `10000 * 2 pi`.
///
/// # Errors
///
/// [`Error::Parameter`] where `d_model` is zero or above [`MAX_ENTRIES`].
///
/// ```
/// let longest = *positional_encoding::sinusoidal::wavelengths(512)?.last().unwrap();
/// assert_eq!(longest.round(), 60_611.0); // not 62,832 = 10000 * 2 pi
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn wavelengths(d_model: usize) -> Result<Vec<f64>, Error> {
    Ok(inv_freq(d_model)?.iter().map(|w| TAU / w).collect())
}

/// The encoding of one position: the paper's formula, pair by pair.
///
/// Shape `(d_model,)`, interleaved: entries `2i` and `2i + 1` are the sine and cosine of pair `i`.
/// Vaswani et al. 2017, section 3.5.
///
/// Error: at most `position * 2.3e-16 + 2.3e-16` against 100-digit arithmetic for positions up to
/// one million, since the frequency and the angle are each rounded once; 1.4e-10 is the largest
/// seen.
///
/// # Errors
///
/// [`Error::Parameter`] where `d_model` is zero or above [`MAX_ENTRIES`].
///
/// ```
/// // At position 0 every hand points the same way: sine 0, cosine 1.
/// let start = positional_encoding::sinusoidal::encoding(0, 6)?;
/// assert_eq!(start.to_vec(), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: encoding
pub fn encoding(position: usize, d_model: usize) -> Result<Array1<f64>, Error> {
    let inv_freq = inv_freq(d_model)?;
    let mut encoding = Array1::zeros(d_model);
    for (i, frequency) in inv_freq.iter().enumerate() {
        let angle = position as f64 * frequency;
        encoding[2 * i] = angle.sin();
        if 2 * i + 1 < d_model {
            encoding[2 * i + 1] = angle.cos();
        }
    }
    Ok(encoding)
}
// ANCHOR_END: encoding

/// The encodings of positions `0..seq_len`, one a row.
///
/// Shape `(seq_len, d_model)`; row `p` equals [`encoding`]`(p, d_model)`, and its error with it.
///
/// # Errors
///
/// [`Error::Parameter`] where a size is zero or the table has more than [`MAX_ENTRIES`] entries.
///
/// ```
/// use positional_encoding::sinusoidal::{encoding, table};
///
/// assert_eq!(table(10, 7)?.row(9), encoding(9, 7)?);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: table
pub fn table(seq_len: usize, d_model: usize) -> Result<Array2<f64>, Error> {
    check_size(seq_len, d_model)?;
    let inv_freq = Array1::from(inv_freq(d_model)?);
    let positions = Array1::from_iter((0..seq_len).map(|p| p as f64));
    let angles = &positions.insert_axis(Axis(1)) * &inv_freq;

    let mut table = Array2::zeros((seq_len, d_model));
    let mut sines = table.slice_mut(s![.., 0..;2]);
    sines.zip_mut_with(&angles, |sine, angle| *sine = angle.sin());
    let angles = angles.slice(s![.., ..d_model / 2]);
    let mut cosines = table.slice_mut(s![.., 1..;2]);
    cosines.zip_mut_with(&angles, |cosine, angle| *cosine = angle.cos());
    Ok(table)
}
// ANCHOR_END: table

/// The matrix `M_k` that carries every encoding `offset` positions on: `M_k PE(pos) = PE(pos + k)`.
///
/// Shape `(d_model, d_model)`: zero but for one block a pair, which turns that pair clockwise in
/// the (sine, cosine) plane by `offset * inv_freq[i]`, wherever it stood. A negative offset
/// turns it back.
///
/// # Errors
///
/// [`Error::Parameter`] where `d_model` is zero or odd (a sine without its cosine cannot be
/// turned) or the matrix has more than [`MAX_ENTRIES`] entries.
///
/// ```
/// use positional_encoding::sinusoidal::{encoding, shift_matrix};
///
/// let three_on = shift_matrix(3, 8)?;
/// for position in [0, 5, 1000] {
///     let difference = three_on.dot(&encoding(position, 8)?) - encoding(position + 3, 8)?;
///     assert!(difference.iter().all(|entry| entry.abs() < 1e-12));
/// }
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: shift_matrix
pub fn shift_matrix(offset: i64, d_model: usize) -> Result<Array2<f64>, Error> {
    check_width(d_model, MAX_ENTRIES.isqrt())?;
    check_even(d_model)?;
    let mut matrix = Array2::zeros((d_model, d_model));
    for (i, frequency) in inv_freq(d_model)?.iter().enumerate() {
        let (sin, cos) = (offset as f64 * frequency).sin_cos();
        matrix[[2 * i, 2 * i]] = cos;
        matrix[[2 * i, 2 * i + 1]] = sin;
        matrix[[2 * i + 1, 2 * i]] = -sin;
        matrix[[2 * i + 1, 2 * i + 1]] = cos;
    }
    Ok(matrix)
}
// ANCHOR_END: shift_matrix

/// The dot product of any two encodings `offset` positions apart: the sum of `cos(offset * w)`.
///
/// `inv_freq` holds the frequencies `w` of the complete pairs, from [`inv_freq()`] with an even
/// `d_model` or, for another base, from [`rope::inv_freq`](crate::rope::inv_freq). The positions
/// themselves do not enter, and neither does the sign of the offset.
///
/// ```
/// use positional_encoding::sinusoidal::{dot_product, encoding, inv_freq};
///
/// let by_offset = dot_product(2, &inv_freq(512)?);
/// let by_hand = encoding(300, 512)?.dot(&encoding(302, 512)?);
/// approx::assert_abs_diff_eq!(by_offset, by_hand, epsilon = 1e-9);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: dot_product
pub fn dot_product(offset: i64, inv_freq: &[f64]) -> f64 {
    inv_freq.iter().map(|w| (offset as f64 * w).cos()).sum()
}
// ANCHOR_END: dot_product

/// One score taken apart: who asks (content, position) by who answers (content, position).
///
/// `query` and `key` are each a content vector and a position vector of shape `(d_model,)`;
/// `w_query` and `w_key` have shape `(head_dim, d_model)`. With `x + p` for the query's token and
/// `x' + p'` for the key's, the score `(W_q (x + p)) . (W_k (x' + p'))` is the sum of the four
/// returned terms, `[[x.x', x.p'], [p.x', p.p']]`, each taken through the two matrices and none
/// divided by `sqrt(head_dim)`. The expansion is Dai et al. 2019, section 3.3.
///
/// # Errors
///
/// [`Error::Shape`] where a vector or a matrix does not fit the others.
///
/// ```
/// use ndarray::{Array2, array};
/// use positional_encoding::sinusoidal::score_terms;
///
/// let (x, p) = (array![2.0, 0.0], array![0.0, 1.0]);
/// let plain = Array2::eye(2);
/// let pair = [x.view(), p.view()];
/// let terms = score_terms(pair, pair, plain.view(), plain.view())?;
/// assert_eq!(terms, [[4.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn score_terms(
    query: [ArrayView1<f64>; 2],
    key: [ArrayView1<f64>; 2],
    w_query: ArrayView2<f64>,
    w_key: ArrayView2<f64>,
) -> Result<[[f64; 2]; 2], Error> {
    check_matrix("w_key", w_key, w_query.dim())?;
    for part in query.iter().chain(&key) {
        check_vector("query and key", *part, w_query.ncols())?;
    }
    // ANCHOR: score_terms
    let term = |from: ArrayView1<f64>, to: ArrayView1<f64>| w_query.dot(&from).dot(&w_key.dot(&to));
    let [x, p] = query;
    let [x_key, p_key] = key;
    Ok([
        [term(x, x_key), term(x, p_key)],
        [term(p, x_key), term(p, p_key)],
    ])
    // ANCHOR_END: score_terms
}

/// What enters the first layer: `embedding * sqrt(d_model) + PE(position)`, row by row.
///
/// `embedding` and the result have shape `(seq_len, d_model)`; `positions` says where each row
/// stands, so a continued sequence or a padded batch is the caller's to describe. In training the
/// paper applies dropout to the sum. Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.
///
/// # Errors
///
/// [`Error::Shape`] where `positions` and `embedding` differ in length, [`Error::Parameter`] where
/// the embedding has no rows, no columns or more than [`MAX_ENTRIES`] entries.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::sinusoidal::{add_to_embedding, encoding};
///
/// // The second token of a sequence, arriving alone: it is still at position 1.
/// let input = add_to_embedding(array![[0.5, -0.5, 0.25, 0.0]].view(), &[1])?;
/// let expected = array![0.5, -0.5, 0.25, 0.0] * 2.0 + encoding(1, 4)?;
/// assert_eq!(input.row(0), expected);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: add_to_embedding
pub fn add_to_embedding(
    embedding: ArrayView2<f64>,
    positions: &[usize],
) -> Result<Array2<f64>, Error> {
    let (seq_len, d_model) = embedding.dim();
    check_size(seq_len, d_model)?;
    check_positions(positions, seq_len)?;
    let mut sum = &embedding * (d_model as f64).sqrt();
    for (mut row, &position) in sum.rows_mut().into_iter().zip(positions) {
        row += &encoding(position, d_model)?;
    }
    Ok(sum)
}
// ANCHOR_END: add_to_embedding

/// The number of rows that [`table_by_rotation`] derives from one exact row.
pub const BLOCK: usize = 256;

/// The same table as [`table`], by rotating instead of calling sine and cosine for every entry.
///
/// Shape `(seq_len, d_model)`. Row `a + k` is row `a` turned by `k` steps, and the sines and
/// cosines of that turn are row `k` itself. So the first [`BLOCK`] rows and every [`BLOCK`]th row
/// are computed directly, and each other row is one multiplication away from a direct one: errors
/// do not build up. No entry is further from [`table`] than the rounding of the angle itself,
/// 3e-11 at position 131,072.
///
/// Error: at most `position * 1.2e-16 + 3e-14` against 100-digit arithmetic for positions up to one
/// million, half of what [`table`] may be off by. The frequency is rounded here too, but the angle
/// of a directly computed row is not.
///
/// # Errors
///
/// [`Error::Parameter`] where a size is zero, `d_model` is odd, or the table has more than
/// [`MAX_ENTRIES`] entries.
///
/// ```
/// use positional_encoding::sinusoidal::{table, table_by_rotation};
///
/// let difference = table_by_rotation(5_000, 32)? - table(5_000, 32)?;
/// assert!(difference.iter().all(|entry| entry.abs() < 1e-12));
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: table_by_rotation
pub fn table_by_rotation(seq_len: usize, d_model: usize) -> Result<Array2<f64>, Error> {
    check_size(seq_len, d_model)?;
    check_even(d_model)?;
    let inv_freq = inv_freq(d_model)?;
    let shifts = table(seq_len.min(BLOCK), d_model)?;
    let mut table = Array2::zeros((seq_len, d_model));
    for (block, mut rows) in table.axis_chunks_iter_mut(Axis(0), BLOCK).enumerate() {
        let anchor = anchor(block * BLOCK, &inv_freq);
        for (row, shift) in rows.rows_mut().into_iter().zip(shifts.rows()) {
            turn(anchor.view(), shift, row);
        }
    }
    Ok(table)
}
// ANCHOR_END: table_by_rotation

/// The encoding of one position, with what the rounding of each angle took put back.
// ANCHOR: anchor
pub(crate) fn anchor(position: usize, inv_freq: &[f64]) -> Array1<f64> {
    let position = position as f64;
    let mut anchor = Array1::zeros(2 * inv_freq.len());
    for (i, &frequency) in inv_freq.iter().enumerate() {
        let angle = position * frequency;
        let lost = position.mul_add(frequency, -angle);
        let (sin, cos) = angle.sin_cos();
        anchor[2 * i] = sin + lost * cos;
        anchor[2 * i + 1] = cos - lost * sin;
    }
    anchor
}
// ANCHOR_END: anchor

/// Writes the encoding of `a + k` from those of `a` and `k`, by the addition theorems.
// ANCHOR: turn
fn turn(a: ArrayView1<f64>, k: ArrayView1<f64>, mut row: ArrayViewMut1<f64>) {
    for i in 0..row.len() / 2 {
        let (sin_a, cos_a) = (a[2 * i], a[2 * i + 1]);
        let (sin_k, cos_k) = (k[2 * i], k[2 * i + 1]);
        row[2 * i] = sin_a * cos_k + cos_a * sin_k;
        row[2 * i + 1] = cos_a * cos_k - sin_a * sin_k;
    }
}
// ANCHOR_END: turn

/// The frequencies of Tensor2Tensor, the first published code: `10000^(-i / (n - 1))`.
///
/// Shape `(n,)` with `n = d_model / 2` rounded down. The exponent is spread over `n - 1` steps
/// where the paper spreads it over `n`, so the slowest frequency is exactly 1/10000. The single
/// frequency of `n = 1` is 1.
///
/// # Errors
///
/// [`Error::Parameter`] where `d_model` is below 2 or above [`MAX_ENTRIES`].
///
/// ```
/// let inv_freq = positional_encoding::sinusoidal::tensor2tensor_inv_freq(512)?;
/// approx::assert_relative_eq!(inv_freq[255], 1e-4, max_relative = 1e-14);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn tensor2tensor_inv_freq(d_model: usize) -> Result<Vec<f64>, Error> {
    check_width(d_model, MAX_ENTRIES)?;
    let pairs = d_model / 2;
    if pairs == 0 {
        return Err(Error::Parameter {
            name: "d_model",
            given: d_model.to_string(),
            allowed: "at least 2 in Tensor2Tensor's layout".into(),
            remedy: "give it room for one sine and one cosine".into(),
        });
    }
    let steps = (pairs - 1).max(1) as f64;
    Ok((0..pairs).map(|i| BASE.powf(-(i as f64) / steps)).collect())
}

/// The encoding of one position in Tensor2Tensor's layout: all sines, then all cosines.
///
/// Shape `(d_model,)`; where `d_model` is odd the last entry is zero. The frequencies are those of
/// [`tensor2tensor_inv_freq`], so this is **not** a permutation of [`encoding`]. Error: as there.
///
/// # Errors
///
/// [`Error::Parameter`] where `d_model` is below 2 or above [`MAX_ENTRIES`].
///
/// ```
/// use positional_encoding::sinusoidal::tensor2tensor_encoding;
///
/// let stamp = tensor2tensor_encoding(0, 5)?;
/// assert_eq!(stamp.to_vec(), [0.0, 0.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: tensor2tensor_encoding
pub fn tensor2tensor_encoding(position: usize, d_model: usize) -> Result<Array1<f64>, Error> {
    let inv_freq = tensor2tensor_inv_freq(d_model)?;
    let pairs = inv_freq.len();
    let mut encoding = Array1::zeros(d_model);
    for (i, frequency) in inv_freq.iter().enumerate() {
        let angle = position as f64 * frequency;
        encoding[i] = angle.sin();
        encoding[pairs + i] = angle.cos();
    }
    Ok(encoding)
}
// ANCHOR_END: tensor2tensor_encoding

/// A first idea that fails: the position scaled to between 0 and 1, `position / (seq_len - 1)`.
///
/// The step from one word to the next then depends on the length of the text. A single position
/// has scale 0.
///
/// # Errors
///
/// [`Error::Position`] where `position` is not below `seq_len`.
///
/// ```
/// use positional_encoding::sinusoidal::scaled_position;
///
/// // The same word, second in a text of 3 and in a text of 101.
/// assert_eq!(scaled_position(1, 3)?, 0.5);
/// assert_eq!(scaled_position(1, 101)?, 0.01);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn scaled_position(position: usize, seq_len: usize) -> Result<f64, Error> {
    if position >= seq_len {
        return Err(Error::Position {
            position,
            length: seq_len,
        });
    }
    Ok(position as f64 / (seq_len - 1).max(1) as f64)
}

/// A first idea that almost works: the position's binary digits, the fastest wheel first.
///
/// Shape `(digits,)`, each 0 or 1: digit `i` flips every `2^i` positions.
///
/// # Errors
///
/// [`Error::Parameter`] where `digits` is zero or above 64; [`Error::Position`] where the
/// position has more digits than that.
///
/// ```
/// use positional_encoding::sinusoidal::binary_digits;
///
/// assert_eq!(binary_digits(6, 4)?, [0, 1, 1, 0]); // 6 = 0·1 + 1·2 + 1·4 + 0·8
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn binary_digits(position: usize, digits: u32) -> Result<Vec<u8>, Error> {
    if !(1..=64).contains(&digits) {
        return Err(Error::Parameter {
            name: "digits",
            given: digits.to_string(),
            allowed: "from 1 to 64".into(),
            remedy: "use as many digits as the longest text needs: 10 for 1024 positions".into(),
        });
    }
    let wheels = position as u128;
    if wheels >= 1 << digits {
        return Err(Error::Position {
            position,
            length: 1 << digits,
        });
    }
    // ANCHOR: binary_digits
    let wheel = |i| u8::from(wheels >> i & 1 == 1);
    Ok((0..digits).map(wheel).collect())
    // ANCHOR_END: binary_digits
}

fn check_size(seq_len: usize, d_model: usize) -> Result<(), Error> {
    check_width(d_model, MAX_ENTRIES)?;
    let limit = MAX_ENTRIES / d_model;
    if (1..=limit).contains(&seq_len) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "seq_len",
        given: seq_len.to_string(),
        allowed: format!("from 1 to {limit} where d_model is {d_model}"),
        remedy: "encode a long text a part at a time, an empty one not at all".into(),
    })
}

fn check_width(d_model: usize, limit: usize) -> Result<(), Error> {
    if (1..=limit).contains(&d_model) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "d_model",
        given: d_model.to_string(),
        allowed: format!("from 1 to {limit}"),
        remedy: "use the model's width, 512 in the paper".into(),
    })
}

fn check_even(d_model: usize) -> Result<(), Error> {
    if d_model.is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "d_model",
        given: d_model.to_string(),
        allowed: "an even number".into(),
        remedy: "use an even width, whose every sine has the cosine it is turned with".into(),
    })
}

fn check_positions(positions: &[usize], seq_len: usize) -> Result<(), Error> {
    if positions.len() == seq_len {
        return Ok(());
    }
    Err(Error::Shape {
        name: "positions",
        given: vec![positions.len()],
        expected: format!("({seq_len},), one position for each row of the embedding"),
        remedy: "give every token its position, padding included".into(),
    })
}

fn check_matrix(
    name: &'static str,
    matrix: ArrayView2<f64>,
    expected: (usize, usize),
) -> Result<(), Error> {
    if matrix.dim() == expected {
        return Ok(());
    }
    Err(Error::Shape {
        name,
        given: matrix.shape().to_vec(),
        expected: format!("{expected:?}, the shape of w_query"),
        remedy: "give both matrices the shape (head_dim, d_model)".into(),
    })
}

fn check_vector(name: &'static str, vector: ArrayView1<f64>, d_model: usize) -> Result<(), Error> {
    if vector.len() == d_model {
        return Ok(());
    }
    Err(Error::Shape {
        name,
        given: vector.shape().to_vec(),
        expected: format!("({d_model},), one entry for each column of w_query"),
        remedy: "give every content and position vector d_model entries".into(),
    })
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::*;

    fn named(result: Result<impl std::fmt::Debug, Error>) -> &'static str {
        match result.expect_err("an error") {
            Error::Parameter { name, .. } | Error::Shape { name, .. } => name,
            Error::Position { .. } => "position",
            other => panic!("an error of another kind: {other}"),
        }
    }

    #[test]
    fn no_width_and_no_position_are_errors() {
        assert_eq!(named(inv_freq(0)), "d_model");
        assert_eq!(named(wavelengths(0)), "d_model");
        assert_eq!(named(encoding(3, 0)), "d_model");
        assert_eq!(named(table(4, 0)), "d_model");
        assert_eq!(named(table(0, 4)), "seq_len");
        assert_eq!(named(table_by_rotation(0, 4)), "seq_len");
        assert_eq!(named(shift_matrix(1, 0)), "d_model");
        assert_eq!(named(tensor2tensor_encoding(1, 0)), "d_model");
        assert_eq!(named(tensor2tensor_encoding(1, 1)), "d_model");
        let nothing = Array2::zeros((0, 4));
        assert_eq!(named(add_to_embedding(nothing.view(), &[])), "seq_len");
    }

    #[test]
    fn sizes_beyond_memory_are_errors() {
        for size in [MAX_ENTRIES + 2, usize::MAX - 1] {
            assert_eq!(named(inv_freq(size)), "d_model");
            assert_eq!(named(encoding(0, size)), "d_model");
            assert_eq!(named(table(size, 1)), "seq_len");
            assert_eq!(named(table(size, size)), "d_model");
            assert_eq!(named(table_by_rotation(size, 2)), "seq_len");
            assert_eq!(named(shift_matrix(1, size)), "d_model");
            assert_eq!(named(tensor2tensor_inv_freq(size)), "d_model");
        }
        assert_eq!(named(shift_matrix(1, 11_586)), "d_model");
    }

    #[test]
    fn the_largest_size_is_allowed() {
        assert!(check_width(MAX_ENTRIES, MAX_ENTRIES).is_ok());
        assert!(check_size(131_072, 1_024).is_ok());
        assert!(check_size(131_072, 1_025).is_err());
    }

    #[test]
    fn odd_widths_cannot_be_turned() {
        assert_eq!(named(shift_matrix(1, 7)), "d_model");
        assert_eq!(named(table_by_rotation(4, 7)), "d_model");
    }

    #[test]
    fn shapes_that_do_not_fit_are_named() {
        let embedding = Array2::zeros((3, 4));
        assert_eq!(
            named(add_to_embedding(embedding.view(), &[0, 1])),
            "positions"
        );
        let (four, five) = (Array1::zeros(4), Array1::zeros(5));
        let (right, wrong) = (Array2::zeros((2, 4)), Array2::zeros((2, 5)));
        let terms = |x: &Array1<f64>, w: &Array2<f64>| {
            let good = [four.view(), four.view()];
            score_terms([four.view(), x.view()], good, right.view(), w.view())
        };
        assert!(terms(&four, &right).is_ok());
        assert_eq!(named(terms(&five, &right)), "query and key");
        assert_eq!(named(terms(&four, &wrong)), "w_key");
    }

    #[test]
    fn first_ideas_name_the_position_they_have_no_room_for() {
        assert_eq!(named(scaled_position(5, 5)), "position");
        assert_eq!(named(scaled_position(0, 0)), "position");
        assert_eq!(scaled_position(0, 1), Ok(0.0));
        assert_eq!(named(binary_digits(16, 4)), "position");
        assert_eq!(named(binary_digits(0, 0)), "digits");
        assert_eq!(named(binary_digits(0, 65)), "digits");
        assert_eq!(binary_digits(usize::MAX, 64), Ok(vec![1; 64]));
    }

    #[test]
    fn a_message_says_what_was_given_what_is_allowed_and_what_to_do() {
        let message = table(usize::MAX, 512).expect_err("an error").to_string();
        for part in [
            "seq_len is 18446744073709551615",
            "from 1 to 262144",
            "a part at a time",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
}
