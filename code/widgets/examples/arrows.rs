//! Query and key of one pair, turned to their positions, as the page shows them.

use positional_encoding::rope::rotate_pair;

fn main() {
    let query_position = 5;
    let key_position = 8;
    let frequency = 0.25;

    let [a, b] = rotate_pair([2.0, 1.0], f64::from(query_position) * frequency);
    let [c, d] = rotate_pair([1.0, 2.0], f64::from(key_position) * frequency);
    println!("query {a:.12} {b:.12}");
    println!("key {c:.12} {d:.12}");
    println!("dot product {:.12}", a * c + b * d);
}
