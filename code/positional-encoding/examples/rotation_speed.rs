//! Prints what both ways of building a long table cost on this machine, in milliseconds.
//!
//! Run it with `--release`; the figures differ from run to run, so the book prints none.

use std::hint::black_box;
use std::time::Instant;

use positional_encoding::Error;
use positional_encoding::sinusoidal::{table, table_by_rotation};

fn main() -> Result<(), Error> {
    let (seq_len, d_model) = (131_072, 512);
    println!("{seq_len} positions, {d_model} wide, best of three");
    let mut best = [f64::INFINITY; 2];
    for _ in 0..3 {
        let start = Instant::now();
        black_box(table(seq_len, d_model)?);
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        black_box(table_by_rotation(seq_len, d_model)?);
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    let [direct, turned] = best.map(|seconds| 1000.0 * seconds);
    println!("sine and cosine  {direct:>8.0} ms");
    println!(
        "by rotation      {turned:>8.0} ms, {:.1} times faster",
        direct / turned
    );
    Ok(())
}
