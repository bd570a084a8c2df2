//! Chapter 1: one sentence in two orders, through one attention head.

use ndarray::{Array2, Axis};
use positional_encoding::attention::{Mask, scores, weights};
use positional_encoding::{Direction, Error, alibi, rope, sinusoidal};

use crate::{Answer, Input};

/// The sentence in its own order.
pub const WORDS: [&str; 5] = ["the", "dog", "bit", "the", "man"];
/// What stands for each word: the entries of the chapter's example.
pub const EMBEDDINGS: [[f64; 4]; 5] = [
    [0.1, 0.2, 0.1, 0.0],
    [0.9, 0.1, 0.0, 0.3],
    [0.0, 0.8, 0.5, 0.1],
    [0.1, 0.2, 0.1, 0.0],
    [0.8, 0.0, 0.2, 0.7],
];

/// Where a position signal is put in: the three places of the chapter's map, or none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Attention as it is.
    None,
    /// A sinusoidal stamp, added to the input.
    Input,
    /// A rotation of query and key.
    QueryAndKey,
    /// ALiBi's penalty on the distance, added to the score.
    Score,
}

/// Weights and outputs of the sentence in its own order and in the reader's.
///
/// Takes `mask` (0 none, 1 causal), `signal` (0 none, 1 input, 2 query and key, 3 score) and the
/// order: which word stands on each of the five seats. Gives, for the own order and then for the
/// reader's, the weights `(5, 5)` and the outputs `(5, 4)`; last the largest difference between
/// the two outputs of one word, which is 0 but for rounding where the outputs are permuted.
///
/// # Errors
///
/// [`Error::Parameter`] where a choice does not exist or the order does not name every word once.
///
/// ```
/// let bit_first = [0.0, 4.0, 2.0, 3.0, 1.0];
/// let blind = widgets::attention::attention(&[&[0.0, 0.0], &bit_first[..]].concat())?;
/// assert!(blind.numbers[90] < 1e-15); // the outputs have changed seats, nothing else
/// let stamped = widgets::attention::attention(&[&[0.0, 1.0], &bit_first[..]].concat())?;
/// assert!(stamped.numbers[90] > 0.1);
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn attention(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let mask = input.choice("mask", &[Mask::None, Mask::Causal])?;
    let signal = input.choice(
        "signal",
        &[
            Signal::None,
            Signal::Input,
            Signal::QueryAndKey,
            Signal::Score,
        ],
    )?;
    let order = order(&mut input)?;
    let (own_weights, own_outputs) = head(&[0, 1, 2, 3, 4], mask, signal)?;
    let (weights, outputs) = head(&order, mask, signal)?;
    let mut difference: f64 = 0.0;
    for (seat, &word) in order.iter().enumerate() {
        for i in 0..4 {
            difference = difference.max((own_outputs[[word, i]] - outputs[[seat, i]]).abs());
        }
    }
    let mut numbers = Vec::new();
    for array in [own_weights, own_outputs, weights, outputs] {
        numbers.extend(array.into_raw_vec_and_offset().0);
    }
    numbers.push(difference);
    Ok(numbers.into())
}

fn order(input: &mut Input) -> Result<[usize; 5], Error> {
    let mut order = [0; 5];
    for seat in &mut order {
        *seat = input.whole("order", 0..=4)?;
    }
    let mut sorted = order;
    sorted.sort_unstable();
    if sorted == [0, 1, 2, 3, 4] {
        return Ok(order);
    }
    Err(Error::Parameter {
        name: "order",
        given: order.map(|seat| seat.to_string()).concat(),
        allowed: "each of the five words once".into(),
        remedy: "move a word by one seat at a time".into(),
    })
}

/// Weights and outputs of one head over the words in this order.
fn head(
    order: &[usize; 5],
    mask: Mask,
    signal: Signal,
) -> Result<(Array2<f64>, Array2<f64>), Error> {
    let (seq_len, d_model) = (5, 4);
    let mut x = Array2::from_shape_fn((seq_len, d_model), |(seat, i)| EMBEDDINGS[order[seat]][i]);
    if signal == Signal::Input {
        x += &sinusoidal::table(seq_len, d_model)?;
    }
    let mut turned = x.clone();
    if signal == Signal::QueryAndKey {
        let inv_freq = rope::inv_freq(d_model, 10_000.0)?;
        for (position, mut row) in turned.rows_mut().into_iter().enumerate() {
            if let Some(entries) = row.as_slice_mut() {
                rope::rotate(entries, position, &inv_freq, rope::Layout::Interleaved)?;
            }
        }
    }
    let mut scores = scores(turned.view(), turned.view())?;
    if signal == Signal::Score {
        let seats: Vec<usize> = (0..seq_len).collect();
        let bias = alibi::bias(&[0.5], &seats, &seats, Direction::Bidirectional);
        scores += &bias.index_axis(Axis(0), 0);
    }
    let weights = weights(scores.view(), mask);
    let outputs = weights.dot(&x);
    Ok((weights, outputs))
}
