//! Where the ramp of YaRN's paper and the ramp of its code part ways.

use positional_encoding::Error;
use positional_encoding::scaling::{self, Ramp, Trained, Yarn};

const LLAMA_2: Trained = Trained {
    rotary_dim: 128,
    base: 10_000.0,
    length: 4096,
};

fn main() -> Result<(), Error> {
    // ANCHOR: yarn_ramps
    let code = Yarn {
        factor: 16.0,
        ..Yarn::default()
    };
    let paper = Yarn {
        ramp: Ramp::Turns,
        ..code
    };
    let (low, high) = scaling::yarn_band(&LLAMA_2, &code)?;
    println!("the code's ramp runs from pair {low} to pair {high}");
    let code = scaling::yarn(&LLAMA_2, &code)?;
    let paper = scaling::yarn(&LLAMA_2, &paper)?;
    println!("pair       paper        code  code / paper");
    for pair in [20, 26, 32, 38, 44, 46] {
        let (a, b) = (paper.inv_freq[pair], code.inv_freq[pair]);
        println!("{pair:>4} {a:>11.3e} {b:>11.3e} {:>13.2}", b / a);
    }
    println!("cosine and sine times {:.4}", code.attention_factor);
    println!("scores times          {:.4}", code.attention_factor.powi(2));
    // ANCHOR_END: yarn_ramps
    Ok(())
}
