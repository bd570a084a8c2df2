//! The claims of the book: one module a subject, one test a claim, named as a sentence.

mod attention;
mod sinusoidal;
