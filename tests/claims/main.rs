//! The claims of the book, one module a chapter's subject, one test a claim.

mod alibi;
mod attention;
mod learned;
mod sinusoidal;
mod t5;
