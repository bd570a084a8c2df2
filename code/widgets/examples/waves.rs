//! The stamp of one position, as the page shows it.

use positional_encoding::{Error, sinusoidal};

fn main() -> Result<(), Error> {
    let position = 20;
    let d_model = 32;

    for entry in sinusoidal::encoding(position, d_model)? {
        println!("{entry:.12}");
    }
    Ok(())
}
