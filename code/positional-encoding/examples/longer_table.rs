//! Stretches a trained table to twice its length and looks at what becomes of its attention.

use ndarray::Array2;
use positional_encoding::{Error, attention, learned};

fn main() -> Result<(), Error> {
    let mut table = learned::random_table(48, 16, 1);
    learned::train(&mut table, learned::neighbourhood(48, 2).view(), 4.0, 200)?;

    // ANCHOR: main
    let longer = learned::interpolate(table.view(), 95)?;
    for (name, table, position) in [("trained", &table, 24), ("longer", &longer, 48)] {
        let weights = attention::softmax(table.dot(&table.t()).view());
        print!("{name:<8} {:>2} rows:", table.nrows());
        for radius in [2, 4] {
            let near = within(&weights, position, radius);
            print!("  {near:.2} within {radius} places");
        }
        println!();
    }
    // ANCHOR_END: main
    Ok(())
}

fn within(weights: &Array2<f64>, position: usize, radius: usize) -> f64 {
    let keys = position - radius..=position + radius;
    keys.map(|key| weights[[position, key]]).sum()
}
