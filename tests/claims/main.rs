//! What the book claims, as tests: one module for each module of the subject.

mod alibi;
mod learned;
mod t5;
