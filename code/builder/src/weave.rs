//! What a chapter asks for, replaced by what was made for it.
//!
//! In a chapter's Markdown:
//!
//! | written | becomes |
//! |---|---|
//! | a fence that holds one `{{#include path:anchor}}` | the listing, numbered, its file named |
//! | `{{#output example}}` | what the example prints, under the command that runs it |
//! | a fence marked `figure` with `name`, `caption`, `alt` | the figure, drawn, numbered |
//! | the same with `widget` | the figure, which a script of that name brings to life |
//! | `{{#table module/name}}`, `{{#value module/name}}` | the computed Markdown |
//! | `{{#claim module::test}}` | a mark that links to the test |
//! | `{{#claims}}` | every claim with its test and where it is made |
//!
//! Whatever cannot be made is a [`Fault`], and all faults of a book are told at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use figures::FigureError;
use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use mdbook_preprocessor::config::Config;
use mdbook_preprocessor::errors::Result;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use regex::Regex;
use serde::Deserialize;

use crate::claim::{self, Claim};
use crate::example::Examples;
use crate::keep::{self, Keep};
use crate::{Fault, Faults, formula, pattern};

/// What was woven into a book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages made from a Markdown file.
    pub chapters: usize,
    /// Listings included from source.
    pub listings: usize,
    /// Outputs of examples.
    pub outputs: usize,
    /// Figures drawn.
    pub figures: usize,
    /// Tables and values computed.
    pub values: usize,
    /// Formulae rendered.
    pub formulae: usize,
    /// Claims, each with its test.
    pub claims: usize,
    /// Outputs, figures, tables and values that were made anew, not kept from the last build.
    pub made: usize,
}

/// A count that the steps of one build share.
#[derive(Debug, Clone, Default)]
pub struct Tally(Arc<Mutex<Counts>>);

impl Tally {
    /// Changes the counts.
    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The preprocessor that runs before mdBook's includes.
#[derive(Default)]
pub struct Weave {
    /// Counts what is woven.
    pub tally: Tally,
    /// Tells what takes a while.
    pub progress: Option<fn(&str)>,
}

/// `[preprocessor.weave]` in book.toml.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Settings {
    examples: String,
    claims: PathBuf,
    target_dir: Option<PathBuf>,
    command: Option<String>,
    before: Vec<String>,
    after: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            examples: "positional-encoding".into(),
            claims: "tests/claims".into(),
            target_dir: None,
            command: None,
            before: Vec::new(),
            after: Vec::new(),
        }
    }
}

impl Preprocessor for Weave {
    fn name(&self) -> &str {
        "weave"
    }

    fn run(&self, ctx: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let settings = ctx
            .config
            .get::<Settings>("preprocessor.weave")
            .map_err(|error| {
                Faults::from(Fault::new(
                    Path::new("book.toml"),
                    format!("`[preprocessor.weave]` cannot be read: {error:#}"),
                    "its keys are `examples`, the package, `claims`, the folder of the tests, and \
                     `target-dir`, where cargo shall build",
                ))
            })?
            .unwrap_or_default();
        let mut loom = Loom::new(self, ctx, settings);
        let mut chapters = Vec::new();
        book.for_each_mut(|item| {
            if let BookItem::Chapter(chapter) = item
                && chapter.path.is_some()
            {
                chapter.content = loom.weave(chapter, &ctx.config);
                chapters.push(chapter.name.clone());
            }
        });
        let listing = loom.claims_page();
        let claimed = loom.claimed.len();
        book.for_each_mut(|item| {
            if let BookItem::Chapter(chapter) = item {
                chapter.content = chapter.content.replace(ALL_CLAIMS, &listing);
            }
        });
        loom.keep.save();
        self.tally.count(|counts| {
            counts.chapters = chapters.len();
            counts.claims = claimed;
            counts.made += loom.keep.made();
        });
        loom.refuse_unclaimed();
        loom.faults.extend(unlisted(&book, &ctx.root, &ctx.config));
        if loom.faults.is_empty() {
            Ok(book)
        } else {
            Err(Faults(loom.faults).into())
        }
    }
}

