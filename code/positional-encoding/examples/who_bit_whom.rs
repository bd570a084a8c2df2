//! Attention reads the two sentences: the same rows come out, in another order.

use ndarray::{Array1, Array2, Axis, array};
use positional_encoding::Error;
use positional_encoding::attention::{Mask, attention};

// ANCHOR: who_bit_whom
fn main() -> Result<(), Error> {
    let the = [0.1, 0.2, 0.1, 0.0];
    let dog = [0.9, 0.1, 0.0, 0.3];
    let bit = [0.0, 0.8, 0.5, 0.1];
    let man = [0.8, 0.0, 0.2, 0.7];

    show("the dog bit the man", array![the, dog, bit, the, man])?;
    show("the man bit the dog", array![the, man, bit, the, dog])
}

fn show(sentence: &str, x: Array2<f64>) -> Result<(), Error> {
    let out = attention(x.view(), x.view(), x.view(), Mask::None)?;
    println!("{sentence}");
    for (word, row) in sentence.split(' ').zip(out.rows()) {
        println!("  {word:<5}{row:.4}");
    }
    let mean: Array1<f64> = out.sum_axis(Axis(0)) / out.nrows() as f64;
    println!("  mean {mean:.4}");
    Ok(())
}
// ANCHOR_END: who_bit_whom
