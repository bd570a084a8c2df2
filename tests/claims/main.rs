//! The claims of the book: one module a subject, one test a claim, named as a sentence.

mod alibi;
mod attention;
mod config;
mod lab;
mod learned;
mod misunderstandings;
mod pitfalls;
mod precision;
mod rope;
mod scaling;
mod sinusoidal;
mod t5;
