//! Converting the projections of grouped-query attention: eight query heads, two key heads.

use ndarray::Array2;
use positional_encoding::Error;
use positional_encoding::rope::{Heads, Layout, convert_weight};

// ANCHOR: example
fn main() -> Result<(), Error> {
    let (from, to) = (Layout::Interleaved, Layout::Half);
    let query_heads = Heads {
        count: 8,
        head_dim: 8,
        rotary_dim: 8,
    };
    let key_heads = Heads {
        count: 2,
        ..query_heads
    };
    // One column that numbers the rows shows where each of them went.
    let numbered = |rows| Array2::from_shape_fn((rows, 1), |(row, _)| row as f64);
    let (query_weight, key_weight) = (numbered(64), numbered(16));

    let query = convert_weight(query_weight.view(), &query_heads, from, to)?;
    let key = convert_weight(key_weight.view(), &key_heads, from, to)?;
    for (name, weight) in [("query", query), ("key", key)] {
        let second_head = weight.column(0).to_vec().split_off(8);
        let rows = weight.nrows();
        println!(
            "{name:5} {rows} rows, second head: {:.0?}",
            &second_head[..8]
        );
    }
    if let Err(error) = convert_weight(key_weight.view(), &query_heads, from, to) {
        println!("\nkey with the query's heads:");
        for line in error.to_string().split("; ") {
            println!("  {line}");
        }
    }
    Ok(())
}
// ANCHOR_END: example