/// Markdown files that lie among the chapters and that the summary does not list.
fn unlisted(book: &Book, root: &Path, config: &Config) -> Vec<Fault> {
    let listed: BTreeSet<PathBuf> = book
        .iter()
        .filter_map(|item| match item {
            BookItem::Chapter(chapter) => Some(source_file(config, chapter)),
            _ => None,
        })
        .collect();
    let mut faults = Vec::new();
    let mut folders = vec![config.book.src.clone()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder))
            .into_iter()
            .flatten()
            .flatten();
        for file in entries.map(|entry| folder.join(entry.file_name())) {
            if root.join(&file).is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "md")
                && !file.ends_with("SUMMARY.md")
                && !listed.contains(&file)
            {
                let thing = "this page is not in the summary, so nobody can read it";
                faults.push(Fault::new(
                    &file,
                    thing,
                    "list it in SUMMARY.md, or remove it",
                ));
            }
        }
    }
    faults
}

/// The Markdown file of a chapter, relative to the book's root.
pub fn source_file(config: &Config, chapter: &Chapter) -> PathBuf {
    let path = chapter.source_path.as_ref().or(chapter.path.as_ref());
    config.book.src.join(path.cloned().unwrap_or_default())
}

/// Stands for the list of all claims until every chapter has made its own; no text holds it.
const ALL_CLAIMS: &str = "\u{e000}claims\u{e000}";
const DIRECTIVES: &str = "output, table, value, claim, claims, and include within a fence";

/// A place in the book that makes a claim.
struct Place {
    chapter: String,
    link: String,
}

struct Loom<'a> {
    weave: &'a Weave,
    root: PathBuf,
    settings: Settings,
    /// Nothing before the first output, and nothing inside where they could not be built.
    examples: Option<Option<Examples>>,
    keep: Keep,
    claims: BTreeMap<String, Claim>,
    claimed: BTreeMap<String, Vec<Place>>,
    faults: Vec<Fault>,
    all_read: bool,
}

/// The chapter under the needle.
struct Page<'a> {
    chapter: &'a Chapter,
    file: PathBuf,
    figures: usize,
    listings: usize,
    marks: BTreeSet<String>,
}

