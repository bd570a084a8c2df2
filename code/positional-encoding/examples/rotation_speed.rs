//! Prints what both ways of building a long table cost on this machine, in milliseconds.
//!
//! Run it with `--release`; the figures differ from run to run, so the book prints none.

use std::hint::black_box;
use std::time::Instant;

use ndarray::Array2;
use positional_encoding::Error;
use positional_encoding::sinusoidal::{table, table_by_rotation};

fn main() -> Result<(), Error> {
    let (seq_len, d_model) = (131_072, 512);
    println!("{seq_len} positions, {d_model} wide, best of three");
    let direct = best_of_three(|| table(seq_len, d_model))?;
    let turned = best_of_three(|| table_by_rotation(seq_len, d_model))?;
    let memory = best_of_three(|| Ok(Array2::from_elem((seq_len, d_model), 1.0)))?;
    println!("sine and cosine       {direct:>8.0} ms");
    println!("by rotation           {turned:>8.0} ms");
    println!("filling with ones     {memory:>8.0} ms, no arithmetic at all");
    Ok(())
}

/// The shortest of three runs, in milliseconds.
fn best_of_three(build: impl Fn() -> Result<Array2<f64>, Error>) -> Result<f64, Error> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        black_box(build()?);
        best = best.min(1000.0 * start.elapsed().as_secs_f64());
    }
    Ok(best)
}
