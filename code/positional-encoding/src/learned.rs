//! The learned position table: one row of free parameters for every position.
//!
//! BERT (Devlin et al. 2019), GPT-2 (Radford et al. 2019) and RoBERTa (Liu et al. 2019) add row
//! `position` to the embedding of the token at that position. A table has a last row.

use ndarray::{Array2, ArrayView2, Axis};

use crate::Error;
use crate::attention::softmax;

/// The rows of `table` at the given positions, to be added to the token embeddings.
///
/// `table` is `(max_positions, d_model)`, the result `(positions.len(), d_model)`. There is no
/// row past the end: it is neither wrapped around nor clamped to the last one.
///
/// # Errors
///
/// [`Error::Position`] with the table's length for the first position past its end.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::learned;
///
/// let table = array![[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]];
/// assert_eq!(learned::lookup(table.view(), &[2, 0])?, array![[0.5, 0.6], [0.1, 0.2]]);
/// assert_eq!(
///     learned::lookup(table.view(), &[3]).unwrap_err().to_string(),
///     "position 3 is outside a table of 3 positions, whose last is 2; \
///      build a longer table or shorten the input"
/// );
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: lookup
pub fn lookup(table: ArrayView2<f64>, positions: &[usize]) -> Result<Array2<f64>, Error> {
    let length = table.nrows();
    match positions.iter().find(|&&position| position >= length) {
        Some(&position) => Err(Error::Position { position, length }),
        None => Ok(table.select(Axis(0), positions)),
    }
}
// ANCHOR_END: lookup

/// A target for [`train`]: every position attends evenly to the positions at most `radius` away,
/// itself included.
///
/// Shape `(seq_len, seq_len)`; every row sums to 1.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::learned::neighbourhood;
///
/// let third = 1.0 / 3.0;
/// assert_eq!(
///     neighbourhood(3, 1),
///     array![[0.5, 0.5, 0.0], [third, third, third], [0.0, 0.5, 0.5]]
/// );
/// ```
pub fn neighbourhood(seq_len: usize, radius: usize) -> Array2<f64> {
    let mut target = Array2::from_shape_fn((seq_len, seq_len), |(query, key)| {
        f64::from(query.abs_diff(key) <= radius)
    });
    for mut row in target.rows_mut() {
        let keys = row.sum();
        row /= keys;
    }
    target
}

/// A table of small random numbers, between −0.1 and 0.1: what training starts from.
///
/// Shape `(max_positions, d_model)`. The same seed gives the same table on every machine.
///
/// ```
/// use positional_encoding::learned::random_table;
///
/// let table = random_table(16, 4, 1);
/// assert!(table.iter().all(|entry| entry.abs() < 0.1));
/// assert_eq!(table, random_table(16, 4, 1));
/// assert_ne!(table, random_table(16, 4, 2));
/// ```
pub fn random_table(max_positions: usize, d_model: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    Array2::from_shape_simple_fn((max_positions, d_model), || {
        // SplitMix64: a counter, then bits mixed until neighbouring counts look unrelated.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        0.2 * unit - 0.1
    })
}

/// Trains `table` in place, so that attention between its rows alone gives the weights `target`.
///
/// The score of query `i` and key `j` is the dot product of rows `i` and `j`; the loss is the
/// cross-entropy of the softmax against row `i` of `target`, averaged over `i`; every step moves
/// the table down the loss's gradient. `table` is `(seq_len, d_model)`, `target`
/// `(seq_len, seq_len)` with rows that sum to 1. Returns the loss, in nats, before each step.
///
/// # Errors
///
/// [`Error::Shape`] where `target` does not fit the table, [`Error::Parameter`] where the loss
/// stops being a number because `learning_rate` is too large.
///
/// ```
/// use positional_encoding::learned::{neighbourhood, random_table, similarity, train};
///
/// let mut table = random_table(16, 8, 1);
/// let losses = train(&mut table, neighbourhood(16, 1).view(), 4.0, 200)?;
/// assert!(losses[0] > 2.7); // at first every key looks alike: ln 16 = 2.77 nats
/// assert!(losses[199] < 1.2); // the best three equal weights allow is near ln 3 = 1.10
///
/// // No one told the table that 7 lies beside 8 and far from 15. It had to find out.
/// let similarity = similarity(table.view());
/// assert!(similarity[[7, 8]] > 0.5 && similarity[[7, 15]] < 0.1);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn train(
    table: &mut Array2<f64>,
    target: ArrayView2<f64>,
    learning_rate: f64,
    steps: usize,
) -> Result<Vec<f64>, Error> {
    let seq_len = table.nrows();
    if target.dim() != (seq_len, seq_len) {
        return Err(Error::Shape {
            name: "target",
            given: target.shape().to_vec(),
            expected: format!("(seq_len, seq_len) = ({seq_len}, {seq_len})"),
            remedy: "give one row of weights for every row of the table".into(),
        });
    }
    let mut losses = Vec::with_capacity(steps);
    for _ in 0..steps {
        let loss = step(table, target, learning_rate);
        if !loss.is_finite() {
            return Err(Error::Parameter {
                name: "learning_rate",
                given: learning_rate.to_string(),
                allowed: "small enough for the loss to stay a number".into(),
                remedy: "divide it by ten and start from a fresh table".into(),
            });
        }
        losses.push(loss);
    }
    Ok(losses)
}