impl Page<'_> {
    fn number(&self, count: usize) -> String {
        match self
            .chapter
            .number
            .as_ref()
            .and_then(|number| number.first())
        {
            Some(chapter) => format!("{chapter}.{count}"),
            None => count.to_string(),
        }
    }

    /// The way from this page up to the root of the book.
    fn up(&self) -> String {
        let path = self.chapter.path.as_deref().unwrap_or(Path::new(""));
        "../".repeat(path.components().count().saturating_sub(1))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureBlock {
    name: String,
    #[serde(default)]
    caption: String,
    #[serde(default)]
    alt: String,
    widget: Option<String>,
}

impl<'a> Loom<'a> {
    fn new(weave: &'a Weave, ctx: &PreprocessorContext, settings: Settings) -> Loom<'a> {
        let (claims, faults) = claim::read(&ctx.root, &settings.claims);
        let target_folder = settings.target_dir.as_ref();
        Loom {
            keep: Keep::open(target_folder.map(|folder| ctx.root.join(folder)), "woven"),
            weave,
            root: ctx.root.clone(),
            settings,
            examples: None,
            claims,
            claimed: BTreeMap::new(),
            faults,
            all_read: true,
        }
    }

    fn weave(&mut self, chapter: &Chapter, config: &Config) -> String {
        let mut page = Page {
            chapter,
            file: source_file(config, chapter),
            figures: 0,
            listings: 0,
            marks: BTreeSet::new(),
        };
        let content = chapter.content.replace("\r\n", "\n");
        if let Some(fault) = unreadable(&content, &page.file) {
            self.faults.push(fault);
            self.all_read = false;
            return content;
        }
        self.faults
            .extend(formula::stray_dollars(&content, &page.file));
        let (fences, code, tables) = blocks(&content);
        let mut edits = Vec::new();
        for table in tables {
            edits.push((table.start..table.start, TABLE_OPENS.into()));
            edits.push((table.end..table.end, TABLE_CLOSES.into()));
        }
        self.faults.extend(misspelt(&content, &code, &page.file));
        for fence in fences {
            self.refuse_fence(&content, &fence, &page);
            let woven = if fence.info == "figure" {
                self.figure(&fence, &mut page)
            } else if fence.body.contains("{{#") {
                self.listing(&fence, &mut page)
            } else if content[..fence.range.start].ends_with('\n') {
                Ok(code_block(&fence.info, fence.body.trim_end()) + "\n")
            } else {
                continue;
            };
            match woven {
                Ok(text) => edits.push((fence.range, text)),
                Err(fault) => self.faults.push(fault.at(&content, fence.range.start)),
            }
        }
        for directive in directives(&content, &code) {
            let line = content[..directive.range.start]
                .rsplit('\n')
                .next()
                .unwrap_or("");
            if directive.verb == "claim" && line.starts_with('#') {
                let thing = format!("the claim `{}` stands in a heading", directive.object);
                let remedy = "make it behind a sentence: a heading is a link already";
                let fault = Fault::new(&page.file, thing, remedy);
                self.faults.push(fault.at(&content, directive.range.start));
                continue;
            }
            match self.directive(&directive, &mut page) {
                Ok(text) => edits.push((directive.range, text)),
                Err(fault) => self.faults.push(fault.at(&content, directive.range.start)),
            }
        }
        apply(&content, edits)
    }

    fn refuse_fence(&mut self, content: &str, fence: &Fence, page: &Page) {
        let text = content[fence.range.clone()].trim();
        let ticks = text.chars().take_while(|&c| c == '`').count();
        let end = text
            .rsplit('\n')
            .next()
            .unwrap_or("")
            .trim()
            .trim_start_matches(['>', ' ']);
        let (thing, remedy) = if text.starts_with('~') {
            // mdbook-katex reads on inside such fences.
            let thing = "a fence of tildes, in which a dollar would be taken for mathematics";
            (thing, "write the fence with backticks")
        } else if ticks > 0 && (end.len() < ticks || end.chars().any(|c| c != '`')) {
            (
                "a fence that is never closed",
                "end it with a line of as many backticks",
            )
        } else if fence.info.to_lowercase().starts_with("figure") && fence.info != "figure" {
            (
                "a fence that may be meant as a figure",
                "write ```figure, and nothing behind it",
            )
        } else {
            return;
        };
        self.faults
            .push(Fault::new(&page.file, thing, remedy).at(content, fence.range.start));
    }

    fn figure(&mut self, fence: &Fence, page: &mut Page) -> Result<String, Fault> {
        let block: FigureBlock = toml::from_str(&fence.body).map_err(|error| {
            Fault::new(
                &page.file,
                format!("a figure block that cannot be read: {}", error.message()),
                "it holds `name`, `caption`, `alt` and perhaps `widget`, each a quoted TOML string",
            )
        })?;
        let name = &block.name;
        for (what, text) in [("alt text", &block.alt), ("caption", &block.caption)] {
            if text.trim().is_empty() {
                return Err(Fault::new(
                    &page.file,
                    format!("the figure `{name}` has no {what}"),
                    "say in `caption` what to see, and in `alt` what a reader without it must know",
                ));
            }
        }
        let alt = block.alt.trim();
        let drawn = self.drawn(&format!("figure {name} {alt}"), || figures::svg(name, alt));
        let svg = drawn.map_err(|error| {
            Fault::new(
                &page.file,
                format!("the figure `{name}` cannot be drawn: {error}"),
                "name a figure that code/figures registers",
            )
        })?;
        page.figures += 1;
        self.weave.tally.count(|counts| counts.figures += 1);
        let caption = self.inline(block.caption.trim(), page)?;
        let number = page.number(page.figures);
        let id = name.replace('/', "-");
        let (class, widget) = match &block.widget {
            Some(widget) => ("figure widget", format!(" data-widget=\"{widget}\"")),
            None => ("figure", String::new()),
        };
        Ok(format!(
            "<figure class=\"{class}\" id=\"{id}\"{widget}>\n\
             <div class=\"drawing\" tabindex=\"0\" role=\"group\" aria-label=\"Figure {number}\">\n\
             {svg}\n</div>\n<figcaption>\n\n\
             **Figure {number}.** {caption}\n\n</figcaption>\n</figure>\n"
        ))
    }

    fn listing(&mut self, fence: &Fence, page: &mut Page) -> Result<String, Fault> {
        static INCLUDE: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"^\{\{#include ([^\s:{}]+)(?::([\w-]+))?\}\}$"));
        let Some(found) = INCLUDE.captures(fence.body.trim()) else {
            return Err(Fault::new(
                &page.file,
                format!(
                    "a listing that is more than one include: `{}`",
                    fence.body.trim()
                ),
                "let the fence hold `{{#include path:anchor}}` and nothing else",
            ));
        };
        let anchor = found.get(2).map(|anchor| anchor.as_str());
        let (path, text) = self.included(&found[1], anchor, page)?;
        page.listings += 1;
        self.weave.tally.count(|counts| counts.listings += 1);
        let number = page.number(page.listings);
        Ok(format!(
            "<figure class=\"listing\" id=\"listing-{id}\">\n\n{code}\n\n\
             <figcaption>Listing {number}: <code>{path}</code></figcaption>\n</figure>\n",
            id = number.replace('.', "-"),
            code = code_block(&fence.info, &flush_left(&text)),
            path = path.display(),
        ))
    }

    /// The file of an include, relative to the root, and the lines to show.
    fn included(
        &self,
        path: &str,
        anchor: Option<&str>,
        page: &Page,
    ) -> Result<(PathBuf, String), Fault> {
        let folder = page.file.parent().unwrap_or(Path::new(""));
        let file = normal(&folder.join(path)).ok_or_else(|| {
            Fault::new(
                &page.file,
                format!("the include `{path}` leaves the book's folder"),
                "include a file of this repository",
            )
        })?;
        let text = fs::read_to_string(self.root.join(&file)).map_err(|error| {
            Fault::new(
                &page.file,
                format!(
                    "the included file `{}` cannot be read: {error}",
                    file.display()
                ),
                "mend the path; it is relative to the chapter's own folder",
            )
        })?;
        let what = match anchor {
            Some(anchor) => format!("`{anchor}` in `{}`", file.display()),
            None => format!("`{}`", file.display()),
        };
        let shown = match anchor {
            Some(anchor) => anchored(&text, anchor).ok_or_else(|| {
                Fault::new(
                    &page.file,
                    format!("there is no anchor {what}"),
                    format!(
                        "put `ANCHOR: {anchor}` and `ANCHOR_END: {anchor}` around the lines, or \
                         name one of: {}",
                        anchors(&text)
                    ),
                )
            })?,
            None => without_marks(text.lines()),
        };
        if shown.trim().is_empty() {
            return Err(Fault::new(
                &page.file,
                format!("the listing of {what} is empty"),
                "put the lines to show between the marks of its anchor",
            ));
        }
        Ok((file, shown))
    }

    /// Replaces the claims and values in a caption.
    fn inline(&mut self, text: &str, page: &mut Page) -> Result<String, Fault> {
        let mut edits = Vec::new();
        for directive in directives(text, &[]) {
            let woven = self.directive(&directive, page)?;
            edits.push((directive.range, woven));
        }
        Ok(apply(text, edits))
    }

    fn directive(&mut self, directive: &Directive, page: &mut Page) -> Result<String, Fault> {
        match (directive.verb.as_str(), directive.object.as_str()) {
            ("output", example) => self.output(example, page),
            ("claim", id) => self.claim(id, page),
            ("claims", "") => Ok(ALL_CLAIMS.into()),
            ("table", name) => {
                let table = self.computed("table", name, figures::table, page)?;
                Ok(format!("{TABLE_OPENS}{table}\n{TABLE_CLOSES}"))
            }
            ("value", name) => self.computed("value", name, figures::value, page),
            (verb, object) => Err(Fault::new(
                &page.file,
                format!("unknown request `{{{{#{verb} {object}}}}}`"),
                format!("a chapter may ask for: {DIRECTIVES}"),
            )),
        }
    }

    /// What this very program makes, unless it did so in the previous build.
    fn drawn(
        &mut self,
        what: &str,
        make: impl FnOnce() -> Result<String, FigureError>,
    ) -> Result<String, FigureError> {
        self.keep.piece(what, keep::stamp_of_running_program, make)
    }

    fn computed(
        &mut self,
        kind: &str,
        name: &str,
        compute: fn(&str) -> Result<String, FigureError>,
        page: &Page,
    ) -> Result<String, Fault> {
        let text = self.drawn(&format!("{kind} {name}"), || compute(name));
        let text = text.map_err(|error| {
            Fault::new(
                &page.file,
                format!("the {kind} `{name}` cannot be made: {error}"),
                format!("name a {kind} that code/figures registers"),
            )
        })?;
        self.weave.tally.count(|counts| counts.values += 1);
        Ok(text.trim_end().to_owned())
    }

    fn output(&mut self, name: &str, page: &Page) -> Result<String, Fault> {
        let fault = |thing: String, remedy: String| Fault::new(&page.file, thing, remedy);
        if self.examples.is_none() {
            self.examples = Some(self.build_examples(page)?);
        }
        // A failed build is told once, not again for each output.
        let Some(Some(examples)) = &self.examples else {
            return Ok(String::new());
        };
        if !examples.contains(name) {
            return Err(fault(
                format!("there is no example `{name}`"),
                format!("name one of: {}", examples.names()),
            ));
        }
        let command = examples.command(name);
        let stamp = || examples.stamp(name);
        let run = || examples.run(&self.root, name);
        let text = self.keep.piece(&format!("output {name}"), stamp, run);
        let text = text.map_err(|said| {
            fault(
                format!("the example `{name}` gives no output: {said}"),
                format!("make `{command}` print and succeed"),
            )
        })?;
        self.weave.tally.count(|counts| counts.outputs += 1);
        Ok(format!(
            "<div class=\"output\">\n<p class=\"command\"><code>{command}</code></p>\n\n\
             {}\n\n</div>\n",
            code_block("text", &text),
        ))
    }

    fn build_examples(&mut self, page: &Page) -> Result<Option<Examples>, Fault> {
        if let Some(progress) = self.weave.progress {
            progress("building the examples");
        }
        self.examples = Some(None);
        let package = &self.settings.examples;
        Examples::build(&self.root, package, self.settings.target_dir.as_deref())
            .map(Some)
            .map_err(|said| {
                Fault::new(
                    &page.file,
                    format!("the examples of `{package}` cannot be built: {said}"),
                    "make `cargo build --examples` pass",
                )
            })
    }

    fn claim(&mut self, id: &str, page: &mut Page) -> Result<String, Fault> {
        let Some(claim) = self.claims.get(id) else {
            return Err(Fault::new(
                &page.file,
                format!("the claim `{id}` has no test"),
                format!(
                    "write the test `{}` in {}/{}.rs, or mend the name",
                    id.rsplit("::").next().unwrap_or(id),
                    self.settings.claims.display(),
                    id.split("::").next().unwrap_or(id),
                ),
            ));
        };
        let (anchor, sentence) = (claim.anchor(), claim.sentence());
        let first = page.marks.insert(id.to_owned());
        if first {
            let path = page.chapter.path.as_deref().unwrap_or(Path::new(""));
            self.claimed.entry(id.to_owned()).or_default().push(Place {
                chapter: page.chapter.name.clone(),
                link: format!("{}#claim-{anchor}", path.display()),
            });
        }
        let own_id = if first {
            format!(" id=\"claim-{anchor}\"")
        } else {
            String::new()
        };
        Ok(format!(
            "<a class=\"claim\"{own_id} href=\"{}claims.md#{anchor}\" title=\"Tested: {sentence}\" \
             aria-label=\"Tested: {sentence}\">✓</a>",
            page.up(),
        ))
    }

    /// The list of all claims, by module, each with its places and its test.
    fn claims_page(&self) -> String {
        let mut text = String::new();
        let mut module = "";
        for claim in self.claims.values() {
            let (of, _) = claim.id.split_once("::").unwrap_or((&claim.id, ""));
            if of != module {
                text.push_str(&format!("\n## {of}\n"));
                module = of;
            }
            let places: Vec<String> = self
                .claimed
                .get(&claim.id)
                .into_iter()
                .flatten()
                .map(|place| format!("[{}]({})", place.chapter, place.link))
                .collect();
            text.push_str(&format!(
                "\n<p class=\"claim-name\" id=\"{1}\"><strong>{0}</strong></p>\n\n\
                 Claimed in {2}. <code>{3}:{4}</code>\n\n\
                 <details>\n<summary>The test</summary>\n\n{5}\n\n</details>\n",
                claim.sentence(),
                claim.anchor(),
                places.join(", "),
                claim.file.display(),
                claim.line,
                code_block("rust", &claim.source),
            ));
        }
        text
    }

    fn refuse_unclaimed(&mut self) {
        // A chapter that could not be read may make them.
        let claims = self.claims.values().filter(|_| self.all_read);
        for claim in claims {
            if !self.claimed.contains_key(&claim.id) {
                let mut fault = Fault::new(
                    &claim.file,
                    format!("no chapter makes the claim of the test `{}`", claim.id),
                    format!(
                        "write `{{{{#claim {}}}}}` behind the sentence it proves, or move the test",
                        claim.id
                    ),
                );
                fault.line = Some(claim.line);
                self.faults.push(fault);
            }
        }
    }
}

