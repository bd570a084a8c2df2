//! The figures of the book.
