use std::path::PathBuf;

use thiserror::Error;

/// What can go wrong in the lab, said so that the one who ran it can mend it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A table, bias or rotation that the companion crate refuses to build.
    #[error(transparent)]
    Encoding(#[from] positional_encoding::Error),
    /// A tensor operation that failed.
    #[error("a tensor operation failed: {0}")]
    Tensor(#[from] candle_core::Error),
    /// A file that could not be read or written.
    #[error("{}: {source}; check that the folder exists and may be written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file whose content is not what was written.
    #[error("{} is damaged: {found}; {remedy}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A command line that means nothing here.
    #[error("{given}; usage: {usage}")]
    Usage {
        /// What was given.
        given: String,
        /// What is understood.
        usage: &'static str,
    },
    /// Threads that could not be started.
    #[error("cannot start a worker: {0}")]
    Worker(String),
}

/// What every function of the lab that can fail returns.
pub type Result<T> = std::result::Result<T, Error>;
