//! Weaves the book on positional encoding from tested code.
//!
//! [`build`](press::build) makes `book/` from `src/` in four steps, each a module of its own:
//!
//! 1. [`weave`] replaces what a chapter asks for (listings, outputs, figures, tables, values,
//!    claims) by what was made for it a moment ago; it runs before mdBook's own includes.
//! 2. mdbook-katex renders the formulae; [`typeset`] keeps those of chapters that did not change.
//! 3. [`finish`] makes the rendered formulae safe from Markdown, refuses those that failed, and
//!    adds the scripts of the widgets.
//! 4. mdBook renders the pages into a folder beside `book/`; [`canonical`] signs them where the
//!    site's address is set; [`site`] checks their links; only then does [`press`] put the folder
//!    in the place of `book/`.
//!
//! Steps 1 and 3 are mdBook preprocessors, so stock `mdbook` makes the same pages, but for the
//! canonical links.

pub mod canonical;
pub mod claim;
pub mod example;
pub mod fault;
pub mod finish;
pub mod formula;
pub mod keep;
pub mod press;
pub mod site;
pub mod typeset;
pub mod weave;
pub mod widget;

pub use fault::{Fault, Faults};

/// A pattern that is written in the code, so that a wrong one fails the first test that meets it.
fn pattern(text: &str) -> regex::Regex {
    regex::Regex::new(text).expect("a constant pattern, compiled by the tests")
}
