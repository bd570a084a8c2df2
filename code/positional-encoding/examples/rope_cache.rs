//! Decoding with a cache: the new token needs its own position, not position 0.

use ndarray::Array3;
use positional_encoding::Error;
use positional_encoding::rope::{Layout, apply, inv_freq, shift_cache};

fn score(query: &Array3<f64>, key: &Array3<f64>) -> f64 {
    (query * key).sum()
}

// ANCHOR: example
fn main() -> Result<(), Error> {
    let (inv_freq, layout) = (inv_freq(8, 10_000.0)?, Layout::Half);
    // Token s, one head of eight entries. The sixth has just been made.
    let entry = |s: usize, j: usize| ((3 * s + j) as f64).sin();
    let token = |s| Array3::from_shape_fn((1, 1, 8), |(_, _, j)| entry(s, j));

    let mut cached_key = token(4);
    apply(&mut cached_key, &[4], &inv_freq, layout)?;

    for (what, position) in [("position 5", 5), ("position 0", 0)] {
        let mut query = token(5);
        apply(&mut query, &[position], &inv_freq, layout)?;
        let score = score(&query, &cached_key);
        println!("new query at {what}: score {score:.6}");
    }

    // The two oldest tokens are dropped: what is left moves back by two.
    shift_cache(&mut cached_key, -2, &inv_freq, layout)?;
    let mut query = token(5);
    apply(&mut query, &[3], &inv_freq, layout)?;
    let score = score(&query, &cached_key);
    println!("after the shift, at 3:   score {score:.6}");
    Ok(())
}
// ANCHOR_END: example
