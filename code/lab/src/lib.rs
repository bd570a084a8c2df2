//! Small models, trained to put the claims about positional encoding to the test.
//!
//! Every model is the same transformer; only the way position enters differs, and that comes
//! from the companion crate `positional-encoding`. `cargo run --release -p lab -- length` trains
//! and measures; what it records under `results/` is what the book's figures are drawn from.

pub mod checkpoint;
pub mod checksum;
mod error;
pub mod experiments;
pub mod language;
pub mod measure;
pub mod model;
pub mod position;
pub mod random;
pub mod record;
pub mod text;
pub mod train;
pub mod workers;

pub use error::{Error, Result};
