//! The four terms of one score, for the same two words at two places, two positions apart.

use ndarray::{Array1, Array2};
use positional_encoding::Error;
use positional_encoding::sinusoidal::{encoding, score_terms};

// ANCHOR: four_terms
fn main() -> Result<(), Error> {
    let d_model = 8;
    let bit = Array1::from_shape_fn(d_model, |i| (2.0 * i as f64).sin());
    let dog = Array1::from_shape_fn(d_model, |i| (3.0 * i as f64).cos());
    // Two matrices with no structure, as training starts with.
    let w = |seed: f64| {
        Array2::from_shape_fn((d_model, d_model), |(row, column)| {
            (seed + 1.7 * row as f64 + 3.1 * (row * column) as f64).sin()
        })
    };
    let (w_query, w_key) = (w(0.3), w(0.8));
    println!("bit at  dog at   word-word  word-place  place-word  place-place");
    for (at_bit, at_dog) in [(5, 3), (302, 300)] {
        let p = encoding(at_bit, d_model)?;
        let p_key = encoding(at_dog, d_model)?;
        let query = [bit.view(), p.view()];
        let key = [dog.view(), p_key.view()];
        let terms = score_terms(query, key, w_query.view(), w_key.view())?;
        let [[xx, xp], [px, pp]] = terms;
        print!("{at_bit:>6}  {at_dog:>6}  {xx:>10.3}  {xp:>10.3}  ");
        println!("{px:>10.3}  {pp:>11.3}");
    }
    Ok(())
}
// ANCHOR_END: four_terms
