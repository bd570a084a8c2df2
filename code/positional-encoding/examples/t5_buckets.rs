//! Prints the distance at which each of T5's buckets begins.

use positional_encoding::{Direction, Error, t5};

fn main() -> Result<(), Error> {
    // ANCHOR: main
    for direction in [Direction::Causal, Direction::Bidirectional] {
        println!("{direction:?}: a key this far back opens a bucket");
        let mut last = None;
        for distance in 0..1000 {
            let bucket = t5::bucket(-distance, 32, 128, direction)?;
            if last != Some(bucket) {
                print!("{distance:>4}");
                if bucket % 16 == 15 {
                    println!();
                }
            }
            last = Some(bucket);
        }
    }
    // ANCHOR_END: main
    Ok(())
}
