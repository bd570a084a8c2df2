//! One angle, and 4096 positions, in four number formats.

use positional_encoding::Error;
use positional_encoding::precision::{Format, angle, distinct_positions, round};
use positional_encoding::rope::inv_freq;

// ANCHOR: example
fn main() -> Result<(), Error> {
    let frequency = inv_freq(32, 10_000.0)?[1];
    println!("format   257 is     angle 1857 · w1   positions left of 4096");
    println!("f64      257    {:18.6}   {:22}", 1857.0 * frequency, 4096);
    for format in [Format::F32, Format::F16, Format::Bf16] {
        println!(
            "{:6}   {:3}    {:18.6}   {:22}",
            format!("{format:?}").to_lowercase(),
            round(257.0, format),
            angle(1857, frequency, format),
            distinct_positions(4096, format),
        );
    }
    Ok(())
}
// ANCHOR_END: example
