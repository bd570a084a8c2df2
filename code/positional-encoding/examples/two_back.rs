//! One fixed matrix that lets every position find the one two places before it.

use positional_encoding::Error;
use positional_encoding::sinusoidal::{encoding, shift_matrix, table};

// ANCHOR: two_back
fn main() -> Result<(), Error> {
    let (seq_len, d_model) = (8, 64);
    let keys = table(seq_len, d_model)?;
    let two_back = shift_matrix(-2, d_model)?;
    println!("query    score with key 0, 1, 2 ...");
    for position in 2..seq_len {
        let query = two_back.dot(&encoding(position, d_model)?);
        let scores: Vec<String> = keys
            .rows()
            .into_iter()
            .map(|key| format!("{:>6.1}", key.dot(&query)))
            .collect();
        println!("{position:>5}   {}", scores.join(""));
    }
    Ok(())
}
// ANCHOR_END: two_back
