//! How a transformer knows word order: every positional encoding, plain and exact.

pub mod attention;
pub mod block;
mod error;
pub mod recurrent;
pub mod rope;
pub mod scaling;
pub mod sinusoidal;

pub use error::Error;
