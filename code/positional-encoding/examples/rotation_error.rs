//! How far the table by rotation is from the table by sine and cosine, at growing lengths.

use positional_encoding::Error;
use positional_encoding::sinusoidal::{table, table_by_rotation};

// ANCHOR: rotation_error
fn main() -> Result<(), Error> {
    println!("positions   largest difference   rounding of the angle");
    for seq_len in [256, 4_096, 65_536] {
        let difference = table_by_rotation(seq_len, 32)? - table(seq_len, 32)?;
        let largest = difference.iter().fold(0.0, |most, d| d.abs().max(most));
        let rounding = seq_len as f64 * f64::EPSILON;
        println!("{seq_len:>9} {largest:>20.1e} {rounding:>23.1e}");
    }
    Ok(())
}
// ANCHOR_END: rotation_error
