//! How a transformer knows word order: every positional encoding, plain and exact.

pub mod alibi;
pub mod attention;
pub mod block;
pub mod config;
mod direction;
mod error;
pub mod learned;
pub mod precision;
pub mod recurrent;
pub mod rope;
pub mod scaling;
pub mod sinusoidal;
pub mod t5;

pub use direction::Direction;
pub use error::Error;
