//! Both layouts keep the score when the text moves; a mix of the two does not.

use positional_encoding::Error;
use positional_encoding::rope::{Layout, inv_freq, rotate};

type Head = [f64; 4];

// ANCHOR: rotations
fn interleaved(mut x: Head, position: usize) -> Result<Head, Error> {
    rotate(&mut x, position, &inv_freq(4, 1e4)?, Layout::Interleaved)?;
    Ok(x)
}

fn half(mut x: Head, position: usize) -> Result<Head, Error> {
    rotate(&mut x, position, &inv_freq(4, 1e4)?, Layout::Half)?;
    Ok(x)
}

/// Angles laid out for neighbours, `[w0, w0, w1, w1]`, entries paired by halves.
fn mixed(x: Head, position: usize) -> Result<Head, Error> {
    let [w0, w1] = [1.0, 0.01];
    let angles = [w0, w0, w1, w1].map(|w| w * position as f64);
    let partners = [-x[2], -x[3], x[0], x[1]];
    Ok(std::array::from_fn(|j| {
        x[j] * angles[j].cos() + partners[j] * angles[j].sin()
    }))
}
// ANCHOR_END: rotations

fn dot(a: Head, b: Head) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

// ANCHOR: example
fn main() -> Result<(), Error> {
    let (query, key) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
    println!("   m   n   interleaved      half   mixed (wrong)");
    for (m, n) in [(0, 0), (3, 1), (5, 3), (12, 10)] {
        println!(
            "{m:4}{n:4}{:14.5}{:10.5}{:16.5}",
            dot(interleaved(query, m)?, interleaved(key, n)?),
            dot(half(query, m)?, half(key, n)?),
            dot(mixed(query, m)?, mixed(key, n)?),
        );
    }
    println!("\nthe query at position 1                          norm");
    for (name, x) in [
        ("interleaved", interleaved(query, 1)?),
        ("half", half(query, 1)?),
        ("mixed", mixed(query, 1)?),
    ] {
        println!("{name:12}{x:7.3?}   {:.4}", dot(x, x).sqrt());
    }
    Ok(())
}
// ANCHOR_END: example
