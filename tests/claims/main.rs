//! The claims of the book: each test is a sentence about positional encoding.

mod precision;
mod rope;
//! The claims of the book: one module a subject, one test a claim, named as a sentence.

mod attention;
mod sinusoidal;
