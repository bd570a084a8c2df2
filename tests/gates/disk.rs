//! What the machine does to a build: the previous book stays whole, and the reason is told.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use builder::{press, site};

use crate::fixture::Fixture;

const BOOK: &str = env!("CARGO_BIN_EXE_book");

/// All files of the book, with what they hold.
fn files(fixture: &Fixture) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = site::walk(&fixture.path("book")).expect("a book");
    let read = |path: PathBuf| (path.clone(), fs::read(path).expect("a file"));
    paths.into_iter().map(read).collect()
}

/// A book that was built, whose chapter has changed since; and the files of the book.
fn changed() -> (Fixture, BTreeMap<PathBuf, Vec<u8>>) {
    let fixture = Fixture::new();
    fixture.build().expect("built");
    let before = files(&fixture);
    fixture.chapter("Changed.\n");
    (fixture, before)
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_leaves_the_previous_book() {
    let (fixture, before) = changed();
    // A file of more than 64 blocks meets a limit as it would meet the end of the disk.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\"", BOOK])
        .current_dir(fixture.root())
        .output()
        .expect("run");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("book.new: it cannot be written"), "{told}");
    assert!(told.contains("make room"), "{told}");
    assert!(files(&fixture) == before, "the previous book is as it was");
    assert!(!fixture.path("book.new").exists(), "half a book is left");
}

#[test]
fn a_place_that_cannot_be_written_is_told() {
    let fixture = Fixture::new();
    fixture.write("shelf", "a file where the folder should be");
    let mut places = vec![fixture.path("shelf/book"), fixture.path("no/shelf/book")];
    if cfg!(target_os = "linux") {
        // Even the superuser makes no file there.
        places.push("/proc/book".into());
    }
    for place in places {
        let faults = press::build(fixture.root(), Some(&place), |_| {}).expect_err("no place");
        let lock = place.with_file_name("book.lock");
        let told = faults.to_string();
        assert!(
            told.contains(&format!("{}: it cannot be written", lock.display())),
            "{told}"
        );
        assert!(told.contains("mend the permissions"), "{told}");
        assert!(!place.exists());
    }
}

#[test]
fn a_book_that_is_protected_against_writing_is_left_alone() {
    let (fixture, before) = changed();
    let book = fixture.path("book");
    let writable = fs::metadata(&book).expect("a folder").permissions();
    let mut protected = writable.clone();
    protected.set_readonly(true);
    fs::set_permissions(&book, protected).expect("protected");
    let told = fixture.build().expect_err("protected").to_string();
    fs::set_permissions(&book, writable).expect("writable again");
    assert!(
        told.contains("book: the book's folder is protected"),
        "{told}"
    );
    assert!(told.contains("allow writing"), "{told}");
    assert!(files(&fixture) == before, "the previous book is as it was");
    fixture.build().expect("built again");
}

#[test]
fn a_build_that_is_killed_leaves_the_previous_book() {
    let (fixture, before) = changed();
    let mut build = Command::new(BOOK)
        .current_dir(fixture.root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut steps = BufReader::new(build.stderr.take().expect("piped")).lines();
    assert!(steps.any(|line| line.expect("text").contains("weaving the chapters")));
    build.kill().expect("killed");
    build.wait().expect("ended");
    let left = files(&fixture);
    fixture.build().expect("the next build is not held up");
    let after = files(&fixture);
    assert!(after != before, "the chapter is new");
    // On a busy machine it may have ended before it could be killed.
    assert!(left == before || left == after, "half a book is left");
    for folder in ["book.new", "book.old"] {
        assert!(!fixture.path(folder).exists(), "{folder} is left behind");
    }
}
