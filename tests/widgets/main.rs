//! The committed modules answer as the crate does, the snippets print what the pages show, and a
//! page stays within its budget.

mod budget;
mod door;
mod modules;
mod snippets;
