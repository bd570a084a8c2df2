//! How a transformer knows word order: every positional encoding, plain and exact.

mod error;
pub mod rope;
pub mod scaling;

pub use error::Error;
