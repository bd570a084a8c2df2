//! The base of dynamic NTK at growing lengths, in the paper's form and in the common code's.

use positional_encoding::Error;
use positional_encoding::scaling::{self, Frequencies, Trained};

const LLAMA_2: Trained = Trained {
    rotary_dim: 128,
    base: 10_000.0,
    length: 4096,
};

// ANCHOR: dynamic_base
fn base(scaled: &Frequencies) -> f64 {
    scaled.inv_freq[1].powi(-(scaled.inv_freq.len() as i32))
}

fn main() -> Result<(), Error> {
    println!("length   paper   factor 1   factor 2   factor 4");
    for seq_len in [1000, 4096, 4097, 8192, 16_384] {
        let paper = scaling::dynamic_ntk(&LLAMA_2, seq_len)?;
        print!("{seq_len:>6} {:>7.0}", base(&paper));
        for factor in [1.0, 2.0, 4.0] {
            let code = scaling::dynamic_ntk_with_factor(&LLAMA_2, factor, seq_len)?;
            print!(" {:>10.0}", base(&code));
        }
        println!();
    }
    Ok(())
}
// ANCHOR_END: dynamic_base
