//! What must wait until the formulae are rendered: their protection from Markdown, and the
//! widgets' scripts, whose dollars mdbook-katex would take for mathematics.

use std::path::PathBuf;

use mdbook_katex::cfg::get_config;
use mdbook_preprocessor::book::{Book, BookItem};
use mdbook_preprocessor::errors::Result;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

use crate::weave::{Tally, source_file};
use crate::{Faults, formula, widget};

/// The preprocessor that runs after mdbook-katex.
#[derive(Default)]
pub struct Finish {
    /// Counts the formulae.
    pub tally: Tally,
}

impl Preprocessor for Finish {
    fn name(&self) -> &str {
        "finish"
    }

    fn run(&self, ctx: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let folder: Option<PathBuf> = ctx.config.get("preprocessor.finish.widgets")?;
        let folder = ctx
            .root
            .join(folder.unwrap_or_else(|| "code/widgets/page".into()));
        let (options, _) = get_config(&ctx.config)?.build_opts(&ctx.root);
        let mut faults = Vec::new();
        book.for_each_mut(|item| {
            let BookItem::Chapter(chapter) = item else {
                return;
            };
            let file = source_file(&ctx.config, chapter);
            let refused = formula::unrendered(&chapter.content, &options, &ctx.root, &file);
            faults.extend(refused);
            let (content, count) = formula::protect(&chapter.content);
            self.tally.count(|counts| counts.formulae += count);
            match widget::attach(&content, &folder, &file) {
                Ok(scripts) => chapter.content = content + &scripts,
                Err(fault) => faults.push(fault),
            }
        });
        if faults.is_empty() {
            Ok(book)
        } else {
            Err(Faults(faults).into())
        }
    }
}
