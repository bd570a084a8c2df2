//! Trains a table of 48 positions to look at its neighbours, and asks it for a 49th.

use positional_encoding::learned;

fn main() -> Result<(), positional_encoding::Error> {
    // ANCHOR: main
    let mut table = learned::random_table(48, 16, 1);
    let target = learned::neighbourhood(48, 2);
    let losses = learned::train(&mut table, target.view(), 4.0, 200)?;

    println!("step   loss (nats)");
    for step in [0, 10, 25, 50, 199] {
        println!("{step:>4}   {:.3}", losses[step]);
    }

    println!("\nrow 20 compared with its neighbours");
    let similarity = learned::similarity(table.view());
    for other in [20, 21, 22, 24, 28, 32] {
        println!("row {other}  {:>6.2}", similarity[[20, other]]);
    }

    match learned::lookup(table.view(), &[46, 47, 48]) {
        Ok(rows) => println!("\n{rows}"),
        Err(error) => println!("\n{}", error.to_string().replace("; ", ";\n")),
    }
    // ANCHOR_END: main
    Ok(())
}
