//! Rotary position embedding: rotate query and key by an angle proportional to their position.
//!
//! The score of a query at position `m` and a key at position `n` is then `qᵀ R(n − m) k`: the
//! contents and the offset, and nothing of `m` or `n` alone. Su et al. 2021, equations 14 to 16
//! and 34.
//!
//! A head of `head_dim` entries has `rotary_dim ≤ head_dim` entries that turn, in pairs; which two
//! entries are a pair is the [`Layout`]. Pair `i` turns by `position · inv_freq[i]` radians,
//! anticlockwise.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, Axis};

use crate::Error;

/// Which two entries of a head form the pair that is rotated together.
///
/// The field uses both, each with weights made for it; they differ by a fixed permutation,
/// [`lanes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Neighbours: pair `i` is entries `(2i, 2i + 1)`. The paper, GPT-J, Meta's Llama code.
    Interleaved,
    /// Halves: pair `i` is entries `(i, i + rotary_dim / 2)`. GPT-NeoX and Hugging Face.
    Half,
}

impl Layout {
    /// The two entries that pair `i` of `pairs` consists of.
    ///
    /// ```
    /// use positional_encoding::rope::Layout;
    /// assert_eq!(Layout::Interleaved.pair(1, 4), [2, 3]);
    /// assert_eq!(Layout::Half.pair(1, 4), [1, 5]);
    /// ```
    // ANCHOR: layout
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
/// Error: a relative `(1 + ln base) * 1.3e-16` at most against 100-digit arithmetic, 1.9e-15 for
/// base 1,000,000, since `ln base` magnifies the rounding of the exponent; for a base above 1, at
/// most 1.2e-16 in radians per position.
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
            given: crate::error::number(base),
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
/// Error: with frequencies of [`inv_freq`](fn@inv_freq), at most `position · 2.3e-16 + 9e-16` of
/// the pair's length against 100-digit arithmetic for positions up to one million; 1.4e-10 is the
/// largest seen. Of the two parts, half is the rounding of the frequency, half that of the angle.
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
/// five, [`positions_from_mask`] for a padded row, a fresh start for each document of a packed
/// one. Error: as for [`rotate`], with the same numbers to the last bit.
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
    for (mut row, &position) in x.outer_iter_mut().zip(positions) {
        let turns = turns(position as f64, inv_freq);
        for head in row.outer_iter_mut() {
            turn_pairs(head, &turns, layout);
        }
    }
    Ok(())
}
// ANCHOR_END: apply

/// Moves one rotated head in place by `offset` positions: forwards, or back where it is negative.
///
/// `x` has shape `(head_dim,)` and was rotated before, with the same `inv_freq` and `layout`; its
/// first `2 · inv_freq.len()` entries turn and the rest stay. Two rotations add up,
/// `R(a) R(b) = R(a + b)`, so a key that was cached at position 10 and is moved by −3 is the key
/// at position 7. The inverse of [`rotate`] to `p` is a shift by `−p`; it is also the gradient
/// of that rotation.
///
/// No attention factor appears here, and none may: where a scaling rule multiplies the rotated
/// keys by one, a cached key carries it already.
///
/// # Errors
///
/// [`Error::Shape`] where there are more frequencies than pairs in `x`.
///
/// ```
/// use positional_encoding::rope::{Layout, inv_freq, rotate, shift};
/// let (inv_freq, layout) = (inv_freq(4, 10_000.0)?, Layout::Interleaved);
/// let (mut moved, mut fresh) = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]);
/// rotate(&mut moved, 10, &inv_freq, layout)?;
/// shift(&mut moved, -3, &inv_freq, layout)?;
/// rotate(&mut fresh, 7, &inv_freq, layout)?;
/// approx::assert_relative_eq!(moved[..], fresh[..], max_relative = 1e-14);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: shift
pub fn shift(x: &mut [f64], offset: i64, inv_freq: &[f64], layout: Layout) -> Result<(), Error> {
    check_width("x", x.len(), inv_freq.len())?;
    let turns = turns(offset as f64, inv_freq);
    turn_pairs(ArrayViewMut1::from(x), &turns, layout);
    Ok(())
}
// ANCHOR_END: shift