/// The longest chapter that is woven, in bytes. The longest of this book has a tenth of it.
const LONGEST_CHAPTER: usize = 1 << 20;

fn unreadable(content: &str, file: &Path) -> Option<Fault> {
    if let Some(at) = content.find('\0') {
        let remedy = "take it out; the file may have been cut off or be no text";
        return Some(Fault::new(file, "a NUL byte", remedy).at(content, at));
    }
    (content.len() > LONGEST_CHAPTER).then(|| {
        let thing = format!("{} bytes, more than {LONGEST_CHAPTER}", content.len());
        Fault::new(
            file,
            thing,
            "split the chapter, or include what is long from a file",
        )
    })
}

struct Fence {
    range: Range<usize>,
    info: String,
    body: String,
}

struct Directive {
    range: Range<usize>,
    verb: String,
    object: String,
}

/// A box of our own around a table: mdBook's scrolls too, but cannot be reached by keyboard.
const TABLE_OPENS: &str =
    "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">\n\n";
const TABLE_CLOSES: &str = "\n</div>\n\n";

/// The fenced blocks of a chapter, the ranges of all code, in which nothing is replaced, and of
/// the tables that stand at the margin.
fn blocks(content: &str) -> (Vec<Fence>, Vec<Range<usize>>, Vec<Range<usize>>) {
    let mut fences: Vec<Fence> = Vec::new();
    let mut code = Vec::new();
    let mut tables = Vec::new();
    let mut open = false;
    for (event, range) in Parser::new_ext(content, Options::all()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                code.push(range.clone());
                if let CodeBlockKind::Fenced(info) = kind {
                    open = true;
                    fences.push(Fence {
                        range,
                        info: info.trim().to_owned(),
                        body: String::new(),
                    });
                }
            }
            Event::Text(text) if open => {
                if let Some(fence) = fences.last_mut() {
                    fence.body.push_str(&text);
                }
            }
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => open = false,
            Event::Code(_) => code.push(range),
            Event::Start(Tag::Table(_)) if content[..range.start].ends_with('\n') => {
                tables.push(range);
            }
            _ => {}
        }
    }
    (fences, code, tables)
}

