//! How a transformer knows word order: every positional encoding, plain and exact.

pub mod config;
mod error;
pub mod rope;
pub mod scaling;

pub use error::Error;
