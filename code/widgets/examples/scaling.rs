//! The frequencies of a model before and after scaling, as the page shows them.

#[allow(unused_imports)]
use positional_encoding::scaling::{ByParts, Llama3, Scaling, Trained, Yarn, turns};
use positional_encoding::{Error, config};

// A pasted file takes the place of the empty text.
#[allow(clippy::const_is_empty)]
fn main() -> Result<(), Error> {
    let config = r#""#;
    let table = 0;
    let length = 16384;
    let trained = Trained {
        rotary_dim: 128,
        base: 10_000.0,
        length: 4096,
    };
    let rule = Scaling::Yarn(Yarn {
        factor: 4.0,
        ..Yarn::default()
    });

    let (before, after, attention_factor) = if config.is_empty() {
        let scaled = rule.frequencies(&trained, length)?;
        (
            trained.inv_freq()?,
            scaled.inv_freq,
            scaled.attention_factor,
        )
    } else {
        let model = config::read(config.as_bytes(), Some(length))?;
        let rotating = model
            .tables
            .into_iter()
            .filter(|table| !table.inv_freq.is_empty());
        let tables: Vec<config::Table> = rotating.collect();
        let table = &tables[table];
        (
            table.unscaled.clone(),
            table.inv_freq.clone(),
            table.attention_factor,
        )
    };
    println!("attention factor {attention_factor:.12}");
    println!("before, after, turns");
    for ((before, after), turns) in before.iter().zip(&after).zip(turns(&after, length)) {
        println!("{before:.12e} {after:.12e} {turns:.12e}");
    }
    Ok(())
}
