//! The bias of one head for one query and every key, as the page shows it.

use ndarray::Array2;
use positional_encoding::{Direction, Error, alibi, t5};

fn main() -> Result<(), Error> {
    let scheme = "alibi";
    let direction = Direction::Causal;
    let heads = 8;
    let head = 3;
    let query = 40;
    let key = 33;

    // No model learned this table: T5's own is not part of the book.
    let table = Array2::from_shape_fn((32, heads), |(bucket, head)| {
        let near = (bucket % 16) as f64 / 15.0;
        match head % 4 {
            0 => 2.0 - 6.0 * near,
            1 => 4.0 * near - 3.0,
            2 if bucket >= 16 => -4.0,
            2 => 1.0 - near,
            _ if bucket < 16 => -4.0 * near,
            _ => 2.0 - near,
        }
    });
    let keys: Vec<usize> = (0..64).collect();
    let bias = if scheme == "t5" {
        t5::bias(table.view(), &[query], &keys, 128, direction)?
    } else {
        alibi::bias(&alibi::slopes(heads)?, &[query], &keys, direction)
    };
    for bias in bias.slice(ndarray::s![head - 1, 0, ..]) {
        println!("{bias:.12}");
    }
    println!("the chosen key: {:.12}", bias[[head - 1, 0, key]]);
    Ok(())
}
