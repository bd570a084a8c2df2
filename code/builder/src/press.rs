//! From `src/` to `book/`: the whole build, which replaces the previous book only by a finished
//! and checked one.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use mdbook_katex::cfg::KatexConfig;
use mdbook_katex::scan::Delimiter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::finish::Finish;
use crate::typeset::Typeset;
use crate::weave::{Counts, Tally, Weave};
use crate::{Fault, Faults, canonical, site};

/// What a build made.
#[derive(Debug)]
pub struct Report {
    /// What was woven.
    pub counts: Counts,
    /// How long it took.
    pub seconds: f64,
    /// The first page.
    pub index: PathBuf,
}

/// Builds the book at `root` into the folder that its book.toml names, or into another. `progress`
/// is told of each step that takes a while.
///
/// # Errors
///
/// All faults found; the previous book is then left as it was.
pub fn build(root: &Path, into: Option<&Path>, progress: fn(&str)) -> Result<Report, Faults> {
    let start = Instant::now();
    let config = configuration(root)?;
    let book = match into {
        Some(folder) => folder.to_owned(),
        None => root.join(&config.build.build_dir),
    };
    let source = config.book.src.clone();
    let address = canonical::address(&config)?;
    let folders = Folders::take(root, &book)?;
    progress("weaving the chapters");
    let counts = render(root, config, &folders.fresh, progress)?;
    if let Some(address) = address {
        canonical::link(&folders.fresh, &address)
            .map_err(|error| disk(&folders.fresh, "cannot be signed", &error))?;
    }
    progress("checking the links");
    let faults = site::check(&folders.fresh, root, &source)
        .map_err(|error| disk(&folders.fresh, "cannot be read", &error))?;
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    folders.publish()?;
    Ok(Report {
        counts,
        seconds: start.elapsed().as_secs_f64(),
        index: book.join("index.html"),
    })
}

fn configuration(root: &Path) -> Result<Config, Faults> {
    let file = Path::new("book.toml");
    let text = fs::read_to_string(root.join(file)).map_err(|error| {
        Fault::new(
            file,
            format!("the settings of the book cannot be read: {error}"),
            "run the command in the folder that holds book.toml",
        )
    })?;
    let refuse = |thing: String, remedy: &str| Faults::from(Fault::new(file, thing, remedy));
    let mut config: Config = text
        .parse()
        .map_err(|error| refuse(format!("{error:#}"), "mend the settings"))?;
    // As mdBook does: a publisher sets the site's address like this.
    config.update_from_env().map_err(|error| {
        refuse(
            format!("{error:#}"),
            "mend the environment's MDBOOK_ settings",
        )
    })?;
    for (name, order) in [
        ("weave", "before = [\"links\"]"),
        ("katex", "after = [\"links\"]"),
        ("finish", "after = [\"katex\"]"),
    ] {
        let table = format!("preprocessor.{name}");
        let found = config.get::<toml::Table>(&table);
        let found = found.map_err(|error| refuse(format!("{error:#}"), "mend the settings"))?;
        let Some(found) = found else {
            let remedy = format!("add it with `{order}`: the order of the steps matters");
            return Err(refuse(format!("there is no table `[{table}]`"), &remedy));
        };
        if name == "katex" {
            check_katex(&found).map_err(|thing| {
                refuse(
                    thing,
                    "mend the setting: mdbook-katex would use its default instead",
                )
            })?;
        }
    }
    Ok(config)
}

fn check_katex(table: &toml::Table) -> Result<(), String> {
    let known = toml::Table::try_from(KatexConfig::default()).map_err(|error| error.to_string())?;
    let of_mdbook = ["command", "before", "after", "renderers", "optional"];
    let mut own = table.clone();
    own.retain(|key, _| !of_mdbook.contains(&key));
    if let Some(key) = own
        .keys()
        .find(|key| !known.contains_key(*key) && *key != "macros")
    {
        return Err(format!("`[preprocessor.katex]` has no setting `{key}`"));
    }
    let read: KatexConfig = toml::Value::Table(own)
        .try_into()
        .map_err(|error| format!("`[preprocessor.katex]` cannot be read: {error}"))?;
    let outputs = ["html", "mathml", "htmlAndMathml"];
    if !outputs.contains(&&*read.output) {
        let outputs = outputs.join(", ");
        return Err(format!(
            "`output = \"{}\"` is none of {outputs}",
            read.output
        ));
    }
    let set = |delimiter: &Delimiter| (delimiter.left.clone(), delimiter.right.clone());
    let usual = KatexConfig::default();
    if set(&read.inline_delimiter) != set(&usual.inline_delimiter)
        || set(&read.block_delimiter) != set(&usual.block_delimiter)
    {
        return Err("the delimiters of formulae are `$` and `$$`: the gates know no others".into());
    }
    Ok(())
}

