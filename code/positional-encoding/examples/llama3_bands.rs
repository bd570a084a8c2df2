//! The three bands of Llama 3.1: alone, blended, divided by eight.

use positional_encoding::Error;
use positional_encoding::scaling::{self, Llama3, Trained};

fn main() -> Result<(), Error> {
    // ANCHOR: llama3_bands
    let llama3 = Trained {
        rotary_dim: 128,
        base: 500_000.0,
        length: 8192,
    };
    let before = llama3.inv_freq()?;
    let after = scaling::llama3(&llama3, &Llama3::default())?.inv_freq;
    println!("pair  wavelength  after / before");
    for pair in [0, 28, 29, 31, 33, 34, 35, 63] {
        let wavelength = scaling::wavelengths(&before)[pair];
        let ratio = after[pair] / before[pair];
        println!("{pair:>4} {wavelength:>11.1} {ratio:>15.4}");
    }
    // ANCHOR_END: llama3_bands
    Ok(())
}