/// Moves every cached key in place by the same `offset`, as when the oldest tokens are dropped.
///
/// `keys` has shape `(seq_len, heads, head_dim)`. See [`shift`], which does one head.
///
/// # Errors
///
/// [`Error::Shape`] where there are more frequencies than pairs in a head.
///
/// ```
/// use ndarray::Array3;
/// use positional_encoding::rope::{Layout, apply, inv_freq, shift_cache};
/// let (inv_freq, layout) = (inv_freq(4, 10_000.0)?, Layout::Half);
/// let mut cache = Array3::ones((2, 1, 4));
/// apply(&mut cache, &[4, 5], &inv_freq, layout)?;
/// shift_cache(&mut cache, -4, &inv_freq, layout)?;
/// approx::assert_relative_eq!(cache[[0, 0, 2]], 1.0, max_relative = 1e-14);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn shift_cache(
    keys: &mut Array3<f64>,
    offset: i64,
    inv_freq: &[f64],
    layout: Layout,
) -> Result<(), Error> {
    check_width("keys", keys.dim().2, inv_freq.len())?;
    let turns = turns(offset as f64, inv_freq);
    for head in keys.lanes_mut(Axis(2)) {
        turn_pairs(head, &turns, layout);
    }
    Ok(())
}

/// Cosines and sines made once, for positions `0..seq_len`, and a rotation that uses them.
///
/// It gives what [`apply`] gives, to the last bit, as long as the positions are in the table; a
/// position past its end is an error, never a wrapped read. The layout is the table's own, so a
/// table of one layout cannot drive the rotation of the other.
#[derive(Debug, Clone)]
pub struct Table {
    turns: Vec<Vec<[f64; 2]>>,
    layout: Layout,
}

impl Table {
    /// Tabulates `seq_len` positions, `0..seq_len`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where the memory for that many rows cannot be had.
    ///
    /// ```
    /// use ndarray::Array3;
    /// use positional_encoding::{Error, rope::{Layout, Table, inv_freq}};
    /// let table = Table::new(4096, &inv_freq(8, 10_000.0)?, Layout::Half)?;
    /// let refused = table.apply(&mut Array3::ones((1, 2, 8)), &[4096]);
    /// assert_eq!(refused, Err(Error::Position { position: 4096, length: 4096 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(seq_len: usize, inv_freq: &[f64], layout: Layout) -> Result<Table, Error> {
        let mut rows = room(seq_len, 1)?;
        rows.extend((0..seq_len).map(|position| turns(position as f64, inv_freq)));
        Ok(Table {
            turns: rows,
            layout,
        })
    }

    /// How many positions the table holds.
    pub fn seq_len(&self) -> usize {
        self.turns.len()
    }

    /// Rotates row `s` of `x`, shape `(seq_len, heads, head_dim)`, to `positions[s]`.
    ///
    /// # Errors
    ///
    /// [`Error::Position`] where a position is past the table's last row, [`Error::Shape`] as
    /// [`apply`](fn@apply). `x` is untouched then.
    // ANCHOR: table
    pub fn apply(&self, x: &mut Array3<f64>, positions: &[usize]) -> Result<(), Error> {
        check_length("positions", positions.len(), x.dim().0)?;
        let rows = positions
            .iter()
            .map(|&position| self.row(position))
            .collect::<Result<Vec<_>, _>>()?;
        check_width("x", x.dim().2, rows.first().map_or(0, |row| row.len()))?;
        for (mut heads, row) in x.outer_iter_mut().zip(rows) {
            for head in heads.outer_iter_mut() {
                turn_pairs(head, row, self.layout);
            }
        }
        Ok(())
    }

    fn row(&self, position: usize) -> Result<&[[f64; 2]], Error> {
        let length = self.turns.len();
        let row = self.turns.get(position).map(Vec::as_slice);
        row.ok_or(Error::Position { position, length })
    }
    // ANCHOR_END: table
}

