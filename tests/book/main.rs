//! The book itself, built as `cargo run` builds it, into a folder of the test's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use builder::{press, site};
use tempfile::TempDir;

fn build(into: &Path) -> press::Report {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match press::build(root, Some(&into.join("book")), |_| {}) {
        Ok(report) => report,
        Err(faults) => panic!("{faults}"),
    }
}

/// Built once for all tests that read it.
static BOOK: LazyLock<(TempDir, press::Report)> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a folder for the book");
    let report = build(folder.path());
    (folder, report)
});

fn pages() -> BTreeMap<PathBuf, String> {
    files(BOOK.0.path())
        .into_iter()
        .filter(|(path, _)| {
            path.extension()
                .is_some_and(|extension| extension == "html")
        })
        .map(|(path, bytes)| (path, String::from_utf8(bytes).expect("UTF-8")))
        .collect()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = site::walk(&folder.join("book")).expect("a book");
    let named = paths.into_iter().map(|path| {
        let name = path.strip_prefix(folder).expect("inside").to_owned();
        (name, fs::read(path).expect("a file"))
    });
    named.collect()
}

/// Removes what the builds of this test program have kept.
fn forget() {
    let program = std::env::current_exe().expect("a program");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("cargo's folder");
    let name = program.file_stem().expect("a name");
    for kind in ["woven", "formulae"] {
        let file = format!("{}-{kind}", name.display());
        fs::remove_file(target.join("kept").join(file)).expect("removed");
    }
}

#[test]
fn two_builds_are_the_same_to_the_byte() {
    LazyLock::force(&BOOK);
    forget();
    let other = TempDir::new().expect("a folder");
    let counts = build(other.path()).counts;
    assert!(counts.made > counts.figures, "all pieces are made anew");
    let (one, two) = (files(BOOK.0.path()), files(other.path()));
    assert!(one.keys().eq(two.keys()), "the same files");
    for (name, bytes) in &one {
        assert!(two[name] == *bytes, "{} differs", name.display());
    }
}

#[test]
fn every_figure_has_a_name_and_a_description() {
    let mut figures = 0;
    for (path, page) in pages() {
        for svg in page
            .split("<svg ")
            .skip(1)
            .filter(|svg| svg.contains("role=\"img\""))
        {
            let svg = svg.split("</svg>").next().unwrap_or(svg);
            for element in ["<title id=", "<desc id="] {
                let text = svg
                    .split(element)
                    .nth(1)
                    .and_then(|rest| rest.split(['>', '<']).nth(1));
                let said = text.is_some_and(|text| !text.trim().is_empty());
                assert!(said, "{}: a figure without {element}", path.display());
            }
            figures += 1;
        }
    }
    assert!(
        figures >= BOOK.1.counts.figures,
        "{figures} figures are on the pages"
    );
}

#[test]
fn every_formula_can_be_heard() {
    for (path, page) in pages() {
        let seen = page.matches("class=\"katex-html\"").count();
        assert_eq!(page.matches("<math ").count(), seen, "{}", path.display());
        assert!(!page.contains("katex-error"), "{}", path.display());
    }
}

#[test]
fn every_page_says_what_it_is() {
    for (path, page) in pages() {
        let head = page.split("</head>").next().unwrap_or_default();
        let said = |before: &str, after: &str| {
            let text = head.split(before).nth(1);
            let text = text.and_then(|rest| rest.split(after).next());
            assert!(
                text.is_some_and(|text| !text.trim().is_empty()),
                "{} says nothing in {before}",
                path.display()
            );
        };
        said("<title>", "</title>");
        if path.ends_with("toc.html") {
            continue;
        }
        said("<meta name=\"description\" content=\"", "\"");
        for name in ["type", "site_name", "title", "description"] {
            said(&format!("<meta property=\"og:{name}\" content=\""), "\"");
        }
    }
}

#[test]
fn the_page_for_print_holds_all_that_the_chapters_hold() {
    let added = ["404.html", "index.html", "print.html", "toc.html"];
    let (mut chapters, mut print) = (String::new(), String::new());
    for (path, page) in pages() {
        let main = page.split("<main>").nth(1).unwrap_or_default();
        let main = main.split("</main>").next().unwrap_or_default();
        if path.ends_with("book/print.html") {
            print.push_str(main);
        } else if !added
            .iter()
            .any(|name| path.ends_with(Path::new("book").join(name)))
        {
            chapters.push_str(main);
        }
    }
    for part in [
        "<h1 ",
        "<h2 ",
        "<h3 ",
        "<figure ",
        "<svg ",
        "<desc ",
        "<math ",
        "<pre>",
        "<table>",
        "class=\"command\"",
        "class=\"claim\"",
    ] {
        let count = chapters.matches(part).count();
        assert!(count > 0, "no chapter holds {part}");
        assert_eq!(print.matches(part).count(), count, "{part}");
    }
}

#[test]
fn no_page_offers_to_run_code_elsewhere() {
    for (path, page) in pages() {
        assert!(!page.contains("class=\"playground\""), "{}", path.display());
    }
}

#[test]
fn the_book_does_not_know_where_it_was_built() {
    let places = [
        env!("CARGO_MANIFEST_DIR").to_owned(),
        BOOK.0.path().display().to_string(),
    ];
    for (path, bytes) in files(BOOK.0.path()) {
        let text = String::from_utf8_lossy(&bytes);
        for place in &places {
            assert!(!text.contains(place), "{} holds {place}", path.display());
        }
    }
}
