//! The formulae, typeset by mdbook-katex; a chapter that says what it said keeps its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mdbook_katex::cfg::{KatexConfig, get_config};
use mdbook_katex::preprocess::KatexProcessor;
use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use mdbook_preprocessor::errors::Result;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use regex::Regex;

use crate::keep::{self, Keep};
use crate::weave::Tally;
use crate::{Fault, Faults, pattern};

/// mdbook-katex, but for chapters whose formulae are kept.
#[derive(Default)]
pub struct Typeset {
    /// Counts what was not kept.
    pub tally: Tally,
}

impl Preprocessor for Typeset {
    fn name(&self) -> &str {
        "katex"
    }

    fn run(&self, ctx: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let target_folder: Option<PathBuf> = ctx.config.get("preprocessor.weave.target-dir")?;
        let target_folder = target_folder.map(|folder| ctx.root.join(folder));
        let mut keep = Keep::open(target_folder, "formulae");
        let settings = get_config(&ctx.config)?;
        let said = serde_json::to_string(&settings)? + &macros(&ctx.root, &settings)?;
        let mut failed = None;
        book.for_each_chapter_mut(|chapter| {
            if !chapter.content.contains('$') {
                return;
            }
            let name = format!(
                "{:016x}",
                keep::checksum(&(said.clone() + &chapter.content))
            );
            match keep.piece(&name, keep::stamp_of_running_program, || {
                alone(ctx, chapter)
            }) {
                Ok(content) => chapter.content = content,
                Err(error) => failed = Some(error),
            }
        });
        keep.save();
        self.tally.count(|counts| counts.made += keep.made());
        match failed {
            Some(error) => Err(error),
            None => Ok(book),
        }
    }
}

/// The text of the file of macros, in the form that mdbook-katex takes for granted.
fn macros(root: &Path, settings: &KatexConfig) -> std::result::Result<String, Faults> {
    let Some(file) = settings.macros.as_ref().map(Path::new) else {
        return Ok(String::new());
    };
    let text = fs::read_to_string(root.join(file)).map_err(|error| {
        let thing = format!("the macros of the formulae cannot be read: {error}");
        Fault::new(
            file,
            thing,
            "mend `macros` in `[preprocessor.katex]` of book.toml",
        )
    })?;
    static MACRO: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\\([A-Za-z]+|.):.*)?$"));
    let broken = text.lines().find(|line| !MACRO.is_match(line));
    match broken {
        Some(line) => {
            let thing = format!("the line `{line}` is no macro");
            Err(Fault::new(file, thing, "write \\name:meaning, and nothing before it").into())
        }
        None => Ok(text),
    }
}

/// A chapter's text after mdbook-katex, which takes a whole book.
fn alone(ctx: &PreprocessorContext, chapter: &Chapter) -> Result<String> {
    let chapter = Chapter {
        sub_items: Vec::new(),
        ..chapter.clone()
    };
    let book = Book::new_with_items(vec![BookItem::Chapter(chapter)]);
    let book = KatexProcessor.run(ctx, book)?;
    Ok(book.chapters().map(|chapter| &*chapter.content).collect())
}