/// Where each entry of a head comes from, when the head is moved from one layout to the other.
///
/// Entry `j` of the result is entry `lanes[j]` of what there was: `new[j] = old[lanes[j]]`, shape
/// `(rotary_dim,)`. Rotating and then moving gives the same as moving and then rotating in the
/// other layout, so scores agree where query **and** key were moved.
///
/// # Errors
///
/// [`Error::Parameter`] where `rotary_dim` is odd or zero.
///
/// ```
/// use positional_encoding::rope::{Layout, lanes};
/// let to_half = lanes(Layout::Interleaved, Layout::Half, 8)?;
/// assert_eq!(to_half, [0, 2, 4, 6, 1, 3, 5, 7]);
/// let to_interleaved = lanes(Layout::Half, Layout::Interleaved, 8)?;
/// assert_eq!(to_interleaved, [0, 4, 1, 5, 2, 6, 3, 7]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: lanes
pub fn lanes(from: Layout, to: Layout, rotary_dim: usize) -> Result<Vec<usize>, Error> {
    check_even("rotary_dim", rotary_dim)?;
    let pairs = rotary_dim / 2;
    let mut lanes = vec![0; rotary_dim];
    for i in 0..pairs {
        let ([a, b], [c, d]) = (from.pair(i, pairs), to.pair(i, pairs));
        (lanes[c], lanes[d]) = (a, b);
    }
    Ok(lanes)
}
// ANCHOR_END: lanes

/// How the output rows of a query or key projection are cut into heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    /// The number of heads **of this projection**: `num_attention_heads` for the query,
    /// `num_key_value_heads` for the key.
    pub count: usize,
    /// The entries of one head.
    pub head_dim: usize,
    /// How many of them turn; the others are left where they are.
    pub rotary_dim: usize,
}

impl Heads {
    /// Where each row of a converted projection comes from: [`lanes`], once for every head.
    ///
    /// Shape `(count · head_dim,)`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where `rotary_dim` is odd, zero or more than `head_dim`, or the rows
    /// are too many to count.
    ///
    /// ```
    /// use positional_encoding::rope::{Heads, Layout};
    /// let heads = Heads { count: 2, head_dim: 4, rotary_dim: 4 };
    /// let order = heads.row_order(Layout::Half, Layout::Interleaved)?;
    /// assert_eq!(order, [0, 2, 1, 3, 4, 6, 5, 7]);
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    // ANCHOR: row_order
    pub fn row_order(&self, from: Layout, to: Layout) -> Result<Vec<usize>, Error> {
        self.check()?;
        let rotating = lanes(from, to, self.rotary_dim)?;
        let staying = self.rotary_dim..self.head_dim;
        let within: Vec<usize> = rotating.into_iter().chain(staying).collect();
        let first_rows = (0..self.count).map(|head| head * self.head_dim);
        Ok(first_rows
            .flat_map(|first| within.iter().map(move |lane| first + lane))
            .collect())
    }
    // ANCHOR_END: row_order

    fn check(&self) -> Result<(), Error> {
        check_part(self.rotary_dim, self.head_dim)?;
        if self
            .count
            .checked_mul(self.head_dim)
            .is_none_or(|rows| rows > u32::MAX as usize)
        {
            return Err(Error::Parameter {
                name: "count",
                given: self.count.to_string(),
                allowed: "so many that count · head_dim stays below 2^32".into(),
                remedy: "give the heads of one projection of one layer".into(),
            });
        }
        Ok(())
    }

