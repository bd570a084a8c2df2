//! The same numbers at the speed of memory: written into arrays that are there already.
//!
//! The book explains the readable forms in the other modules, and they remain the reference: each
//! function here names the one whose numbers it gives, and is tested against it. What is won is
//! the memory: nothing here asks for room for its result, every array is a plain slice that is
//! gone through once from its beginning to its end, and the rotation comes in f32 too.

use ndarray::NdFloat;

use crate::rope::Layout;
use crate::scaling::Frequencies;
use crate::sinusoidal::{self, BLOCK};
use crate::{Error, rope};

/// Fills `table` with what [`sinusoidal::table_by_rotation`] returns, to the last bit.
///
/// `table` has shape `(seq_len, d_model)`, row by row; its length says how many positions it holds.
/// Error: as there.
///
/// # Errors
///
/// [`Error::Shape`] where its length is no multiple of `d_model`; [`Error::Parameter`] where there
/// is no row, or `d_model` is odd, zero or above [`sinusoidal::MAX_ENTRIES`].
///
/// ```
/// use positional_encoding::{in_place, sinusoidal};
///
/// let mut table = [0.0; 300 * 8];
/// in_place::sinusoidal_table(&mut table, 8)?;
/// assert_eq!(table, sinusoidal::table_by_rotation(300, 8)?.as_slice().unwrap());
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn sinusoidal_table(table: &mut [f64], d_model: usize) -> Result<(), Error> {
    check_rows("table", table.len(), d_model, "(seq_len, d_model)")?;
    let seq_len = table.len() / d_model.max(1);
    let shifts = sinusoidal::table_by_rotation(seq_len.min(BLOCK), d_model)?;
    let shifts: Vec<f64> = shifts.into_iter().collect();
    let inv_freq = sinusoidal::inv_freq(d_model)?;
    for (block, rows) in table.chunks_mut(BLOCK * d_model).enumerate() {
        let anchor = sinusoidal::anchor(block * BLOCK, &inv_freq).to_vec();
        let rows = rows.chunks_exact_mut(d_model);
        for (row, shift) in rows.zip(shifts.chunks_exact(d_model)) {
            turn_stamp(&anchor, shift, row);
        }
    }
    Ok(())
}

/// Writes the stamp of `a + k` from those of `a` and `k`.
fn turn_stamp(a: &[f64], k: &[f64], row: &mut [f64]) {
    let ((a, _), (k, _), (row, _)) = (a.as_chunks(), k.as_chunks(), row.as_chunks_mut());
    for (pair, ([sin_a, cos_a], [sin_k, cos_k])) in row.iter_mut().zip(a.iter().zip(k)) {
        *pair = [sin_a * cos_k + cos_a * sin_k, cos_a * cos_k - sin_a * sin_k];
    }
}

/// Cosines and sines of the positions `0..seq_len`, and the rotation of a batch by them.
///
/// `T` is `f64` or `f32`: [`Rotation::new`] computes in f64, and [`Rotation::single`] rounds the
/// finished cosines and sines once. Rounding frequencies or angles instead loses long positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotation<T> {
    /// Row by row, shape `(seq_len, pairs)`; so are the sines.
    cosines: Vec<T>,
    sines: Vec<T>,
    pairs: usize,
    layout: Layout,
}

