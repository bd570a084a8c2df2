//! What stops a build: each fault names the file, the thing and the remedy.

use std::fmt;
use std::path::{Path, PathBuf};

/// One reason why the book cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file to mend, relative to the book's root.
    pub file: PathBuf,
    /// The line in it, counted from one, where it is known.
    pub line: Option<usize>,
    /// What is wrong, naming the thing.
    pub thing: String,
    /// What to do about it.
    pub remedy: String,
}

impl Fault {
    /// A fault somewhere in a file.
    pub fn new(file: &Path, thing: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            file: file.to_owned(),
            line: None,
            thing: thing.into(),
            remedy: remedy.into(),
        }
    }

    /// The same fault at the line that holds the byte `offset` of `text`.
    pub fn at(mut self, text: &str, offset: usize) -> Fault {
        let before = text.get(..offset).unwrap_or(text);
        self.line = Some(before.matches('\n').count() + 1);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\n    {}", self.thing, self.remedy)
    }
}

/// All the faults of one build, so that they can be mended in one go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        write!(f, "{}", texts.join("\n"))
    }
}

impl std::error::Error for Faults {}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Faults {
        Faults(vec![fault])
    }
}