    fn check_rows(&self, name: &'static str, shape: &[usize]) -> Result<(), Error> {
        let rows = self.count.saturating_mul(self.head_dim);
        if shape[0] != rows {
            return Err(Error::Shape {
                name,
                given: shape.to_vec(),
                expected: format!("(count · head_dim, …) = ({rows}, …)"),
                remedy: "count the query heads for the query, the key-value heads for the key"
                    .into(),
            });
        }
        Ok(())
    }
}

/// The projection's weight with its rows in the order that layout `to` asks for.
///
/// `weight` has shape `(count · head_dim, d_model)`, as checkpoints store it: the projection is
/// `weight · x`. The query's and the key's weights must both be converted, each with its own
/// number of heads; the value's is left alone.
///
/// # Errors
///
/// [`Error::Shape`] where the rows are not `count · head_dim`, which is how a wrong number of
/// heads shows; [`Error::Parameter`] as [`Heads::row_order`].
///
/// ```
/// use ndarray::array;
/// use positional_encoding::rope::{Heads, Layout, convert_weight};
/// let weight = array![[0.0], [1.0], [2.0], [3.0]];
/// let heads = Heads { count: 1, head_dim: 4, rotary_dim: 4 };
/// let converted = convert_weight(weight.view(), &heads, Layout::Half, Layout::Interleaved)?;
/// assert_eq!(converted, array![[0.0], [2.0], [1.0], [3.0]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: convert_weight
pub fn convert_weight(
    weight: ArrayView2<f64>,
    heads: &Heads,
    from: Layout,
    to: Layout,
) -> Result<Array2<f64>, Error> {
    heads.check_rows("weight", weight.shape())?;
    Ok(weight.select(Axis(0), &heads.row_order(from, to)?))
}
// ANCHOR_END: convert_weight

/// The projection's bias with its entries in the order that layout `to` asks for.
///
/// `bias` has shape `(count · head_dim,)`. The weights of a normalisation that acts on each
/// head's query or key before the rotation (`q_norm`, `k_norm`) are converted alike, with a
/// `count` of 1 where the heads share them.
///
/// # Errors
///
/// As [`convert_weight`].
///
/// ```
/// use ndarray::array;
/// use positional_encoding::rope::{Heads, Layout, convert_bias};
/// let bias = array![0.0, 1.0, 2.0, 3.0, 4.0];
/// let heads = Heads { count: 1, head_dim: 5, rotary_dim: 4 };
/// let converted = convert_bias(bias.view(), &heads, Layout::Half, Layout::Interleaved)?;
/// assert_eq!(converted, array![0.0, 2.0, 1.0, 3.0, 4.0]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn convert_bias(
    bias: ArrayView1<f64>,
    heads: &Heads,
    from: Layout,
    to: Layout,
) -> Result<Array1<f64>, Error> {
    heads.check_rows("bias", bias.shape())?;
    Ok(bias.select(Axis(0), &heads.row_order(from, to)?))
}

/// The positions of one row of a padded batch: real tokens count 0, 1, 2, …, wherever they stand.
///
/// `mask` has shape `(seq_len,)` and is true at real tokens; so has the result. Padding gets
/// position 0. Any other number would do, since the attention mask hides it (transformers
/// writes 1).
///
/// ```
/// use positional_encoding::rope::positions_from_mask;
/// assert_eq!(positions_from_mask(&[false, false, true, true, true]), [0, 0, 0, 1, 2]);
/// assert_eq!(positions_from_mask(&[true, true, true, false]), [0, 1, 2, 0]);
/// ```
// ANCHOR: positions_from_mask
pub fn positions_from_mask(mask: &[bool]) -> Vec<usize> {
    let mut tokens = 0;
    let position = |&real: &bool| {
        tokens += usize::from(real);
        if real { tokens - 1 } else { 0 }
    };
    mask.iter().map(position).collect()
}
// ANCHOR_END: positions_from_mask

