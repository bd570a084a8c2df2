//! Patches of an image: half of the head turns with the row, half with the column.

use positional_encoding::Error;
use positional_encoding::rope::{Layout, inv_freq, rotate_axes};

// ANCHOR: example
fn main() -> Result<(), Error> {
    let inv_freq = inv_freq(4, 100.0)?;
    let (query, key) = (
        [1.0, 0.3, -0.5, 0.8, 0.2, 0.9, 0.4, -1.0],
        [0.6, -0.2, 0.7, 1.0, 0.5, 0.1, -0.3, 0.4],
    );
    println!("query at   key at    score");
    for (at, key_at) in [([0, 0], [1, 2]), ([7, 4], [8, 6]), ([7, 4], [9, 5])] {
        let (mut q, mut k) = (query, key);
        rotate_axes(&mut q, &at, &inv_freq, Layout::Half)?;
        rotate_axes(&mut k, &key_at, &inv_freq, Layout::Half)?;
        let score: f64 = q.iter().zip(k).map(|(a, b)| a * b).sum();
        println!("{at:?}     {key_at:?}    {score:8.5}");
    }
    Ok(())
}
// ANCHOR_END: example
