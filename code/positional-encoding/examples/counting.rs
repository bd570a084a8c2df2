//! A causal mask and a start token are enough to count.

use ndarray::{Array2, array};
use positional_encoding::Error;
use positional_encoding::attention::{Mask, attention};

// ANCHOR: counting
fn main() -> Result<(), Error> {
    // Queries and keys of zeros: every score is 0, every weight the same.
    let zeros = Array2::zeros((6, 1));
    let start = array![[1.0], [0.0], [0.0], [0.0], [0.0], [0.0]];
    let out = attention(zeros.view(), zeros.view(), start.view(), Mask::Causal)?;
    println!("with a start token:    {:.4}", out.column(0));

    let same = Array2::from_elem((6, 1), 0.7);
    let out = attention(same.view(), same.view(), same.view(), Mask::Causal)?;
    println!("six equal tokens:      {:.4}", out.column(0));
    Ok(())
}
// ANCHOR_END: counting