/// Rotates one head in place to a position with several coordinates, one block of it for each.
///
/// With two coordinates this is axial 2-D RoPE for the patches of an image: the first half of
/// the head turns with the row, the second with the column. `x` has shape `(head_dim,)`;
/// `inv_freq` is that of one block, so coordinate `a` turns the entries from
/// `2a · inv_freq.len()` on, and entries past the last block stay. The score then depends on
/// the offset along each axis.
///
/// # Errors
///
/// [`Error::Shape`] where the blocks are wider than `x`; [`Error::Parameter`] where `inv_freq` is
/// empty.
///
/// ```
/// use positional_encoding::rope::{Layout, inv_freq, rotate_axes};
/// let mut patch = [1.0; 8];
/// rotate_axes(&mut patch, &[0, 3], &inv_freq(4, 100.0)?, Layout::Half)?;
/// assert_eq!(patch[..4], [1.0; 4], "row 0 turns nothing in the first half");
/// assert_ne!(patch[4..], [1.0; 4], "column 3 turns the second");
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: rotate_axes
pub fn rotate_axes(
    x: &mut [f64],
    position: &[usize],
    inv_freq: &[f64],
    layout: Layout,
) -> Result<(), Error> {
    check_blocks(x.len(), position.len(), inv_freq.len())?;
    let blocks = x.chunks_exact_mut(2 * inv_freq.len());
    for (block, &coordinate) in blocks.zip(position) {
        rotate(block, coordinate, inv_freq, layout)?;
    }
    Ok(())
}
// ANCHOR_END: rotate_axes

/// The frequencies of the *proportional* kind: the ladder of the whole head, cut off with zeros.
///
/// Shape `(head_dim / 2,)`: `base^(-2i / head_dim)` for the first `rotary_dim / 2` pairs, zero
/// for the rest. The zeros turn nothing, yet they keep the pairs of the half layout at
/// `(i, i + head_dim / 2)`. Ordinary partial rotary, `inv_freq(rotary_dim, base)`, has another
/// ladder and other pairs. Barbero et al. 2024 call it p-RoPE; Gemma 4 configures it
/// as `rope_type: proportional`.
///
/// # Errors
///
/// [`Error::Parameter`] where `head_dim` is odd or zero, `rotary_dim` is odd or more than
/// `head_dim`, or `base` is not a finite number above zero.
///
/// ```
/// use positional_encoding::rope::{inv_freq, proportional_inv_freq};
/// let proportional = proportional_inv_freq(8, 4, 10_000.0)?;
/// approx::assert_relative_eq!(proportional[..], [1.0, 0.1, 0.0, 0.0], max_relative = 1e-15);
/// approx::assert_relative_eq!(inv_freq(4, 10_000.0)?[..], [1.0, 0.01], max_relative = 1e-15);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: proportional
pub fn proportional_inv_freq(
    head_dim: usize,
    rotary_dim: usize,
    base: f64,
) -> Result<Vec<f64>, Error> {
    check_part(rotary_dim, head_dim)?;
    let mut frequencies = inv_freq(head_dim, base)?;
    frequencies[rotary_dim / 2..].fill(0.0);
    Ok(frequencies)
}
// ANCHOR_END: proportional

/// The mean of `cos(offset · inv_freq[i])` over the pairs: between −1 and 1, and 1 at offset 0.
///
/// This is the score at `offset` of a query and a key that are equal, with the same energy in
/// every pair, as a part of their score at offset 0. NaN where `inv_freq` is empty.
///
/// ```
/// use positional_encoding::rope::{inv_freq, mean_cosine};
/// let inv_freq = inv_freq(64, 10_000.0)?;
/// assert!(mean_cosine(1024, &inv_freq) > mean_cosine(512, &inv_freq), "farther, yet higher");
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: mean_cosine
pub fn mean_cosine(offset: i64, inv_freq: &[f64]) -> f64 {
    let cosines = inv_freq.iter().map(|w| (offset as f64 * w).cos());
    cosines.sum::<f64>() / inv_freq.len() as f64
}
// ANCHOR_END: mean_cosine

