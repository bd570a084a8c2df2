//! Scaled dot-product attention: what each token takes from every other, by content alone.
//!
//! Nothing in this module knows a position. Permute the rows of the input and the rows of the
//! output are permuted with them; only [`Mask::Causal`] and the bias of
//! [`attention_with_bias`] can tell one row from another. The formula is that of Vaswani et
//! al. 2017, section 3.2.1, for one head:
//!
//! ```text
//! attention(Q, K, V) = softmax(Q Kᵀ / √head_dim) V
//! ```
//!
//! # Numbers that are not numbers
//!
//! A NaN is never hidden. One in a query spoils that query's row, one in a key every row that
//! may look at the key, and one in a value every row, since zero times NaN is NaN. A score of
//! `+∞` spoils its row. A score of `−∞` is how a mask says "do not look", and gets weight zero;
//! a row of nothing but `−∞` gets weights, and an output, of zero.

use ndarray::{Array2, ArrayView2};

use crate::Error;

/// Which keys a query may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// All of them, before and after: an encoder such as BERT.
    None,
    /// Its own and those before: a language model that reads left to right.
    ///
    /// The last query stands beside the last key. Where there are fewer queries than keys, as
    /// when the earlier keys come from a cache, the queries are the last ones; where there are
    /// more, the first queries have nothing to look at.
    Causal,
}

/// How well each query fits each key: `Q Kᵀ / √head_dim`.
///
/// `queries` is `(seq_len, head_dim)`, `keys` is `(key_len, head_dim)`, the result
/// `(seq_len, key_len)`. Vaswani et al. 2017, equation 1, before the softmax. The division keeps
/// the spread of the scores near 1 where the entries of query and key have spread 1.
///
/// # Errors
///
/// [`Error::Shape`] where an array is empty, the two widths differ, or the result could not be
/// addressed.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::attention::scores;
///
/// let query = array![[1.0, 2.0, 0.0, 1.0]];
/// let keys = array![[3.0, 0.0, 1.0, 1.0], [0.0, 1.0, 5.0, 0.0]];
/// assert_eq!(scores(query.view(), keys.view())?, array![[2.0, 1.0]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
pub fn scores(queries: ArrayView2<f64>, keys: ArrayView2<f64>) -> Result<Array2<f64>, Error> {
    check_scores(queries, keys)?;
    Ok(scaled_products(queries, keys))
}

// ANCHOR: scores
fn scaled_products(queries: ArrayView2<f64>, keys: ArrayView2<f64>) -> Array2<f64> {
    let head_dim = queries.ncols() as f64;
    queries.dot(&keys.t()) / head_dim.sqrt()
}
// ANCHOR_END: scores

