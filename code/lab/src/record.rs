//! Results as files: comma-separated values under a head that says how they came about.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::checksum::fnv1a;
use crate::error::{Error, Result};

/// A table of results and how it came about.
#[derive(Debug, Clone)]
pub struct Record {
    name: &'static str,
    head: Vec<(String, String)>,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Record {
    /// An empty table for the file `name.csv`, to be recorded by `command`.
    pub fn new(name: &'static str, command: &str, columns: &'static [&'static str]) -> Self {
        let mut record = Self {
            name,
            head: Vec::new(),
            columns,
            rows: Vec::new(),
        };
        record.note(
            "command",
            format!("cargo run --release -p lab -- {command}"),
        );
        record.note(
            "version",
            concat!("lab ", env!("CARGO_PKG_VERSION"), ", candle-core 0.11.1"),
        );
        record.note("machine", machine());
        record
    }

    /// Adds a line to the head.
    pub fn note(&mut self, key: &str, value: impl ToString) {
        self.head.push((key.into(), value.to_string()));
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The rows so far.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Writes `name.csv` in `folder`, closed by the checksum of everything before it.
    ///
    /// # Errors
    ///
    /// [`Error::File`] where the folder cannot be made or written.
    pub fn write(&self, folder: &Path, began: SystemTime) -> Result<PathBuf> {
        let path = folder.join(self.name).with_extension("csv");
        let took = began.elapsed().unwrap_or(Duration::ZERO).as_secs();
        let mut text = String::new();
        for (key, value) in &self.head {
            text.push_str(&format!("# {key}: {value}\n"));
        }
        text.push_str(&format!("# began: {}\n# seconds: {took}\n", utc(began)));
        text.push_str(&self.columns.join(","));
        text.push('\n');
        for row in &self.rows {
            text.push_str(&row.join(","));
            text.push('\n');
        }
        text.push_str(&format!("# checksum: {:016x}\n", fnv1a(text.as_bytes())));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|source| Error::File {
                path: path.clone(),
                source,
            })?;
        Ok(path)
    }
}

/// What decides the last bits of a result: the processor family, the system and the vector
/// instructions that matrix products are chosen by.
pub fn machine() -> String {
    let mut words = vec![std::env::consts::ARCH, std::env::consts::OS];
    words.extend(vector_instructions());
    if cfg!(feature = "cuda") {
        words.push("cuda");
    }
    words.join(" ")
}

#[cfg(target_arch = "x86_64")]
fn vector_instructions() -> Vec<&'static str> {
    let mut found = Vec::new();
    if std::arch::is_x86_feature_detected!("avx2") {
        found.push("avx2");
    }
    if std::arch::is_x86_feature_detected!("fma") {
        found.push("fma");
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        found.push("avx512f");
    }
    found
}

#[cfg(not(target_arch = "x86_64"))]
fn vector_instructions() -> Vec<&'static str> {
    Vec::new()
}

/// The time of day in Greenwich, by the civil calendar.
fn utc(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs();
    let (mut year, mut days) = (1970, seconds / 86_400);
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!(
        "{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC",
        days + 1
    )
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_by_the_civil_calendar() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00 UTC");
        assert_eq!(at(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(at(1_709_251_199), "2024-02-29 23:59 UTC");
    }
}
