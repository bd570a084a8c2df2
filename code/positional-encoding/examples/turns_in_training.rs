//! How often each pair turns over the trained length of Llama 2, and how many never do.

use positional_encoding::scaling::{self, Trained};

// ANCHOR: llama2
const LLAMA_2: Trained = Trained {
    rotary_dim: 128,
    base: 10_000.0,
    length: 4096,
};
// ANCHOR_END: llama2

fn main() -> Result<(), positional_encoding::Error> {
    // ANCHOR: turns_in_training
    let inv_freq = LLAMA_2.inv_freq()?;
    let wavelengths = scaling::wavelengths(&inv_freq);
    let turns = scaling::turns(&inv_freq, LLAMA_2.length);
    println!("pair  wavelength      turns in 4096");
    for pair in [0, 20, 44, 45, 46, 63] {
        println!(
            "{pair:>4} {:>11.1} {:>14.3}",
            wavelengths[pair], turns[pair]
        );
    }
    let never = scaling::pairs_never_turning(&inv_freq, LLAMA_2.length);
    println!("{never} of {} pairs never complete a turn", inv_freq.len());
    // ANCHOR_END: turns_in_training
    Ok(())
}
