//! How similar one stamp is to the stamps of positions 0 to 127, as the page shows it.

use positional_encoding::{Error, rope, sinusoidal};

fn main() -> Result<(), Error> {
    let position = 40;
    let d_model = 64;
    let base = 10000.0;

    let inv_freq = rope::inv_freq(d_model, base)?;
    for other in 0..128 {
        let product = sinusoidal::dot_product(other - position, &inv_freq);
        println!("{:.12}", product / inv_freq.len() as f64);
    }
    Ok(())
}
