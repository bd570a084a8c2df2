//! A recurrent network, in as few lines as it takes to see that it knows order and why: it walks.

use ndarray::{Array1, ArrayView1, ArrayView2};

use crate::Error;

/// One step: the next state, from the state so far and the next token.
///
/// `tanh(state W_state + token W_token)`. `state` and the result are `(state_dim,)`, `token` is
/// `(d_model,)`, `state_weight` is `(state_dim, state_dim)`, `token_weight` is
/// `(d_model, state_dim)`. The simple recurrent network of Elman 1990, without biases.
///
/// # Errors
///
/// [`Error::Shape`] where a weight does not fit.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::recurrent::step;
///
/// let next = step(
///     array![0.5].view(), array![1.0, 2.0].view(),
///     array![[2.0]].view(), array![[1.0], [0.0]].view(),
/// )?;
/// assert_eq!(next, array![2f64.tanh()]);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: step
pub fn step(
    state: ArrayView1<f64>,
    token: ArrayView1<f64>,
    state_weight: ArrayView2<f64>,
    token_weight: ArrayView2<f64>,
) -> Result<Array1<f64>, Error> {
    check("state_weight", state_weight, state.len(), state.len())?;
    check("token_weight", token_weight, token.len(), state.len())?;
    Ok((state.dot(&state_weight) + token.dot(&token_weight)).mapv(f64::tanh))
}
// ANCHOR_END: step

/// Reads a sentence: one [`step`] a token, from a state of zeros, to the state after the last.
///
/// `tokens` is `(seq_len, d_model)`, the result `(state_dim,)`. No tokens, no steps: zeros.
///
/// # Errors
///
/// [`Error::Shape`] where a weight does not fit.
///
/// ```
/// use ndarray::array;
/// use positional_encoding::recurrent::read;
///
/// let (state_weight, token_weight) = (array![[0.5]], array![[1.0]]);
/// let up = read(array![[1.0], [2.0]].view(), state_weight.view(), token_weight.view())?;
/// let down = read(array![[2.0], [1.0]].view(), state_weight.view(), token_weight.view())?;
/// assert!((up - down)[0].abs() > 0.05);
/// # Ok::<(), positional_encoding::Error>(())
/// ```
// ANCHOR: read
pub fn read(
    tokens: ArrayView2<f64>,
    state_weight: ArrayView2<f64>,
    token_weight: ArrayView2<f64>,
) -> Result<Array1<f64>, Error> {
    let mut state = Array1::zeros(state_weight.nrows());
    for token in tokens.rows() {
        state = step(state.view(), token, state_weight, token_weight)?;
    }
    Ok(state)
}
// ANCHOR_END: read

fn check(
    name: &'static str,
    weight: ArrayView2<f64>,
    rows: usize,
    columns: usize,
) -> Result<(), Error> {
    if weight.dim() == (rows, columns) {
        return Ok(());
    }
    Err(Error::Shape {
        name,
        given: weight.shape().to_vec(),
        expected: format!("({rows}, {columns})"),
        remedy: "one row for each number that comes in, one column for each of the state".into(),
    })
}