impl Rotation<f64> {
    /// Tabulates `seq_len` positions of what a model's file or a scaling rule asks for.
    ///
    /// The attention factor multiplies cosines and sines, hence only the entries that turn.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where the memory for that many rows cannot be had, or there are no
    /// frequencies.
    ///
    /// ```
    /// use positional_encoding::{in_place::Rotation, rope::{Layout, inv_freq}};
    /// use positional_encoding::scaling::Frequencies;
    ///
    /// let plain = Frequencies { inv_freq: inv_freq(4, 10_000.0)?, attention_factor: 1.0 };
    /// let rotation = Rotation::new(8, &plain, Layout::Half)?.single();
    /// let mut x = [1.0_f32, 2.0, 3.0, 4.0];
    /// rotation.apply(&mut x, &[0], 4)?;
    /// assert_eq!(x, [1.0, 2.0, 3.0, 4.0], "position 0 is not rotated");
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    pub fn new(
        seq_len: usize,
        frequencies: &Frequencies,
        layout: Layout,
    ) -> Result<Rotation<f64>, Error> {
        let pairs = frequencies.inv_freq.len();
        if pairs == 0 {
            return Err(Error::Parameter {
                name: "inv_freq",
                given: "empty".into(),
                allowed: "at least one frequency".into(),
                remedy: "leave the rotation out where nothing turns".into(),
            });
        }
        let mut cosines = rope::room(seq_len, pairs)?;
        let mut sines = rope::room(seq_len, pairs)?;
        for position in 0..seq_len {
            for [cos, sin] in rope::turns(position as f64, &frequencies.inv_freq) {
                cosines.push(cos * frequencies.attention_factor);
                sines.push(sin * frequencies.attention_factor);
            }
        }
        Ok(Rotation {
            cosines,
            sines,
            pairs,
            layout,
        })
    }

    /// The same rotation in f32, each cosine and sine rounded once.
    ///
    /// ```
    /// use positional_encoding::{in_place::Rotation, rope::Layout, scaling::Frequencies};
    ///
    /// let turn = Frequencies { inv_freq: vec![1.0], attention_factor: 1.0 };
    /// let rotation = Rotation::new(1_000_001, &turn, Layout::Interleaved)?.single();
    /// let mut x = [1.0_f32, 0.0];
    /// rotation.apply(&mut x, &[1_000_000], 2)?;
    /// assert_eq!(x[0], 1_000_000_f64.cos() as f32);
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    pub fn single(&self) -> Rotation<f32> {
        let rounded = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect();
        Rotation {
            cosines: rounded(&self.cosines),
            sines: rounded(&self.sines),
            pairs: self.pairs,
            layout: self.layout,
        }
    }
}

impl<T: NdFloat> Rotation<T> {
    /// How many positions are tabulated.
    pub fn seq_len(&self) -> usize {
        self.cosines.len() / self.pairs
    }

    /// Rotates row `s` of `x` to `positions[s]`, all its heads alike, as [`rope::apply`] does.
    ///
    /// `x` has shape `(positions.len(), heads, head_dim)`, row by row; how many heads it has
    /// follows from its length. Without an attention factor, the numbers in f64 are those of
    /// [`rope::apply`] to the last bit. Error in f32: seven roundings of 6e-8 of the larger entry of
    /// the pair at most, at any position.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] where the length of `x` fits no number of heads, or a head is narrower than
    /// the rotation; [`Error::Position`] where a position is past the last one. `x` is untouched
    /// then.
    ///
    /// ```
    /// use positional_encoding::{Error, in_place::Rotation, rope::Layout, scaling::Frequencies};
    ///
    /// let turn = Frequencies { inv_freq: vec![0.5], attention_factor: 1.0 };
    /// let rotation = Rotation::new(16, &turn, Layout::Half)?;
    /// let refused = rotation.apply(&mut [1.0, 0.0], &[16], 2);
    /// assert_eq!(refused, Err(Error::Position { position: 16, length: 16 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn apply(&self, x: &mut [T], positions: &[usize], head_dim: usize) -> Result<(), Error> {
        rope::check_width("x", head_dim, self.pairs)?;
        let rows = positions.len().saturating_mul(head_dim);
        check_rows("x", x.len(), rows, "(positions.len(), heads, head_dim)")?;
        let length = self.seq_len();
        if let Some(&position) = positions.iter().find(|&&position| position >= length) {
            return Err(Error::Position { position, length });
        }
        let row = (x.len() / positions.len().max(1)).max(1);
        let mut before = vec![T::zero(); 2 * self.pairs];
        for (heads, position) in x.chunks_exact_mut(row).zip(positions) {
            let turns = position * self.pairs..(position + 1) * self.pairs;
            let (cosines, sines) = (&self.cosines[turns.clone()], &self.sines[turns]);
            for head in heads.chunks_exact_mut(head_dim) {
                match self.layout {
                    Layout::Interleaved => turn_neighbours(head, cosines, sines),
                    Layout::Half => turn_halves(head, cosines, sines, &mut before),
                }
            }
        }
        Ok(())
    }
}

