//! Pieces of the previous build that this one would make again just so.
//!
//! A figure, a table or a value comes from the program that weaves, an output from its example.
//! Neither reads a file while it runs, so each piece is kept under its name and the stamp of that
//! program; a chapter's formulae are kept under what it says. The files lie in cargo's target
//! folder: `cargo clean` forgets them. One that is missing, damaged or cannot be written costs the
//! time to make its pieces again, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The pieces of the previous build, and those of this one.
#[derive(Debug, Default)]
pub struct Keep {
    file: Option<PathBuf>,
    before: BTreeMap<String, String>,
    now: BTreeMap<String, String>,
    made: usize,
}

impl Keep {
    /// What the previous build of the running program kept of one kind of piece, in a folder or in
    /// cargo's where none is named. Where there is neither, nothing is kept.
    pub fn open(target_folder: Option<PathBuf>, kind: &str) -> Keep {
        let program = std::env::args_os().next().map(PathBuf::from);
        let name = program.as_ref().and_then(|program| program.file_stem());
        let file = target_folder
            .or_else(cargos_folder)
            .zip(name)
            .map(|(folder, name)| (folder.join("kept"), name.to_string_lossy()))
            .map(|(folder, name)| folder.join(format!("{name}-{kind}")));
        let before = file.as_deref().and_then(read).unwrap_or_default();
        Keep {
            file,
            before,
            ..Keep::default()
        }
    }

    /// The piece of this name, as it was kept where the stamp is the same, or else as `make`
    /// makes it. Without a stamp, and where it changes meanwhile, it is not kept.
    ///
    /// # Errors
    ///
    /// What `make` returns.
    pub fn piece<E>(
        &mut self,
        name: &str,
        stamp: impl Fn() -> Option<String>,
        make: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let key = || stamp().map(|stamp| format!("{name} {stamp}"));
        let first = key();
        let kept = first
            .as_ref()
            .and_then(|key| self.now.get(key).or(self.before.get(key)))
            .cloned();
        let piece = match kept {
            Some(piece) => piece,
            None => {
                self.made += 1;
                let piece = make()?;
                if key() != first {
                    return Ok(piece);
                }
                piece
            }
        };
        if let Some(key) = first {
            self.now.insert(key, piece.clone());
        }
        Ok(piece)
    }

    /// How many pieces were made, because they were not kept.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Keeps the pieces of this build for the next, and no others.
    pub fn save(&self) {
        if let Some(file) = self.file.as_deref().filter(|_| self.now != self.before) {
            // What cannot be kept is made again.
            let _ = write(file, &self.now);
        }
    }
}

/// The folder in which cargo built the running program. Cargo marks the one it creates as one that
/// may be deleted; where something else created it before, cargo's notes on the compiler tell.
fn cargos_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let is_cargos = |folder: &&Path| {
        let marks = ["CACHEDIR.TAG", ".rustc_info.json"];
        marks.iter().any(|mark| folder.join(mark).is_file())
    };
    program.ancestors().find(is_cargos).map(Path::to_owned)
}

/// The pieces in a file, if it is as it was written: its first line is the checksum of the rest.
fn read(file: &Path) -> Option<BTreeMap<String, String>> {
    let text = fs::read_to_string(file).ok()?;
    let (first_line, pieces) = text.split_once('\n')?;
    let whole = first_line == format!("{:016x}", checksum(pieces));
    whole.then(|| serde_json::from_str(pieces).ok())?
}

/// The whole new file takes the place of the old one at once: a build that is killed, or meets
/// another, leaves no half of it.
fn write(file: &Path, pieces: &BTreeMap<String, String>) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let pieces = serde_json::to_string(pieces)?;
    let text = format!("{:016x}\n{pieces}", checksum(&pieces));
    let fresh = file.with_extension(std::process::id().to_string());
    let moved = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, file));
    if moved.is_err() {
        // It may not even exist.
        let _ = fs::remove_file(&fresh);
    }
    moved
}

/// Tells one text from another.
pub fn checksum(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// What tells whether a file is still the one it was: on Unix the time of its last change, which no
/// program can set back.
pub fn stamp(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (seconds, rest) = (found.ctime(), found.ctime_nsec());
        let (device, node, size) = (found.dev(), found.ino(), found.size());
        Some(format!("{device}:{node} {size} {seconds}.{rest:09}"))
    }
    #[cfg(not(unix))]
    {
        Some(format!("{} {:?}", found.len(), found.modified().ok()?))
    }
}

/// The stamp of the running program, even where cargo has put a new one in its place.
pub fn stamp_of_running_program() -> Option<String> {
    stamp(Path::new("/proc/self/exe")).or_else(|| stamp(&std::env::current_exe().ok()?))
}
