//! One token past the trained length, LongRoPE changes its list.

use positional_encoding::Error;
use positional_encoding::scaling::{self, LongRope, LongRopeAttention, Trained};

fn main() -> Result<(), Error> {
    // ANCHOR: longrope_switch
    let trained = Trained {
        rotary_dim: 8,
        base: 10_000.0,
        length: 4096,
    };
    let lists = LongRope {
        short_factor: vec![1.0, 1.0, 1.0, 1.0],
        long_factor: vec![1.0, 2.0, 4.0, 8.0],
        attention: LongRopeAttention::FromLength(131_072),
    };
    for seq_len in [100, 4096, 4097] {
        let scaled = scaling::longrope(&trained, &lists, seq_len)?;
        println!("{seq_len:>4}: {:?}", scaled.inv_freq);
    }
    let scaled = scaling::longrope(&trained, &lists, 100)?;
    println!("cosine and sine times {:.4}", scaled.attention_factor);
    // ANCHOR_END: longrope_switch
    Ok(())
}
