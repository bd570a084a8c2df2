//! What each rule leaves of a frequency of Llama 2 when the window is to grow fourfold.

use positional_encoding::Error;
use positional_encoding::scaling::{ByParts, Scaling, Trained, Yarn};

const LLAMA_2: Trained = Trained {
    rotary_dim: 128,
    base: 10_000.0,
    length: 4096,
};

fn main() -> Result<(), Error> {
    // ANCHOR: four_rules
    let factor = 4.0;
    let rules = [
        Scaling::PositionInterpolation(factor),
        Scaling::NtkAware(factor),
        Scaling::NtkByParts(ByParts {
            factor,
            ..ByParts::default()
        }),
        Scaling::Yarn(Yarn {
            factor,
            ..Yarn::default()
        }),
    ];
    let before = LLAMA_2.inv_freq()?;
    println!("pair  interpolation  ntk-aware  by-parts    yarn");
    for pair in [0, 16, 24, 32, 40, 46, 63] {
        print!("{pair:>4}");
        for (rule, width) in rules.iter().zip([15, 11, 10, 8]) {
            let after = rule.frequencies(&LLAMA_2, 16_384)?.inv_freq;
            print!("{:>width$.3}", after[pair] / before[pair]);
        }
        println!();
    }
    // ANCHOR_END: four_rules
    Ok(())
}
