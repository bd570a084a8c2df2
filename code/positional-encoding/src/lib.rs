//! How a transformer knows word order: every positional encoding, plain and exact.

mod error;
pub mod rope;

pub use error::Error;
