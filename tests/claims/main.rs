//! The claims of the book, one module a chapter, one test a claim.

mod attention;
