//! Position 1, six entries wide, as the paper writes it and as the first published code does.

use positional_encoding::Error;
use positional_encoding::sinusoidal::{encoding, tensor2tensor_encoding};

// ANCHOR: two_layouts
fn main() -> Result<(), Error> {
    println!("paper          {:.4}", encoding(1, 6)?);
    println!("Tensor2Tensor  {:.4}", tensor2tensor_encoding(1, 6)?);
    Ok(())
}
// ANCHOR_END: two_layouts
