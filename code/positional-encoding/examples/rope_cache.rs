//! Decoding with a cache: the new token needs its own position, not position 0.

use ndarray::{Array3, Axis, Slice};
use positional_encoding::Error;
use positional_encoding::rope::{Layout, apply, inv_freq, shift_cache};

fn score(query: &Array3<f64>, key: &Array3<f64>) -> f64 {
    (query * key).sum()
}

// ANCHOR: example
fn main() -> Result<(), Error> {
    let (inv_freq, layout) = (inv_freq(8, 10_000.0)?, Layout::Half);
    // Six tokens, one head. The last is the one that has just been made.
    let unrotated = Array3::from_shape_fn((6, 1, 8), |(s, _, j)| ((3 * s + j) as f64).sin());
    let token = |s: usize| {
        unrotated
            .slice_axis(Axis(0), Slice::from(s..s + 1))
            .to_owned()
    };

    let mut cached_key = token(4);
    apply(&mut cached_key, &[4], &inv_freq, layout)?;

    for (what, position) in [("position 5", 5), ("position 0", 0)] {
        let mut query = token(5);
        apply(&mut query, &[position], &inv_freq, layout)?;
        println!(
            "new query at {what}: score {:.6}",
            score(&query, &cached_key)
        );
    }

    // The two oldest tokens are dropped: what is left moves back by two.
    shift_cache(&mut cached_key, -2, &inv_freq, layout)?;
    let mut query = token(5);
    apply(&mut query, &[3], &inv_freq, layout)?;
    println!(
        "after the shift, at 3:   score {:.6}",
        score(&query, &cached_key)
    );
    Ok(())
}
// ANCHOR_END: example
