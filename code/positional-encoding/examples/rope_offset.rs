//! "bit" looks at "dog" from one place and another: with stamps added, and with both rotated.

use ndarray::arr1;
use positional_encoding::Error;
use positional_encoding::rope::{Layout, inv_freq, rotate};
use positional_encoding::sinusoidal::encoding;

// ANCHOR: example
type Head = [f64; 8];

fn added(query: Head, m: usize, key: Head, n: usize) -> Result<f64, Error> {
    let q = arr1(&query) + encoding(m, 8)?;
    let k = arr1(&key) + encoding(n, 8)?;
    Ok(q.dot(&k))
}

fn rotated(query: Head, m: usize, key: Head, n: usize) -> Result<f64, Error> {
    let inv_freq = inv_freq(8, 10_000.0)?;
    let (mut q, mut k) = (query, key);
    rotate(&mut q, m, &inv_freq, Layout::Interleaved)?;
    rotate(&mut k, n, &inv_freq, Layout::Interleaved)?;
    Ok(q.iter().zip(k).map(|(a, b)| a * b).sum())
}

fn main() -> Result<(), Error> {
    let bit = [0.9, -0.4, 1.2, 0.3, -0.7, 0.5, 0.1, 1.1];
    let dog = [1.1, 0.2, 0.6, -0.5, -0.3, 0.8, 0.4, 0.9];
    println!(" bit  dog      added    rotated");
    for (m, n) in [(2, 1), (12, 11), (112, 111), (2, 4)] {
        let added = added(bit, m, dog, n)?;
        let rotated = rotated(bit, m, dog, n)?;
        println!("{m:4} {n:4}   {added:8.4}   {rotated:8.4}");
    }
    Ok(())
}
// ANCHOR_END: example
