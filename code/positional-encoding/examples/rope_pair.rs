//! One pair at three places: the same offset, the same dot product, but for the last digits.

use positional_encoding::rope::rotate_pair;

// ANCHOR: example
fn main() {
    let (query, key) = ([2.0, 1.0], [1.0, 2.0]);
    let frequency = 0.25;
    println!("   m    n   dot product");
    for (m, n) in [(0, 3), (5, 8), (105, 108)] {
        let [a, b] = rotate_pair(query, f64::from(m) * frequency);
        let [c, d] = rotate_pair(key, f64::from(n) * frequency);
        println!("{m:4} {n:4}   {:.16}", a * c + b * d);
    }
}
// ANCHOR_END: example
