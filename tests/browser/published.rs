//! The book as it is published under a path of a host: built with that address, by the command.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::driver::Browser;
use crate::{accessible, at_both_widths, loading, server};

/// The book, built for the address at which it is served.
fn publish() -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder");
    let book = folder.path().join("book");
    let address = server::serve_under(book.clone(), "/sub/path");
    let built = Command::new(env!("CARGO_BIN_EXE_book"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env("MDBOOK_BUILD__BUILD_DIR", book)
        .env("MDBOOK_OUTPUT__HTML__SITE_URL", format!("{address}/"))
        .status()
        .expect("the command runs");
    assert!(built.success());
    (folder, address)
}

#[test]
#[ignore = "needs Chromium, chromedriver and axe-core; builds the book"]
fn a_missing_page_under_a_path_leads_back_to_the_book() {
    let (folder, address) = publish();
    at_both_widths(|browser, width| missing_page(browser, width, &address));

    // Each chapter stands at the address that it gives as its own.
    for page in [
        "index.html",
        "introduction.html",
        "rope.html",
        "solutions/rope.html",
    ] {
        let file = fs::read_to_string(folder.path().join("book").join(page)).expect("a page");
        let own = file.split("rel=\"canonical\" href=\"").nth(1).expect(page);
        let own = own.split('"').next().unwrap_or_default();
        let mut there = ureq::get(own).call().expect("a page is there");
        assert_eq!(
            there.body_mut().read_to_string().expect("text"),
            file,
            "{own}"
        );
    }
}

/// The page that the server gives for a missing one deep under the path.
fn missing_page(browser: &Browser, width: u32, address: &str) {
    accessible::watch(browser);
    loading::watch(browser);
    browser.open(&format!("{address}/deep/down/missing.html"));
    assert_eq!(loading::moves(browser), "", "at {width} pixels");
    assert_eq!(
        accessible::violations(browser, "the missing page", ""),
        [],
        "at {width} pixels"
    );
    assert!(browser.text("return document.title").contains("not found"));
    let bare = "return [...document.styleSheets].filter((sheet) => !sheet.cssRules.length).length";
    assert_eq!(browser.run(bare), 0, "a style sheet is missing");
    let lost = browser.run(
        "const parts = [...document.querySelectorAll('a[href], link[href], script[src]')];\
         const names = [...new Set(parts.map((part) => part.href || part.src))];\
         return Promise.all(names.map((name) => fetch(name)))\
           .then((answers) => [names.length > 30, answers.filter((answer) => !answer.ok).map((answer) => answer.url)])",
    );
    assert_eq!(lost, json!([true, []]));
    browser
        .run("document.querySelector('#mdbook-sidebar a[href$=\"solutions/rope.html\"]').click()");
    browser.wait("return document.title.startsWith('Solutions: rotary')");
}
