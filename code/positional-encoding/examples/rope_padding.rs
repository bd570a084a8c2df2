//! A batch of two rows, the first padded on the left.

use positional_encoding::rope::positions_from_mask;

// ANCHOR: example
fn main() {
    let batch = [
        [false, false, true, true, true],
        [true, true, true, true, true],
    ];
    for mask in batch {
        let positions = positions_from_mask(&mask);
        let tokens = mask.iter().filter(|&&real| real).count();
        println!("positions {positions:?}, the next token's: {tokens}");
    }
}
// ANCHOR_END: example
