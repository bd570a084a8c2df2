//! The built book in headless Chromium. Ignored by default: it needs a browser, a built book, and
//! the two checkers that `.ci/checkers` installs.
//!
//! ```sh
//! cargo run && .ci/checkers && cargo test --test browser -- --ignored
//! ```

mod accessible;
mod driver;
mod known;
mod loading;
mod pages;
mod published;
mod server;
mod unscripted;
mod valid;
mod widgets;

use std::path::{Path, PathBuf};
use std::{env, panic, thread};

use builder::site;
use driver::Browser;

/// mdBook's themes, its default first.
const THEMES: [&str; 5] = ["light", "rust", "coal", "navy", "ayu"];

/// Where the built book lies: `BOOK`, or `book/`.
fn book() -> PathBuf {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("book");
    let book = env::var_os("BOOK").map_or(book, PathBuf::from);
    assert!(
        book.join("index.html").exists(),
        "the book must be built: run `cargo run` first"
    );
    book
}

/// The names of all pages of the book, the added ones too: solutions/rope.html, toc.html.
fn every_page() -> Vec<String> {
    let book = book();
    let paths = site::walk(&book).expect("the book's files");
    let name = |path: &PathBuf| {
        path.strip_prefix(&book)
            .expect("inside")
            .display()
            .to_string()
    };
    let mut pages: Vec<_> = paths.iter().map(name).collect();
    pages.retain(|page| page.ends_with(".html"));
    pages.sort();
    pages
}

/// The pages that a reader opens from disk: all but the one for a missing page, which works on a
/// server alone, and the frame of contents for readers without scripts.
fn pages() -> Vec<String> {
    let mut pages = every_page();
    pages.retain(|page| page != "404.html" && page != "toc.html");
    pages
}

/// Looks at the book with two browsers at once: on a phone and on a desk.
fn at_both_widths<T: Send>(look: impl Fn(&Browser, u32) -> T + Sync) -> [T; 2] {
    let look = &look;
    thread::scope(|scope| {
        let looks = [360, 1280].map(|width| {
            scope.spawn(move || {
                let browser = Browser::start();
                browser.resize(width, 900);
                look(&browser, width)
            })
        });
        looks.map(|look| {
            look.join()
                .unwrap_or_else(|fault| panic::resume_unwind(fault))
        })
    })
}

/// A file of a checker, which `.ci/checkers` installs into `CHECKERS` or `target/checkers`.
fn checker(file: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/checkers");
    let folder = env::var_os("CHECKERS").map_or(folder, PathBuf::from);
    let file = folder.join("node_modules").join(file);
    assert!(
        file.exists(),
        "{} is missing: run `.ci/checkers`, which installs it with npm",
        file.display()
    );
    file
}
