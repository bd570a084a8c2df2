//! Can word and position be read back from their sum? A dot product each, at four widths.

use ndarray::{Array2, ArrayView1};
use positional_encoding::Error;
use positional_encoding::sinusoidal::{add_to_embedding, table};

const WORDS: usize = 500;
const POSITIONS: usize = 128;

// ANCHOR: told_apart
fn main() -> Result<(), Error> {
    println!("d_model   word right   position right   within one");
    for d_model in [16, 64, 256, 1024] {
        // Random words of length about 1, as a model's embedding starts out.
        let words = random_words(d_model) / (d_model as f64).sqrt();
        let stamps = table(POSITIONS, d_model)?;
        let positions: Vec<usize> = (0..WORDS).map(|word| word % POSITIONS).collect();
        let sums = add_to_embedding(words.view(), &positions)?;

        let mut right = [0; 3];
        for (word, sum) in sums.rows().into_iter().enumerate() {
            let place = most_alike(&stamps, sum);
            right[0] += usize::from(most_alike(&words, sum) == word);
            right[1] += usize::from(place == positions[word]);
            right[2] += usize::from(place.abs_diff(positions[word]) <= 1);
        }
        let [word, place, near] = right.map(|n| 100.0 * n as f64 / WORDS as f64);
        println!("{d_model:>7} {word:>10.1} % {place:>14.1} % {near:>10.1} %");
    }
    Ok(())
}
// ANCHOR_END: told_apart

fn most_alike(rows: &Array2<f64>, to: ArrayView1<f64>) -> usize {
    let products = rows.dot(&to);
    let best = products.indexed_iter().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(row, _)| row)
}

/// Entries close to normal with mean 0 and variance 1: twelve uniform numbers added, less six.
fn random_words(d_model: usize) -> Array2<f64> {
    let mut state: u64 = 2017;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    Array2::from_shape_simple_fn((WORDS, d_model), || {
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    })
}