/// Turns each row of scores into weights: positive, and adding up to 1.
///
/// Any shape `(seq_len, key_len)`, unchanged. The largest score of a row is taken off first,
/// which changes nothing but keeps the exponentials from overflowing. A score of `−∞` gets
/// weight zero, a row of nothing but `−∞` a row of zeros; a NaN or `+∞` makes its row NaN.
///
/// Error: a relative `(largest − score + key_len + 3) · 1.2e-16` at most against 100-digit
/// arithmetic; what is below the smallest normal number, 2.2e-308, loses its digits.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::attention::softmax;
///
/// let weights = softmax(array![[1000.0, 1000.0, f64::NEG_INFINITY]].view());
/// assert_eq!(weights, array![[0.5, 0.5, 0.0]]);
/// ```
// ANCHOR: softmax
pub fn softmax(scores: ArrayView2<f64>) -> Array2<f64> {
    let mut weights = scores.to_owned();
    for mut row in weights.rows_mut() {
        if row.iter().all(|&score| score == f64::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        let largest = row.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        row.mapv_inplace(|score| (score - largest).exp());
        let total = row.sum();
        row.mapv_inplace(|exponential| exponential / total);
    }
    weights
}
// ANCHOR_END: softmax

/// Turns scores into weights, with the keys that `mask` hides at weight zero.
///
/// Any shape `(seq_len, key_len)`, unchanged. Hidden scores become `−∞` before the [`softmax`],
/// whatever they were, so that a hidden NaN does no harm.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::attention::{Mask, weights};
///
/// let equal = array![[0.0, 0.0], [0.0, 0.0]];
/// assert_eq!(weights(equal.view(), Mask::None), array![[0.5, 0.5], [0.5, 0.5]]);
/// assert_eq!(weights(equal.view(), Mask::Causal), array![[1.0, 0.0], [0.5, 0.5]]);
/// ```
// ANCHOR: weights
pub fn weights(scores: ArrayView2<f64>, mask: Mask) -> Array2<f64> {
    let (seq_len, key_len) = scores.dim();
    let mut visible = scores.to_owned();
    if mask == Mask::Causal {
        for ((query, key), score) in visible.indexed_iter_mut() {
            if key + seq_len > query + key_len {
                *score = f64::NEG_INFINITY;
            }
        }
    }
    softmax(visible.view())
}
// ANCHOR_END: weights

/// What each query gets: the values, averaged with its weights.
///
/// `queries` is `(seq_len, head_dim)`, `keys` is `(key_len, head_dim)`, `values` is
/// `(key_len, value_dim)`, the result `(seq_len, value_dim)`. Vaswani et al. 2017, equation 1.
///
/// # Errors
///
/// [`Error::Shape`] where an array is empty or two of them do not fit together.
///
/// ```
/// use ndarray::{Axis, array};
/// use positional_encoding::attention::{Mask, attention};
///
/// let x = array![[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]];
/// let out = attention(x.view(), x.view(), x.view(), Mask::None)?;
/// let y = x.select(Axis(0), &[2, 0, 1]);
/// let out_of_y = attention(y.view(), y.view(), y.view(), Mask::None)?;
///
/// // The tokens changed places, and so did their outputs. Nothing else happened.
/// let moved = out.select(Axis(0), &[2, 0, 1]);
/// assert!((out_of_y - moved).iter().all(|difference| difference.abs() < 1e-14));
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: attention
pub fn attention(
    queries: ArrayView2<f64>,
    keys: ArrayView2<f64>,
    values: ArrayView2<f64>,
    mask: Mask,
) -> Result<Array2<f64>, Error> {
    check_values(keys, values)?;
    let scores = scores(queries, keys)?;
    Ok(weights(scores.view(), mask).dot(&values))
}
// ANCHOR_END: attention

/// [`attention`] with a number added to every score before the mask and the softmax.
///
/// Shapes as for [`attention`]; `bias` is `(seq_len, key_len)`, in the units of the score, after
/// the division by `√head_dim`. This is the door that ALiBi and the relative bias of T5 come in
/// by. A bias of `−∞` hides a key from a query.
///
/// Error: below 1e-15 against 100-digit arithmetic for entries and biases up to 2, widths up to 16
/// and up to 33 keys. It grows with the size of the scores, as that of [`softmax`] does.
///
/// # Errors
///
/// [`Error::Shape`] where an array is empty or two of them do not fit together.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::attention::{Mask, attention_with_bias};
///
/// let same = array![[1.0], [1.0]];
/// let values = array![[10.0], [20.0]];
/// // Equal contents, so the bias alone decides: weights 1/3 and 2/3 for both queries.
/// let bias = array![[0.0, 2f64.ln()], [0.0, 2f64.ln()]];
/// let out = attention_with_bias(
///     same.view(), same.view(), values.view(), bias.view(), Mask::None,
/// )?;
/// approx::assert_relative_eq!(out[[0, 0]], 50.0 / 3.0, max_relative = 1e-15);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: attention_with_bias
pub fn attention_with_bias(
    queries: ArrayView2<f64>,
    keys: ArrayView2<f64>,
    values: ArrayView2<f64>,
    bias: ArrayView2<f64>,
    mask: Mask,
) -> Result<Array2<f64>, Error> {
    check_values(keys, values)?;
    let mut scores = scores(queries, keys)?;
    check_bias(scores.view(), bias)?;
    scores += &bias;
    Ok(weights(scores.view(), mask).dot(&values))
}
// ANCHOR_END: attention_with_bias

fn check_scores(queries: ArrayView2<f64>, keys: ArrayView2<f64>) -> Result<(), Error> {
    for (name, array) in [("queries", queries), ("keys", keys)] {
        if array.is_empty() {
            return Err(Error::Shape {
                name,
                given: array.shape().to_vec(),
                expected: "(seq_len, head_dim), both above zero".into(),
                remedy: "give at least one token and one entry a token".into(),
            });
        }
    }
    if queries.ncols() != keys.ncols() {
        return Err(Error::Shape {
            name: "keys",
            given: keys.shape().to_vec(),
            expected: format!("(key_len, {}), as wide as the queries", queries.ncols()),
            remedy: "project queries and keys to the same head_dim".into(),
        });
    }
    let addressable = isize::MAX as usize / size_of::<f64>();
    let count = queries.nrows().checked_mul(keys.nrows());
    if count.is_none_or(|count| count > addressable) {
        return Err(Error::Shape {
            name: "queries",
            given: queries.shape().to_vec(),
            expected: format!("few enough rows for {} keys", keys.nrows()),
            remedy: "attend in chunks of queries: a score is kept for every pair".into(),
        });
    }
    Ok(())
}

fn check_values(keys: ArrayView2<f64>, values: ArrayView2<f64>) -> Result<(), Error> {
    if values.nrows() == keys.nrows() && values.ncols() > 0 {
        return Ok(());
    }
    Err(Error::Shape {
        name: "values",
        given: values.shape().to_vec(),
        expected: format!("({}, value_dim), value_dim above zero", keys.nrows()),
        remedy: "give one value for every key".into(),
    })
}

fn check_bias(scores: ArrayView2<f64>, bias: ArrayView2<f64>) -> Result<(), Error> {
    if bias.dim() == scores.dim() {
        return Ok(());
    }
    Err(Error::Shape {
        name: "bias",
        given: bias.shape().to_vec(),
        expected: format!(
            "({}, {}), one number a score",
            scores.nrows(),
            scores.ncols()
        ),
        remedy: "build the bias for these lengths of queries and keys".into(),
    })
}
