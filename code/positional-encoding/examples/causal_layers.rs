//! What the full stop knows of the words before it, after one, two and three layers.

use ndarray::{Array2, array};
use positional_encoding::Error;
use positional_encoding::attention::{Mask, attention};

// ANCHOR: causal_layers
fn main() -> Result<(), Error> {
    let the = [0.1, 0.2, 0.1, 0.0];
    let dog = [0.9, 0.1, 0.0, 0.3];
    let bit = [0.0, 0.8, 0.5, 0.1];
    let man = [0.8, 0.0, 0.2, 0.7];
    let stop = [0.2, 0.3, 0.6, 0.4];
    let first = array![the, dog, bit, the, man, stop];
    let second = array![the, man, bit, the, dog, stop];

    println!("How far apart the two full stops come out");
    println!("layers   no mask   causal");
    for layers in 1..=3 {
        let bidirectional = apart(&first, &second, layers, Mask::None)?;
        let causal = apart(&first, &second, layers, Mask::Causal)?;
        println!("{layers:>6}{bidirectional:>10.4}{causal:>9.4}");
    }
    Ok(())
}

fn apart(
    first: &Array2<f64>,
    second: &Array2<f64>,
    layers: usize,
    mask: Mask,
) -> Result<f64, Error> {
    let (mut first, mut second) = (first.clone(), second.clone());
    for _ in 0..layers {
        first = layer(&first, mask)?;
        second = layer(&second, mask)?;
    }
    let difference = &first.row(5) - &second.row(5);
    Ok(difference.dot(&difference).sqrt())
}

fn layer(x: &Array2<f64>, mask: Mask) -> Result<Array2<f64>, Error> {
    Ok(x + &attention(x.view(), x.view(), x.view(), mask)?)
}
// ANCHOR_END: causal_layers