fn render(
    root: &Path,
    mut config: Config,
    into: &Path,
    progress: fn(&str),
) -> Result<Counts, Faults> {
    let warnings = Warnings::default();
    let shared = warnings.clone();
    let guard = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_ansi(false)
        .without_time()
        .with_writer(move || shared.clone())
        .set_default();
    config.build.build_dir =
        std::path::absolute(into).map_err(|error| disk(into, "is no place for a book", &error))?;
    let tally = Tally::default();
    let result = MDBook::load_with_config(root, config).and_then(|mut book| {
        book.with_preprocessor(Weave {
            tally: tally.clone(),
            progress: Some(progress),
        });
        book.with_preprocessor(Typeset {
            tally: tally.clone(),
        });
        book.with_preprocessor(Finish {
            tally: tally.clone(),
        });
        book.build()
    });
    drop(guard);
    result.map_err(|error| match error.downcast::<Faults>() {
        Ok(faults) => faults,
        Err(error) => {
            if let Some(error) = error.chain().find_map(no_room) {
                return disk(into, "cannot be written", error);
            }
            let told = format!("{error:#}");
            let of_summary =
                told.to_lowercase().contains("summary") || told.contains("Chapter file");
            let file = if of_summary {
                "src/SUMMARY.md"
            } else {
                "book.toml"
            };
            let remedy = "mend the file or the entry that it names";
            Faults::from(Fault::new(
                Path::new(file),
                format!("mdBook stopped: {told}"),
                remedy,
            ))
        }
    })?;
    let warnings = warnings.text();
    if !warnings.trim().is_empty() {
        return Err(Faults::from(Fault::new(
            Path::new("src"),
            format!("mdBook warned: {}", warnings.trim()),
            "mend what it names; figures, listings, outputs and tables stand at the margin, alone \
             on their lines",
        )));
    }
    Ok(tally.counts())
}

/// The error by which a disk says that it takes no more.
fn no_room<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a io::Error> {
    let error: &io::Error = error.downcast_ref()?;
    let full = matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::FileTooLarge
            | ErrorKind::ReadOnlyFilesystem
    );
    full.then_some(error)
}

/// What mdBook would have logged.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<u8>>>);

impl Warnings {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Warnings {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The folders of a build, all beside `book/`, and the lock that keeps a second build away.
struct Folders {
    book: PathBuf,
    fresh: PathBuf,
    previous: PathBuf,
    _lock: File,
}

impl Folders {
    fn take(root: &Path, book: &Path) -> Result<Folders, Faults> {
        let beside = |suffix: &str| {
            let mut name = book.file_name().unwrap_or_default().to_owned();
            name.push(suffix);
            book.with_file_name(name)
        };
        let lock_file = beside(".lock");
        let lock = File::create(&lock_file)
            .map_err(|error| disk(&lock_file, "cannot be written", &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Faults::from(Fault::new(
                    lock_file.strip_prefix(root).unwrap_or(&lock_file),
                    "another build of this book is under way",
                    "wait until it has ended, then build again",
                )));
            }
            Err(TryLockError::Error(error)) => {
                return Err(disk(&lock_file, "cannot be locked", &error));
            }
        }
        let folders = Folders {
            book: book.to_owned(),
            fresh: beside(".new"),
            previous: beside(".old"),
            _lock: lock,
        };
        if fs::symlink_metadata(book).is_ok_and(|found| !found.is_dir()) {
            return Err(Faults::from(Fault::new(
                book.strip_prefix(root).unwrap_or(book),
                "the book's place is taken by what is not a folder",
                "move it away, then build again",
            )));
        }
        if fs::metadata(book).is_ok_and(|found| found.permissions().readonly()) {
            return Err(Faults::from(Fault::new(
                book.strip_prefix(root).unwrap_or(book),
                "the book's folder is protected against writing",
                "allow writing to it or move it away, then build again",
            )));
        }
        folders.tidy()?;
        Ok(folders)
    }

    /// Clears what a build that was killed has left, and puts back the book it had set aside.
    fn tidy(&self) -> Result<(), Faults> {
        if self.previous.exists() && !self.book.exists() {
            fs::rename(&self.previous, &self.book)
                .map_err(|error| disk(&self.previous, "cannot be put back", &error))?;
        }
        for folder in [&self.fresh, &self.previous] {
            if folder.exists() {
                fs::remove_dir_all(folder)
                    .map_err(|error| disk(folder, "cannot be removed", &error))?;
            }
        }
        Ok(())
    }

    fn publish(&self) -> Result<(), Faults> {
        if self.book.exists() {
            fs::rename(&self.book, &self.previous)
                .map_err(|error| disk(&self.book, "cannot be set aside", &error))?;
        }
        fs::rename(&self.fresh, &self.book)
            .map_err(|error| disk(&self.book, "cannot be put in place", &error))?;
        self.tidy()
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // After a failed build; after a good one there is nothing left to remove.
        let _ = fs::remove_dir_all(&self.fresh);
    }
}

fn disk(path: &Path, what: &str, error: &io::Error) -> Faults {
    Faults::from(Fault::new(
        path,
        format!("it {what}: {error}"),
        "make room or mend the permissions, then build again",
    ))
}
