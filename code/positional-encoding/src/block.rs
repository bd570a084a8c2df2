//! A transformer block around [`attention`](crate::attention): enough of one to ask whether the
//! rest of it can see order.
//!
//! It cannot. Attention permutes its outputs with its inputs; everything else in a block works on
//! one row at a time. One head, no biases and no gains, which would add numbers and change nothing
//! about order. The block is the one of Vaswani et al. 2017, section 3.1, with the normalisation
//! before each part instead of after it, as in GPT-2 and most models since.

use ndarray::{Array2, ArrayView2};

use crate::Error;
use crate::attention::{Mask, attention};

/// The weights of one block. Any numbers are allowed; the shapes must fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Makes queries of the input: `(d_model, head_dim)`.
    pub query: Array2<f64>,
    /// Makes keys of the input: `(d_model, head_dim)`.
    pub key: Array2<f64>,
    /// Makes values of the input: `(d_model, value_dim)`.
    pub value: Array2<f64>,
    /// Brings the averaged values back to the model's width: `(value_dim, d_model)`.
    pub output: Array2<f64>,
    /// First layer of the feed-forward part: `(d_model, hidden_dim)`.
    pub expand: Array2<f64>,
    /// Second layer of the feed-forward part: `(hidden_dim, d_model)`.
    pub contract: Array2<f64>,
}

/// The attention part of a block: projections, [`attention`],
/// projection back.
///
/// `x` and the result are `(seq_len, d_model)`. Vaswani et al. 2017, section 3.2.2, with one head.
///
/// # Errors
///
/// [`Error::Shape`] where `x` is empty or a weight does not fit.
///
/// ```
/// use ndarray::{Array2, array};
/// use positional_encoding::{attention::Mask, block::{Block, attend}};
///
/// // Queries of zeros: every token gets the mean of all values, here of the tokens themselves.
/// let (zero, one) = (Array2::zeros((2, 2)), Array2::eye(2));
/// let block = Block {
///     query: zero.clone(), key: zero.clone(), value: one.clone(),
///     output: one, expand: zero.clone(), contract: zero,
/// };
/// let x = array![[1.0, 0.0], [3.0, 4.0]];
/// assert_eq!(attend(&block, x.view(), Mask::None)?, array![[2.0, 2.0], [2.0, 2.0]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: attend
pub fn attend(block: &Block, x: ArrayView2<f64>, mask: Mask) -> Result<Array2<f64>, Error> {
    let queries = project("query", x, &block.query)?;
    let keys = project("key", x, &block.key)?;
    let values = project("value", x, &block.value)?;
    let seen = attention(queries.view(), keys.view(), values.view(), mask)?;
    project("output", seen.view(), &block.output)
}
// ANCHOR_END: attend

/// The whole block: attention and feed-forward, each on a normalised copy, each added to what came
/// in.
///
/// `x` and the result are `(seq_len, d_model)`, so that blocks can be stacked.
///
/// # Errors
///
/// [`Error::Shape`] where `x` is empty or a weight does not fit.
///
/// ```
/// use ndarray::{Array2, Axis, array};
/// use positional_encoding::{attention::Mask, block::{Block, forward}};
///
/// let weight = |seed: f64| Array2::from_shape_fn((3, 3), |(i, j)| {
///     (seed + (3 * i + j) as f64).sin()
/// });
/// let block = Block {
///     query: weight(1.0), key: weight(2.0), value: weight(3.0),
///     output: weight(4.0), expand: weight(5.0), contract: weight(6.0),
/// };
/// let x = array![[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [2.0, 2.0, 0.0]];
/// let backwards = x.select(Axis(0), &[2, 1, 0]);
///
/// let out = forward(&block, x.view(), Mask::None)?.select(Axis(0), &[2, 1, 0]);
/// let out_backwards = forward(&block, backwards.view(), Mask::None)?;
/// assert!((out - out_backwards).iter().all(|difference| difference.abs() < 1e-12));
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: forward
pub fn forward(block: &Block, x: ArrayView2<f64>, mask: Mask) -> Result<Array2<f64>, Error> {
    check_width("output", &block.output, x.ncols())?;
    check_width("contract", &block.contract, x.ncols())?;
    let seen = attend(block, normalise(x).view(), mask)?;
    let x = &x + &seen;
    let normal = normalise(x.view());
    let fed = feed_forward(normal.view(), &block.expand, &block.contract)?;
    Ok(x + fed)
}
// ANCHOR_END: forward

