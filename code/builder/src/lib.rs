//! Weaves the book.
