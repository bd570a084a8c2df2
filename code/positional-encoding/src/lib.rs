//! How a transformer knows word order: every positional encoding, plain and exact.

mod error;
pub mod precision;
pub mod rope;

pub use error::Error;
