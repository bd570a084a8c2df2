//! The figures of the book, drawn from the companion crate's own functions.
//!
//! A chapter names what it wants as `module/name`. [`svg`] draws a figure, [`table`] writes a
//! Markdown table and [`value`] a number for the running text, each computed when it is asked
//! for. What a module offers stands at the top of its file, in its `FIGURES`, `TABLES` and
//! `VALUES`; [`kit`] is what they are drawn with.

pub mod alibi;
pub mod attention;
pub mod config;
pub mod kit;
pub mod lab;
pub mod learned;
pub mod live;
pub mod record;
pub mod rope;
pub mod scaling;
pub mod sinusoidal;
pub mod t5;

use positional_encoding::Error;

/// A figure under its name.
pub struct Figure {
    /// `module/name`, as the chapters spell it.
    pub name: &'static str,
    /// What the figure shows, for readers who hear the page.
    pub title: &'static str,
    /// Draws it.
    pub draw: fn() -> Result<kit::Drawing, FigureError>,
}

/// A piece of Markdown, computed, under its name.
pub struct Text {
    /// `module/name`, as the chapters spell it.
    pub name: &'static str,
    /// Writes it.
    pub write: fn() -> Result<String, FigureError>,
}

/// What can go wrong between a name in a chapter and its figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// No such name.
    #[error("there is no {kind} named `{name}`; near it there are: {known}")]
    Unknown {
        /// Figure, table or value.
        kind: &'static str,
        /// What the chapter asked for.
        name: String,
        /// What the same module has, or the modules where there is no such one.
        known: String,
    },
    /// The companion crate refused the parameters.
    #[error(transparent)]
    Subject(#[from] Error),
    /// A record of the lab that is not as the lab wrote it.
    #[error(
        "code/lab/results/{name} is damaged: {found}; restore it from the repository, or record \
         it anew with the command in its head"
    )]
    Record {
        /// The file.
        name: &'static str,
        /// What is wrong with it.
        found: String,
    },
    /// Plotting itself failed.
    #[error("the plot could not be drawn: {0}")]
    Plot(String),
}

const FIGURES: &[&[Figure]] = &[
    attention::FIGURES,
    sinusoidal::FIGURES,
    rope::FIGURES,
    learned::FIGURES,
    t5::FIGURES,
    alibi::FIGURES,
    scaling::FIGURES,
    config::FIGURES,
    lab::FIGURES,
    live::FIGURES,
];
const TABLES: &[&[Text]] = &[
    sinusoidal::TABLES,
    rope::TABLES,
    scaling::TABLES,
    config::TABLES,
    lab::TABLES,
];
const VALUES: &[&[Text]] = &[sinusoidal::VALUES, lab::VALUES];

/// All figures, in the order of the chapters.
pub fn figures() -> impl Iterator<Item = &'static Figure> + Clone {
    FIGURES.iter().copied().flatten()
}

/// All tables, in the order of the chapters.
pub fn tables() -> impl Iterator<Item = &'static Text> + Clone {
    TABLES.iter().copied().flatten()
}

/// All values, in the order of the chapters.
pub fn values() -> impl Iterator<Item = &'static Text> + Clone {
    VALUES.iter().copied().flatten()
}

/// Draws the figure of this name as an inline SVG element whose description is `alt`.
///
/// # Errors
///
/// [`FigureError::Unknown`] with the names there are; otherwise what the drawing met.
pub fn svg(name: &str, alt: &str) -> Result<String, FigureError> {
    let figure = figures()
        .find(|figure| figure.name == name)
        .ok_or_else(|| unknown("figure", name, figures().map(|figure| figure.name)))?;
    Ok((figure.draw)()?.into_svg(figure.name, figure.title, alt))
}

/// Writes the Markdown table of this name.
///
/// # Errors
///
/// [`FigureError::Unknown`] with the names there are; otherwise what the computation met.
pub fn table(name: &str) -> Result<String, FigureError> {
    text("table", name, tables())
}

/// Writes the value of this name, ready to stand in a sentence.
///
/// # Errors
///
/// [`FigureError::Unknown`] with the names there are; otherwise what the computation met.
pub fn value(name: &str) -> Result<String, FigureError> {
    text("value", name, values())
}

fn text(
    kind: &'static str,
    name: &str,
    mut texts: impl Iterator<Item = &'static Text> + Clone,
) -> Result<String, FigureError> {
    let known = texts.clone();
    match texts.find(|text| text.name == name) {
        Some(text) => (text.write)(),
        None => Err(unknown(kind, name, known.map(|text| text.name))),
    }
}

fn unknown<'a>(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> FigureError {
    let module = |name: &'a str| name.split('/').next().unwrap_or(name);
    let known: Vec<&str> = known.collect();
    let mut near: Vec<&str> = known.clone();
    near.retain(|other| name.split('/').next() == Some(module(other)));
    if near.is_empty() {
        near = known.iter().map(|other| module(other)).collect();
        near.dedup();
    }
    FigureError::Unknown {
        kind,
        name: name.into(),
        known: near.join(", "),
    }
}
