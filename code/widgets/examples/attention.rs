//! One sentence in two orders: the weights and outputs that the page shows.

use ndarray::{Array2, Axis};
use positional_encoding::attention::{Mask, scores, weights};
use positional_encoding::{Direction, Error, alibi, rope, sinusoidal};

fn main() -> Result<(), Error> {
    let order = [0, 4, 2, 3, 1];
    let mask = Mask::None;
    let signal = "none";

    let words = ["the", "dog", "bit", "the", "man"];
    let embeddings = [
        [0.1, 0.2, 0.1, 0.0],
        [0.9, 0.1, 0.0, 0.3],
        [0.0, 0.8, 0.5, 0.1],
        [0.1, 0.2, 0.1, 0.0],
        [0.8, 0.0, 0.2, 0.7],
    ];
    let mut x = Array2::from_shape_fn((5, 4), |(seat, i)| embeddings[order[seat]][i]);
    if signal == "input" {
        x += &sinusoidal::table(5, 4)?;
    }
    let mut turned = x.clone().insert_axis(Axis(1));
    if signal == "query-and-key" {
        let inv_freq = rope::inv_freq(4, 10_000.0)?;
        let seats = [0, 1, 2, 3, 4];
        rope::apply(&mut turned, &seats, &inv_freq, rope::Layout::Interleaved)?;
    }
    let turned = turned.remove_axis(Axis(1));
    let mut scores = scores(turned.view(), turned.view())?;
    if signal == "score" {
        let seats = [0, 1, 2, 3, 4];
        scores +=
            &alibi::bias(&[0.5], &seats, &seats, Direction::Bidirectional).index_axis(Axis(0), 0);
    }
    let weights = weights(scores.view(), mask);
    let outputs = weights.dot(&x);
    for (seat, &word) in order.iter().enumerate() {
        println!("{} weights {:.12}", words[word], weights.row(seat));
        println!("{} output {:.12}", words[word], outputs.row(seat));
    }
    Ok(())
}
