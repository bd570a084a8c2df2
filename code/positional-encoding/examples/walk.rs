//! A recurrent network reads the two sentences, word by word, and ends in two states.

use ndarray::{Array1, array};
use positional_encoding::Error;
use positional_encoding::recurrent::step;

fn main() -> Result<(), Error> {
    let the = [0.1, 0.2, 0.1, 0.0];
    let dog = [0.9, 0.1, 0.0, 0.3];
    let bit = [0.0, 0.8, 0.5, 0.1];
    let man = [0.8, 0.0, 0.2, 0.7];
    let first = array![the, dog, bit, the, man];
    let second = array![the, man, bit, the, dog];

    // ANCHOR: walk
    let state_weight = array![[0.5, -0.4], [0.3, 0.6]];
    let token_weight = array![[1.0, 0.2], [-0.5, 0.4], [0.3, 0.0], [0.1, 1.0]];
    for (sentence, x) in [
        ("the dog bit the man", first),
        ("the man bit the dog", second),
    ] {
        println!("{sentence}");
        let mut state = Array1::zeros(2);
        for (word, token) in sentence.split(' ').zip(x.rows()) {
            state = step(
                state.view(),
                token,
                state_weight.view(),
                token_weight.view(),
            )?;
            println!("  after {word:<4}{state:7.4}");
        }
    }
    // ANCHOR_END: walk
    Ok(())
}
