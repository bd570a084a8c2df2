//! A key can be found that scores highest at any distance one likes.

use positional_encoding::Error;
use positional_encoding::rope::{Layout, inv_freq, rotate, shift};

// ANCHOR: example
fn main() -> Result<(), Error> {
    let (inv_freq, layout) = (inv_freq(64, 10_000.0)?, Layout::Half);
    let query = [0.125; 64];

    println!("wanted   score there   best elsewhere   at");
    for wanted in [0, 1, 50, 700, 3000] {
        // The query, turned ahead by as much as the key will lie behind.
        let mut key = query;
        shift(&mut key, wanted, &inv_freq, layout)?;

        let score = |distance: usize| -> Result<f64, Error> {
            let (mut q, k) = (query, key);
            rotate(&mut q, distance, &inv_freq, layout)?;
            Ok(q.iter().zip(k).map(|(a, b)| a * b).sum())
        };
        let mut best = (f64::MIN, 0);
        for distance in (0..4096).filter(|&distance| distance != wanted as usize) {
            let score = score(distance)?;
            if score > best.0 {
                best = (score, distance);
            }
        }
        let there = score(wanted as usize)?;
        println!("{wanted:6}{there:14.4}{:17.4}{:5}", best.0, best.1);
    }
    Ok(())
}
// ANCHOR_END: example