// ANCHOR: step
fn step(table: &mut Array2<f64>, target: ArrayView2<f64>, learning_rate: f64) -> f64 {
    let weights = softmax(table.dot(&table.t()).view());
    let loss = cross_entropy(&weights, target);

    // Down the slope: too much weight on a key lowers its score, too little raises it.
    let error = (weights - target) / table.nrows() as f64;
    // Every row of the table stands in the scores twice, as a query and as a key.
    let gradient = (&error + &error.t()).dot(table);
    table.scaled_add(-learning_rate, &gradient);
    loss
}

fn cross_entropy(weights: &Array2<f64>, target: ArrayView2<f64>) -> f64 {
    let nats = weights.iter().zip(target).map(|(&weight, &wanted)| {
        if wanted > 0.0 {
            -wanted * weight.ln()
        } else {
            0.0
        }
    });
    nats.sum::<f64>() / weights.nrows() as f64
}
// ANCHOR_END: step

/// The cosine similarity of every pair of rows, after the mean row is subtracted from each.
///
/// Shape `(max_positions, max_positions)`, entries from −1 to 1. What all rows share says nothing
/// about position, so it is taken out first. A row that equals the mean is similar to nothing: 0.
///
/// ```
/// use positional_encoding::learned::similarity;
///
/// let similarity = similarity(ndarray::array![[3.0, 1.0], [3.0, -1.0], [3.0, 0.0]].view());
/// assert_eq!(similarity[[0, 1]], -1.0);
/// assert_eq!(similarity[[0, 2]], 0.0);
/// ```
// ANCHOR: similarity
pub fn similarity(table: ArrayView2<f64>) -> Array2<f64> {
    let Some(mean) = table.mean_axis(Axis(0)) else {
        return Array2::zeros((0, 0));
    };
    let mut centred = &table - &mean;
    for mut row in centred.rows_mut() {
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
    centred.dot(&centred.t())
}
// ANCHOR_END: similarity

/// A table of `max_positions` rows, read off `table` by linear interpolation.
///
/// `table` is `(old_positions, d_model)`, the result `(max_positions, d_model)`. The first and
/// the last row are kept; the others are spread evenly between. Dosovitskiy et al. 2021, section
/// 3.2, do this in two dimensions to fine-tune on larger images.
///
/// # Errors
///
/// [`Error::Parameter`] where `max_positions` is zero, [`Error::Shape`] where `table` has no rows.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::learned::interpolate;
///
/// let table = array![[0.0, 4.0], [2.0, 8.0]];
/// assert_eq!(interpolate(table.view(), 3)?, array![[0.0, 4.0], [1.0, 6.0], [2.0, 8.0]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn interpolate(table: ArrayView2<f64>, max_positions: usize) -> Result<Array2<f64>, Error> {
    if max_positions == 0 {
        return Err(Error::Parameter {
            name: "max_positions",
            given: "0".into(),
            allowed: "at least 1".into(),
            remedy: "ask for as many rows as the longest input has tokens".into(),
        });
    }
    if table.nrows() == 0 {
        return Err(Error::Shape {
            name: "table",
            given: table.shape().to_vec(),
            expected: "(max_positions, d_model) with at least one row".into(),
            remedy: "interpolate a table that has been trained".into(),
        });
    }
    Ok(interpolate_unchecked(table, max_positions))
}

// ANCHOR: interpolate
fn interpolate_unchecked(table: ArrayView2<f64>, max_positions: usize) -> Array2<f64> {
    let last = table.nrows() - 1;
    let spacing = last as f64 / (max_positions.max(2) - 1) as f64;
    Array2::from_shape_fn((max_positions, table.ncols()), |(position, column)| {
        let place = position as f64 * spacing;
        let below = (place as usize).min(last);
        let above = (below + 1).min(last);
        let part = place - below as f64;
        (1.0 - part) * table[[below, column]] + part * table[[above, column]]
    })
}
// ANCHOR_END: interpolate

/// The positions RoBERTa gives to a row of token ids: tokens count from `padding_idx + 1`, padding
/// gets `padding_idx` itself.
///
/// Shape `(token_ids.len(),)`. Liu et al. 2019; the rule is the released code's.
///
/// ```
/// use positional_encoding::learned::positions_from_ids;
///
/// assert_eq!(positions_from_ids(&[0, 31414, 2, 1, 1], 1), [2, 3, 4, 1, 1]);
/// ```
// ANCHOR: positions_from_ids
pub fn positions_from_ids(token_ids: &[usize], padding_idx: usize) -> Vec<usize> {
    let mut tokens = 0;
    token_ids
        .iter()
        .map(|&id| {
            tokens += usize::from(id != padding_idx);
            padding_idx.saturating_add(if id == padding_idx { 0 } else { tokens })
        })
        .collect()
}
// ANCHOR_END: positions_from_ids

/// How many tokens fit a table of `max_positions` rows whose positions start at `padding_idx + 1`.
///
/// A RoBERTa table has 514 rows and `padding_idx` 1, so 512 tokens fit; with `padding_idx` 3 it
/// would be 510. Liu et al. 2019; the rule is the released code's.
///
/// # Errors
///
/// [`Error::Parameter`] where not one row is left.
///
/// ```
/// use positional_encoding::learned::usable_positions;
///
/// assert_eq!(usable_positions(514, 1)?, 512);
/// assert_eq!(usable_positions(514, 3)?, 510);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn usable_positions(max_positions: usize, padding_idx: usize) -> Result<usize, Error> {
    match max_positions.checked_sub(padding_idx.saturating_add(1)) {
        Some(usable) if usable > 0 => Ok(usable),
        _ => Err(Error::Parameter {
            name: "padding_idx",
            given: padding_idx.to_string(),
            allowed: format!("below the last of the {max_positions} rows"),
            remedy: "use the tokenizer's padding id, 1 in RoBERTa, or a longer table".into(),
        }),
    }
}
