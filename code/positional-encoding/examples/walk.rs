//! A recurrent network reads the two sentences, word by word, and ends in two states.

use ndarray::{Array1, Array2, array};
use positional_encoding::Error;
use positional_encoding::recurrent::step;

fn main() -> Result<(), Error> {
    let the = [0.1, 0.2, 0.1, 0.0];
    let dog = [0.9, 0.1, 0.0, 0.3];
    let bit = [0.0, 0.8, 0.5, 0.1];
    let man = [0.8, 0.0, 0.2, 0.7];

    walk("the dog bit the man", array![the, dog, bit, the, man])?;
    walk("the man bit the dog", array![the, man, bit, the, dog])
}

// ANCHOR: walk
fn walk(sentence: &str, x: Array2<f64>) -> Result<(), Error> {
    let from_state = array![[0.5, -0.4], [0.3, 0.6]];
    let from_token = array![[1.0, 0.2], [-0.5, 0.4], [0.3, 0.0], [0.1, 1.0]];
    let (from_state, from_token) = (from_state.view(), from_token.view());

    println!("{sentence}");
    let mut state = Array1::zeros(2);
    for (word, token) in sentence.split(' ').zip(x.rows()) {
        state = step(state.view(), token, from_state, from_token)?;
        println!("  after {word:<4}{state:7.4}");
    }
    Ok(())
}
// ANCHOR_END: walk
