//! Attention with linear biases: a penalty on the score that grows with the distance, at a slope
//! fixed for each head.
//!
//! Press et al. 2022, section 3. Nothing is learned, and nothing is added to the embeddings.

use ndarray::{Array2, Array3};

use crate::{Direction, Error};

/// One slope for each head: `2^(-8 (h + 1) / heads)` for head `h` where `heads` is a power of two.
///
/// For any other number, the slopes of the largest power of two below it, then every other slope
/// of twice that power, until there are enough. The result is **not** sorted, and must not be:
/// trained models keep this order. Shape `(heads,)`. Press et al. 2022, section 3, gives the
/// powers of two; the rest is the authors' released code, which BLOOM and MPT follow.
///
/// Error: a relative 1.3e-16 at most against 100-digit arithmetic, the one rounding of the power:
/// the exponents are exact. A [`bias`] is rounded once more, at every distance.
///
/// # Errors
///
/// [`Error::Parameter`] where `heads` is zero.
///
/// ```
/// use positional_encoding::alibi::slopes;
///
/// assert_eq!(slopes(4)?, [0.25, 0.0625, 0.015625, 0.00390625]);
/// assert_eq!(slopes(3)?, [0.0625, 0.00390625, 0.25]); // two slopes of 2, then one of 4
/// assert!(slopes(0).is_err());
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn slopes(heads: usize) -> Result<Vec<f64>, Error> {
    if heads == 0 {
        return Err(Error::Parameter {
            name: "heads",
            given: "0".into(),
            allowed: "at least 1".into(),
            remedy: "use the model's number of attention heads".into(),
        });
    }
    Ok(slopes_unchecked(heads))
}

// ANCHOR: slopes
fn slopes_unchecked(heads: usize) -> Vec<f64> {
    let power = 1 << heads.ilog2();
    let between = geometric(2 * power).into_iter().step_by(2);
    geometric(power)
        .into_iter()
        .chain(between)
        .take(heads)
        .collect()
}

/// Starts at `2^(-8 / heads)` and multiplies by it: the paper's rule.
fn geometric(heads: usize) -> Vec<f64> {
    (1..=heads)
        .map(|head| (-8.0 * head as f64 / heads as f64).exp2())
        .collect()
}
// ANCHOR_END: slopes

/// The bias of every head for queries and keys at the given positions: minus slope times distance.
///
/// Shape `(slopes.len(), query_positions.len(), key_positions.len())`, in the unit of the scores
/// it is added to. [`Direction::Causal`] is the paper's form and carries its own mask: keys after
/// the query get −∞, since `-slope * (query - key)` unmasked would *reward* the future.
/// [`Direction::Bidirectional`] is the symmetric form, `-slope * |query - key|`: it cannot tell
/// before from after. Press et al. 2022, section 3.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::{Direction, alibi};
///
/// let positions = [0, 1, 2];
/// let bias = alibi::bias(&[0.5], &positions, &positions, Direction::Causal);
/// let hidden = f64::NEG_INFINITY;
/// assert_eq!(
///     bias,
///     array![[[0.0, hidden, hidden], [-0.5, 0.0, hidden], [-1.0, -0.5, 0.0]]]
/// );
/// ```
pub fn bias(
    slopes: &[f64],
    query_positions: &[usize],
    key_positions: &[usize],
    direction: Direction,
) -> Array3<f64> {
    let shape = (slopes.len(), query_positions.len(), key_positions.len());
    // ANCHOR: bias
    Array3::from_shape_fn(shape, |(head, query, key)| {
        let (query, key) = (query_positions[query], key_positions[key]);
        let future = key > query;
        match direction {
            Direction::Causal if future => f64::NEG_INFINITY,
            _ if key == query => 0.0,
            _ => -slopes[head] * key.abs_diff(query) as f64,
        }
    })
    // ANCHOR_END: bias
}

/// BLOOM's form of the causal bias: plus slope times the **key's** position, the same in every row.
///
/// Shape `(slopes.len(), key_positions.len())`. A row of scores with this bias differs from the
/// paper's by the constant `slope * query`, which the softmax removes, so the weights are equal;
/// not so without the causal mask, where keys after the query are rewarded.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::alibi::column_bias;
///
/// assert_eq!(column_bias(&[0.5], &[0, 1, 2, 3]), array![[0.0, 0.5, 1.0, 1.5]]);
/// ```
pub fn column_bias(slopes: &[f64], key_positions: &[usize]) -> Array2<f64> {
    let shape = (slopes.len(), key_positions.len());
    Array2::from_shape_fn(shape, |(head, key)| {
        slopes[head] * key_positions[key] as f64
    })
}

/// The position of each key of a padded row: the tokens are counted from zero, padding is not.
///
/// `is_token[k]` is false where entry `k` is padding; padding gets position 0, and must be masked.
/// Shape `(is_token.len(),)`.
///
/// ```
/// use positional_encoding::alibi::key_positions;
///
/// let left_padded = [false, false, true, true, true];
/// assert_eq!(key_positions(&left_padded), [0, 0, 0, 1, 2]);
/// ```
pub fn key_positions(is_token: &[bool]) -> Vec<usize> {
    let mut next = 0;
    is_token
        .iter()
        .map(|&token| {
            let position = if token { next } else { 0 };
            next += usize::from(token);
            position
        })
        .collect()
}
