//! "bit" looks at "dog" from one place and another: with stamps added, and with both rotated.

use ndarray::Array1;
use positional_encoding::Error;
use positional_encoding::rope::{Layout, inv_freq, rotate};
use positional_encoding::sinusoidal::encoding;

// ANCHOR: example
fn added(query: &[f64], m: usize, key: &[f64], n: usize) -> Result<f64, Error> {
    let q = Array1::from(query.to_vec()) + encoding(m, query.len())?;
    let k = Array1::from(key.to_vec()) + encoding(n, key.len())?;
    Ok(q.dot(&k))
}

fn rotated(query: &[f64], m: usize, key: &[f64], n: usize) -> Result<f64, Error> {
    let inv_freq = inv_freq(query.len(), 10_000.0)?;
    let (mut q, mut k) = (query.to_vec(), key.to_vec());
    rotate(&mut q, m, &inv_freq, Layout::Interleaved)?;
    rotate(&mut k, n, &inv_freq, Layout::Interleaved)?;
    Ok(q.iter().zip(k).map(|(a, b)| a * b).sum())
}

fn main() -> Result<(), Error> {
    let bit = [0.9, -0.4, 1.2, 0.3, -0.7, 0.5, 0.1, 1.1];
    let dog = [1.1, 0.2, 0.6, -0.5, -0.3, 0.8, 0.4, 0.9];
    println!(" bit  dog      added    rotated");
    for (m, n) in [(2, 1), (12, 11), (112, 111), (2, 4)] {
        let (added, rotated) = (added(&bit, m, &dog, n)?, rotated(&bit, m, &dog, n)?);
        println!("{m:4} {n:4}   {added:8.4}   {rotated:8.4}");
    }
    Ok(())
}
// ANCHOR_END: example
