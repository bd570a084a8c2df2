//! What a window costs in memory: the keys and values of every token.

use positional_encoding::Error;
use positional_encoding::scaling::KvCache;

fn main() -> Result<(), Error> {
    // ANCHOR: cache_bytes
    let llama2 = KvCache {
        layers: 32,
        kv_heads: 32,
        head_dim: 128,
        bytes_per_number: 2,
    };
    let llama3 = KvCache {
        kv_heads: 8,
        ..llama2
    };
    let gib = (1u64 << 30) as f64;
    println!("tokens    32 kv heads    8 kv heads");
    for seq_len in [4096, 32_768, 131_072, 1_048_576] {
        let many = llama2.bytes(seq_len)? as f64 / gib;
        let few = llama3.bytes(seq_len)? as f64 / gib;
        println!("{seq_len:>7} {many:>10.1} GiB {few:>9.1} GiB");
    }
    // ANCHOR_END: cache_bytes
    Ok(())
}
