//! Prints the slopes of eight and of twelve heads.

use positional_encoding::{Error, alibi};

fn main() -> Result<(), Error> {
    // ANCHOR: main
    for heads in [8, 12] {
        println!("{heads} heads");
        for row in alibi::slopes(heads)?.chunks(4) {
            for slope in row {
                print!("  {slope:.8}");
            }
            println!();
        }
    }
    // ANCHOR_END: main
    Ok(())
}