/// What looks like a request and is none, and backticks that open no code: mdbook-katex would
/// take them for the beginning of some.
fn misspelt(content: &str, code: &[Range<usize>], file: &Path) -> Vec<Fault> {
    static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\{(?:\{\s*#?|\s*#)\s*(?:output|table|value|claims?|include|figure)\b[^\n]{0,60}")
    });
    static WHOLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\{\{\s*#\s*\w+[^{}]*\}\}"));
    let inside = |at: usize| code.iter().any(|code| code.contains(&at));
    let mut faults = Vec::new();
    for found in REQUEST
        .find_iter(content)
        .filter(|found| !inside(found.start()))
    {
        if !WHOLE.is_match(found.as_str()) && !WHOLE.is_match(&content[found.start()..]) {
            let thing = format!("a misspelt request: `{}`", found.as_str());
            let remedy = "write it as `{{#verb object}}`";
            faults.push(Fault::new(file, thing, remedy).at(content, found.start()));
        }
    }
    for (at, _) in content.match_indices('`') {
        if !inside(at) && !content[..at].ends_with(['\\', '`']) {
            let remedy = "close the code, or write a backslash before the backtick";
            faults
                .push(Fault::new(file, "a backtick that no other closes", remedy).at(content, at));
        }
    }
    faults
}

fn directives(content: &str, code: &[Range<usize>]) -> Vec<Directive> {
    static DIRECTIVE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\{\{\s*#\s*(\w+)\s*([^{}]*?)\s*\}\}"));
    DIRECTIVE
        .captures_iter(content)
        .filter_map(|found| {
            let range = found.get(0)?.range();
            let inside = code.iter().any(|code| code.contains(&range.start));
            (!inside).then(|| Directive {
                verb: found[1].to_owned(),
                object: found[2].to_owned(),
                range,
            })
        })
        .collect()
}

fn apply(content: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut output = String::with_capacity(content.len() * 2);
    let mut at = 0;
    for (range, text) in edits {
        output.push_str(&content[at..range.start]);
        output.push_str(&text);
        at = range.end;
    }
    output.push_str(&content[at..]);
    output
}

/// The path without `..`, or nothing where it leads out of the root.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

/// The lines between the marks of an anchor, without the marks of others.
fn anchored(text: &str, anchor: &str) -> Option<String> {
    let mark = |line: &str, kind: &str| {
        line.split_once(kind)
            .is_some_and(|(_, name)| name.trim() == anchor)
    };
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| mark(line, "ANCHOR: "))?;
    let end = lines.iter().position(|line| mark(line, "ANCHOR_END: "))?;
    let shown = lines.get(start + 1..end)?;
    Some(without_marks(shown.iter().copied()))
}

fn without_marks<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mark = |line: &&str| line.contains("ANCHOR: ") || line.contains("ANCHOR_END: ");
    lines
        .filter(|line| !mark(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A block of code as HTML. Unlike mdBook's own it can be reached, and so scrolled, by keyboard.
/// Dollars, backticks and braces are kept from the steps that look for formulae and includes.
fn code_block(info: &str, text: &str) -> String {
    let class = info.split([',', ' ']).filter(|word| !word.is_empty());
    let class: Vec<&str> = class.collect();
    let language = if class.is_empty() {
        "text".into()
    } else {
        class.join(" ")
    };
    let shown: Vec<String> = text.lines().map(|line| unhidden(&language, line)).collect();
    let text = figures::kit::escape(&shown.join("\n"))
        .replace('`', "&#96;")
        .replace("{{", "&#123;&#123;");
    format!("<pre><code class=\"language-{language}\" tabindex=\"0\">{text}\n</code></pre>")
}

/// mdBook hides lines of Rust that begin with a number sign, unless there is one more.
fn unhidden(language: &str, line: &str) -> String {
    let code = line.trim_start();
    let hidden = code.starts_with('#') && !code.starts_with("#[") && !code.starts_with("#!");
    if language.starts_with("rust") && hidden {
        format!("{}#{code}", &line[..line.len() - code.len()])
    } else {
        line.to_owned()
    }
}

/// Lines from inside a function, moved to the margin.
fn flush_left(text: &str) -> String {
    let filled = || text.lines().filter(|line| !line.trim().is_empty());
    let indent = filled()
        .map(|line| line.len() - line.trim_start().len())
        .min();
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.get(indent.unwrap_or(0)..).unwrap_or("").trim_end())
        .collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

fn anchors(text: &str) -> String {
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("ANCHOR: "))
        .map(|(_, name)| name.trim())
        .collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_in_code_are_left_alone() {
        let text = "`{{#claim a::b}}` and\n\n```text\n{{#output x}}\n```\n\n{{#output y}}\n";
        let (fences, code, _) = blocks(text);
        assert_eq!(fences.len(), 1);
        let found = directives(text, &code);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].verb.as_str(), found[0].object.as_str()),
            ("output", "y")
        );
    }

    #[test]
    fn an_anchor_shows_its_lines_and_no_marks() {
        let text =
            "a\n// ANCHOR: one\nb\n// ANCHOR: two\nc\n// ANCHOR_END: two\n// ANCHOR_END: one\nd";
        assert_eq!(anchored(text, "one").as_deref(), Some("b\nc"));
        assert_eq!(anchored(text, "two").as_deref(), Some("c"));
        assert_eq!(anchored(text, "three"), None);
        assert_eq!(anchors(text), "one, two");
    }

    #[test]
    fn lines_from_inside_a_function_move_to_the_margin() {
        assert_eq!(
            flush_left("    if x {\n        y\n\n    }\n"),
            "if x {\n    y\n\n}"
        );
    }

    #[test]
    fn a_path_may_not_leave_the_root() {
        assert_eq!(
            normal(Path::new("src/../code/x.rs")),
            Some("code/x.rs".into())
        );
        assert_eq!(normal(Path::new("src/../../x.rs")), None);
        assert_eq!(normal(Path::new("/etc/passwd")), None);
    }
}
