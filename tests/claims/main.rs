//! The claims of the book: each test is a sentence about positional encoding.

mod precision;
mod rope;