fn turn_neighbours<T: NdFloat>(head: &mut [T], cosines: &[T], sines: &[T]) {
    let (pairs, _) = head.as_chunks_mut();
    for ([x, y], (&cos, &sin)) in pairs.iter_mut().zip(cosines.iter().zip(sines)) {
        (*x, *y) = (*x * cos - *y * sin, *x * sin + *y * cos);
    }
}

/// `before` has room for the entries that turn. They are copied into it first, in the order in which
/// they lie: read from both halves at once, memory would answer at half its speed.
fn turn_halves<T: NdFloat>(head: &mut [T], cosines: &[T], sines: &[T], before: &mut [T]) {
    let turning = &mut head[..before.len()];
    before.copy_from_slice(turning);
    let (first, second) = turning.split_at_mut(cosines.len());
    let (x, y) = before.split_at(cosines.len());
    let after = first.iter_mut().zip(second);
    let turns = cosines.iter().zip(sines);
    for ((first, second), ((&x, &y), (&cos, &sin))) in after.zip(x.iter().zip(y).zip(turns)) {
        (*first, *second) = (x * cos - y * sin, x * sin + y * cos);
    }
}

/// Fills the bias of all queries and keys `0..seq_len` from the bias of each offset.
///
/// ALiBi and T5 depend on key − query alone, so a row of their bias is a window onto one longer
/// row: that of the last query, with keys up to `seq_len − 1` past it. `bias` has shape
/// `(heads, seq_len, seq_len)` and `offsets` shape `(heads, 2 · seq_len − 1)`, offset
/// `−(seq_len − 1)` first, both row by row. The numbers are those of
/// [`alibi::bias`](crate::alibi::bias) or [`t5::bias`](crate::t5::bias), whichever made `offsets`.
///
/// # Errors
///
/// [`Error::Shape`] where one of the two lengths does not fit `seq_len` or the other.
///
/// ```
/// use positional_encoding::{Direction, alibi, in_place};
///
/// let (slopes, positions) = (alibi::slopes(8)?, [0, 1, 2, 3, 4, 5, 6]);
/// let offsets = alibi::bias(&slopes, &[3], &positions, Direction::Causal);
/// let mut bias = [0.0; 8 * 4 * 4];
/// in_place::bias(&mut bias, offsets.as_slice().unwrap(), 4)?;
/// let readable = alibi::bias(&slopes, &positions[..4], &positions[..4], Direction::Causal);
/// assert_eq!(bias, readable.as_slice().unwrap());
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn bias<T: Copy>(bias: &mut [T], offsets: &[T], seq_len: usize) -> Result<(), Error> {
    let all_keys = seq_len.saturating_mul(2).saturating_sub(1);
    check_rows(
        "offsets",
        offsets.len(),
        all_keys,
        "(heads, 2 * seq_len - 1)",
    )?;
    let heads = offsets.len() / all_keys.max(1);
    let square = seq_len.saturating_mul(seq_len);
    if bias.len() != heads.saturating_mul(square) {
        return Err(Error::Shape {
            name: "bias",
            given: vec![bias.len()],
            expected: format!(
                "({heads}, {seq_len}, {seq_len}), one square for each row of offsets"
            ),
            remedy: "give room for the bias of as many heads as offsets has rows".into(),
        });
    }
    for (square, offsets) in bias
        .chunks_exact_mut(square.max(1))
        .zip(offsets.chunks_exact(all_keys.max(1)))
    {
        for (query, row) in square.chunks_exact_mut(seq_len).enumerate() {
            row.copy_from_slice(&offsets[seq_len - 1 - query..][..seq_len]);
        }
    }
    Ok(())
}

/// Whether an array of `given` numbers is cut into whole rows of `row` numbers.
fn check_rows(
    name: &'static str,
    given: usize,
    row: usize,
    shape: &'static str,
) -> Result<(), Error> {
    if given.is_multiple_of(row) {
        return Ok(());
    }
    Err(Error::Shape {
        name,
        given: vec![given],
        expected: format!("{shape}, a multiple of {row} numbers"),
        remedy: "give the whole array, row by row, and the sizes that it was made with".into(),
    })
}
