//! Three pairs of positions, two apart each: their dot products and the closed form.

use positional_encoding::Error;
use positional_encoding::sinusoidal::{dot_product, encoding, inv_freq};

// ANCHOR: same_offset
fn main() -> Result<(), Error> {
    let d_model = 512;
    for (a, b) in [(3, 5), (300, 302), (90_000, 90_002)] {
        let product = encoding(a, d_model)?.dot(&encoding(b, d_model)?);
        println!("PE({a:>6}) . PE({b:>6})  =  {product}");
    }
    let by_offset = dot_product(2, &inv_freq(d_model)?);
    println!("sum of cos(2 w)          =  {by_offset}");
    Ok(())
}
// ANCHOR_END: same_offset
