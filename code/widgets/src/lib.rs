//! The functions behind the live pages: what a widget asks, the companion crate answers.
//!
//! A widget's script draws and listens; every number it shows comes from here. Each function takes
//! the numbers its controls hold, reads them with [`Input`], and returns the [`Answer`] or the
//! companion crate's own [`Error`], whose sentence the page shows beside the field at fault.
//! [`EXPORTS`] lists them under the names that the compiled module gives them.
//!
//! `cargo run -p widgets --bin modules` compiles this crate to WebAssembly, once for each chapter,
//! and writes `page/modules/`, which is committed, so that a reader needs no second target to build
//! the book.

mod abi;
pub mod attention;
pub mod bias;
mod input;
pub mod rope;
pub mod scaling;
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

/// Every function that a page can call: the module it is in, its name there, and the function.
///
/// The modules bear the names of the chapters, whose pages carry them; `reader` is the one that is
/// fetched when a reader pastes a file.
pub const EXPORTS: &[(&str, &str, Export)] = &[
    ("attention", "attention", attention::attention),
    ("sinusoidal", "waves", sinusoidal::waves),
    ("sinusoidal", "similarity", sinusoidal::similarity),
    ("rope", "arrows", rope::arrows),
    ("rope", "layouts", rope::layouts),
    ("learned-t5-alibi", "bias", bias::bias),
    ("scaling", "scaling", scaling::scaling),
    ("reader", "config", scaling::config),
];