/// The factor of the upper bound on a score that the paper's "long-term decay" rests on.
///
/// `1/n · Σⱼ |Sⱼ|` with `Sⱼ = Σ_{i<j} e^{√−1 · offset · inv_freq[i]}` over the `n` pairs,
/// `j = 1..=n`: `(n + 1) / 2` at offset 0, and smaller where the partial sums cancel. It bounds
/// how large a score **can** be, up to a factor that depends on query and key, and says nothing
/// about how large it is. Su et al. 2021, section 3.4.3 and figure 2. NaN where `inv_freq` is
/// empty.
///
/// ```
/// use positional_encoding::rope::{decay_bound, inv_freq};
/// let inv_freq = inv_freq(128, 10_000.0)?;
/// assert_eq!(decay_bound(0, &inv_freq), 32.5);
/// assert!(decay_bound(250, &inv_freq) < 7.0);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn decay_bound(offset: i64, inv_freq: &[f64]) -> f64 {
    let partial_sums = inv_freq.iter().scan([0.0, 0.0], |sum, w| {
        let (sin, cos) = (offset as f64 * w).sin_cos();
        *sum = [sum[0] + cos, sum[1] + sin];
        Some(f64::hypot(sum[0], sum[1]))
    });
    partial_sums.sum::<f64>() / inv_freq.len() as f64
}

// ANCHOR: turns
/// `(cos, sin)` of the angle of each pair.
pub(crate) fn turns(position: f64, inv_freq: &[f64]) -> Vec<[f64; 2]> {
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

/// An empty list with room for `seq_len` rows of `width` entries.
pub(crate) fn room<T>(seq_len: usize, width: usize) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    list.try_reserve_exact(seq_len.saturating_mul(width))
        .map_err(|_| Error::Parameter {
            name: "seq_len",
            given: seq_len.to_string(),
            allowed: "a number of rows that fits into memory".into(),
            remedy: "tabulate as many positions as the model may see".into(),
        })?;
    Ok(list)
}

fn check_blocks(head_dim: usize, axes: usize, pairs: usize) -> Result<(), Error> {
    if pairs == 0 {
        return Err(Error::Parameter {
            name: "inv_freq",
            given: "empty".into(),
            allowed: "at least one frequency".into(),
            remedy: "make inv_freq for the width of one block, head_dim / axes".into(),
        });
    }
    check_width("x", head_dim, axes.saturating_mul(pairs))
}

fn check_part(rotary_dim: usize, head_dim: usize) -> Result<(), Error> {
    if rotary_dim > head_dim || !rotary_dim.is_multiple_of(2) {
        return Err(Error::Parameter {
            name: "rotary_dim",
            given: rotary_dim.to_string(),
            allowed: format!("an even number up to head_dim, {head_dim}"),
            remedy: "give the part of a head that turns".into(),
        });
    }
    Ok(())
}

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

pub(crate) fn check_width(name: &'static str, head_dim: usize, pairs: usize) -> Result<(), Error> {
    if head_dim / 2 < pairs {
        return Err(Error::Shape {
            name,
            given: vec![head_dim],
            expected: format!(
                "(head_dim,) with head_dim at least {}",
                pairs.saturating_mul(2)
            ),
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

#[cfg(test)]
mod tests {
    use super::Heads;

    /// Only asked: a list of as many rows would take 32 GB.
    #[test]
    fn heads_have_fewer_rows_than_two_to_the_32() {
        let check = |count, head_dim| {
            let rotary_dim = 2;
            let heads = Heads {
                count,
                head_dim,
                rotary_dim,
            };
            heads.check()
        };
        assert!(check(u32::MAX as usize / 3, 3).is_ok());
        assert!(check(1 << 26, 64).is_err());
    }
}
