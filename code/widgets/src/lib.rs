//! The functions behind the live pages: what a widget asks, the companion crate answers.
//!
//! A widget's script draws and listens; every number it shows comes from here. Each function takes
//! the numbers its controls hold, reads them with [`Input`], and returns the [`Answer`] or the
//! companion crate's own [`Error`], whose sentence the page shows beside the field at fault.
//! [`EXPORTS`] lists them under the names that the compiled module gives them.
//!
//! `cargo run -p widgets --bin module` compiles this crate to WebAssembly and writes
//! `page/module.js`, which is committed, so that a reader needs no second target to build the book.

mod abi;
pub mod attention;
mod input;
pub mod sinusoidal;

pub use input::Input;
pub use positional_encoding::Error;

/// What a function tells the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The numbers, in the order that the function's documentation gives.
    pub numbers: Vec<f64>,
    /// Words, where the function has any.
    pub text: String,
}

impl From<Vec<f64>> for Answer {
    fn from(numbers: Vec<f64>) -> Answer {
        Answer {
            numbers,
            text: String::new(),
        }
    }
}

/// A function that a page can call.
pub type Export = fn(&[f64]) -> Result<Answer, Error>;

/// Every function that a page can call, under its name in the module.
pub const EXPORTS: &[(&str, Export)] = &[
    ("attention", attention::attention),
    ("waves", sinusoidal::waves),
    ("similarity", sinusoidal::similarity),
];
