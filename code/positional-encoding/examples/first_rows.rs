//! The first three encodings of a model eight entries wide.

use positional_encoding::Error;
use positional_encoding::sinusoidal::{encoding, inv_freq};

// ANCHOR: first_rows
fn main() -> Result<(), Error> {
    let d_model = 8;
    let step = inv_freq(d_model)?;
    println!(
        "radians a step:  {:.3} {:.3} {:.3} {:.3}",
        step[0], step[1], step[2], step[3]
    );
    println!();
    println!("pos     sin    cos |    sin    cos |    sin    cos |    sin    cos");
    for position in 0..3 {
        let row = encoding(position, d_model)?;
        let pairs: Vec<String> = row
            .exact_chunks(2)
            .into_iter()
            .map(|pair| format!("{:>7.3}{:>7.3}", pair[0], pair[1]))
            .collect();
        println!("{position:>3} {}", pairs.join(" |"));
    }
    Ok(())
}
// ANCHOR_END: first_rows