/// `max(0, x W₁) W₂`, row by row.
///
/// `x` is `(seq_len, d_model)`, `expand` is `(d_model, hidden_dim)`, `contract` is
/// `(hidden_dim, d_out)`, the result `(seq_len, d_out)`. Vaswani et al. 2017, equation 2, without
/// the two biases. A NaN stays a NaN.
///
/// # Errors
///
/// [`Error::Shape`] where a weight does not fit.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::block::feed_forward;
///
/// let x = array![[1.0, 2.0], [-3.0, 4.0]];
/// let out = feed_forward(x.view(), &array![[1.0], [1.0]], &array![[10.0]])?;
/// assert_eq!(out, array![[30.0], [10.0]]);
///
/// // The second row alone gives the same second row: no row looks at another.
/// let alone = feed_forward(x.slice(ndarray::s![1.., ..]), &array![[1.0], [1.0]], &array![[10.0]])?;
/// assert_eq!(alone, array![[10.0]]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: feed_forward
pub fn feed_forward(
    x: ArrayView2<f64>,
    expand: &Array2<f64>,
    contract: &Array2<f64>,
) -> Result<Array2<f64>, Error> {
    let mut hidden = project("expand", x, expand)?;
    hidden.mapv_inplace(|h| if h < 0.0 { 0.0 } else { h });
    project("contract", hidden.view(), contract)
}
// ANCHOR_END: feed_forward

/// Shifts and scales each row to mean 0 and spread 1: layer normalisation, without gain and bias.
///
/// Any shape `(seq_len, d_model)`, unchanged. Under the root, 1e-5 is added to the variance, as is
/// usual, so that a row of equal numbers becomes zeros.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::block::normalise;
///
/// assert_eq!(normalise(array![[5.0, 5.0]].view()), array![[0.0, 0.0]]);
/// approx::assert_relative_eq!(
///     normalise(array![[1.0, 3.0]].view())[[0, 1]], 1.0, max_relative = 1e-5,
/// );
/// ```
// ANCHOR: normalise
pub fn normalise(x: ArrayView2<f64>) -> Array2<f64> {
    let mut normal = x.to_owned();
    for mut row in normal.rows_mut() {
        let width = row.len() as f64;
        let mean = row.sum() / width;
        row.mapv_inplace(|entry| entry - mean);
        let variance = row.dot(&row) / width;
        row.mapv_inplace(|entry| entry / (variance + 1e-5).sqrt());
    }
    normal
}
// ANCHOR_END: normalise

fn check_width(name: &'static str, weight: &Array2<f64>, d_model: usize) -> Result<(), Error> {
    if weight.ncols() == d_model {
        return Ok(());
    }
    Err(Error::Shape {
        name,
        given: weight.shape().to_vec(),
        expected: format!("({}, {d_model})", weight.nrows()),
        remedy: "end each part at d_model, so that it can be added to its input".into(),
    })
}

fn project(
    name: &'static str,
    x: ArrayView2<f64>,
    weight: &Array2<f64>,
) -> Result<Array2<f64>, Error> {
    if weight.nrows() == x.ncols() && !weight.is_empty() {
        return Ok(x.dot(weight));
    }
    Err(Error::Shape {
        name,
        given: weight.shape().to_vec(),
        expected: format!("({}, width), with both above zero", x.ncols()),
        remedy: "give the weight as many rows as its input has columns".into(),
    })
}
