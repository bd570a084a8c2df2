//! The claims of the book, one module a chapter, one test a claim.

mod attention;
//! The claims of the book: each test is a sentence about positional encoding.

mod sinusoidal;
