//! How a transformer knows word order: every positional encoding, plain and exact.
//!
//! This is the code that the book prints, and each chapter has its modules:
//!
//! | chapter | modules |
//! |---|---|
//! | 1. Order blindness | [`attention`], [`block`], [`recurrent`] |
//! | 2. Sinusoids | [`sinusoidal`] |
//! | 3. Rotary position embedding | [`rope`], [`precision`] |
//! | 4. Learned tables, T5 and ALiBi | [`learned`], [`t5`], [`alibi`] |
//! | 5. Long context | [`scaling`] |
//! | Model atlas | [`config`], and the command `rope` |
//!
//! [`in_place`] gives the numbers of several chapters at the speed of memory, for programs that run
//! a model.
//!
//! Throughout, positions are whole numbers from zero, angles are radians, and arrays have their
//! shapes in the documentation, the slowest axis first. A function that can be asked for something
//! impossible answers with an [`Error`] that names the argument, what is allowed and what to do.

pub mod alibi;
pub mod attention;
pub mod block;
pub mod config;
mod direction;
mod error;
pub mod in_place;
pub mod learned;
pub mod precision;
pub mod recurrent;
pub mod rope;
pub mod scaling;
pub mod sinusoidal;
pub mod t5;

pub use direction::Direction;
pub use error::Error;
