//! Weaves the book.
fn main() {}
