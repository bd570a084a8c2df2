//! Three first ideas for a position signal, each beside the text length it has to serve.

use positional_encoding::Error;
use positional_encoding::sinusoidal::{binary_digits, scaled_position};

// ANCHOR: first_ideas
fn main() -> Result<(), Error> {
    println!("position   raw   of 5 words   of 9 words   binary");
    for position in 0..5 {
        let of_5 = scaled_position(position, 5)?;
        let of_9 = scaled_position(position, 9)?;
        let binary = binary_digits(position, 3)?;
        print!("{position:>8} {position:>5} ");
        println!("{of_5:>12.3} {of_9:>12.3}   {binary:?}");
    }
    Ok(())
}
// ANCHOR_END: first_ideas
