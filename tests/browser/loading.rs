//! What a reader loads, and that nothing moves meanwhile.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::driver::{Browser, SHOWN};
use crate::{at_both_widths, book, every_page, server};

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn the_first_chapter_weighs_less_than_300_kilobytes() {
    let browser = Browser::start();
    browser.resize(1280, 900);
    let address = server::serve(book());
    browser.open(&format!("{address}/attention.html"));
    browser.wait("return document.querySelector('figure[data-widget]').dataset.ready === ''");
    let loaded = browser.text(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)\
         .filter((name) => !name.endsWith('.woff2')).concat(location.href).join('\\n')",
    );
    let (mut whole, mut sent) = (0, 0);
    for name in loaded.lines() {
        let file = name.trim_start_matches(&address).trim_start_matches('/');
        let bytes = fs::read(book().join(file)).expect(name);
        whole += bytes.len();
        sent += compressed(&bytes);
    }
    println!("{sent} bytes compressed, {whole} as they are, without fonts");
    assert!(loaded.lines().count() > 10, "{loaded}");
    assert!(sent < 300_000, "{sent} bytes");
}

/// The size of a file as servers send it.
fn compressed(bytes: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory").len()
}

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn nothing_moves_while_a_page_loads_or_is_scrolled() {
    let address = server::serve(book());
    at_both_widths(|browser, width| {
        watch(browser);
        for page in every_page() {
            // It asks its files of the published site; see published.rs.
            if page == "404.html" {
                continue;
            }
            browser.open(&format!("{address}/{page}"));
            assert_eq!(moves(browser), "", "{page} at {width} pixels");
        }
    });
}

/// Has every page record what moves, and load as for a reader who comes to it first.
pub fn watch(browser: &Browser) {
    browser.prepare(
        "window.moves = [];\
         const told = (move) => move.value + ': ' + move.sources.map((source) => \
           (source.node?.textContent || '').trim().slice(0, 40)).join(', ');\
         new PerformanceObserver((list) => moves.push(...list.getEntries().map(told)))\
         .observe({type: 'layout-shift', buffered: true})",
    );
    let parameters = json!({"cacheDisabled": true});
    browser.command("Network.setCacheDisabled", parameters);
}

/// What moved on the page that is open, from its first picture until it is scrolled to its end.
pub fn moves(browser: &Browser) -> String {
    browser.wait(SHOWN);
    browser.text(
        "const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));\
         const scroll = async () => {\
           for (let top = 0; top < document.documentElement.scrollHeight; top += 800) {\
             scrollTo(0, top); await frame();\
           }\
           await frame();\
           return moves.join('\\n');\
         };\
         return scroll()",
    )
}
