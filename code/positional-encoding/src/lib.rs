//! How a transformer knows word order: every positional encoding, plain and exact.

pub mod attention;
mod error;
pub mod rope;
pub mod sinusoidal;

pub use error::Error;
