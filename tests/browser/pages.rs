//! Every page as a reader opens it: in each theme, on a phone and on a desk.

use serde_json::json;

use crate::driver::{Browser, ENTER};
use crate::{THEMES, at_both_widths, book, pages};

/// Opens a page, which keeps the theme that an earlier one was given.
fn in_theme(browser: &Browser, page: &str, theme: &str) {
    browser.open(&format!("file://{}/{page}", book().display()));
    browser.wait("return document.readyState === 'complete'");
    assert_eq!(
        browser.run(&format!(
            "return document.documentElement.classList.contains('{theme}')"
        )),
        json!(true),
        "{page} in {theme}"
    );
}

#[test]
#[ignore = "the book must be built: run `cargo run` first"]
fn no_page_scrolls_sideways_or_fails_or_asks_another_host() {
    at_both_widths(|browser, width| {
        for theme in THEMES {
            browser.open(&format!("file://{}/index.html", book().display()));
            browser.run(&format!("localStorage.setItem('mdbook-theme', '{theme}')"));
            for page in pages() {
                in_theme(browser, &page, theme);
                let place = format!("{page} in {theme}, {width} pixels wide");
                let wide = browser.run("return document.documentElement.scrollWidth");
                assert!(
                    wide.as_u64() <= Some(u64::from(width)),
                    "{place}: {wide} pixels wide"
                );
                let foreign = browser.text(
                    "return performance.getEntriesByType('resource').map(entry => entry.name)\
                     .filter(name => !/^(file|data|blob):/.test(name)).join(' ')",
                );
                assert_eq!(foreign, "", "{place}");
                assert_eq!(browser.complaints(), Vec::<String>::new(), "{place}");
            }
        }
    });
}

#[test]
#[ignore = "the book must be built: run `cargo run` first"]
fn the_search_finds_what_a_reader_types() {
    let browser = Browser::start();
    browser.resize(1280, 900);
    for (word, first) in [
        ("rope_theta", "Rotary position embedding"),
        ("YaRN", "Long context"),
        ("relative", "Learned tables, T5 and ALiBi"),
        ("rotate_half", "Rotary position embedding"),
    ] {
        browser.open(&format!("file://{}/index.html", book().display()));
        browser.wait("return document.readyState === 'complete'");
        browser.run("document.querySelector('#mdbook-search-toggle').click()");
        browser.keys("#mdbook-searchbar", word);
        browser.wait("return document.querySelectorAll('#mdbook-searchresults li').length > 0");
        let found = browser.text(
            "return [...document.querySelectorAll('#mdbook-searchresults li a')].slice(0, 3)\
             .map(link => link.textContent).join(' | ')",
        );
        assert!(found.contains(first), "{word} finds {found}");
    }
}

#[test]
#[ignore = "the book must be built: run `cargo run` first"]
fn what_is_wide_can_be_scrolled_by_keyboard() {
    let browser = Browser::start();
    browser.resize(360, 900);
    for page in pages() {
        in_theme(&browser, &page, "light");
        let out_of_reach = browser.text(
            "return [...document.querySelectorAll('main *')].filter(box => \
                box.scrollWidth > box.clientWidth + 1 \
                && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX) \
                && box.tabIndex < 0 && !box.querySelector('a, button, input, [tabindex]'))\
             .map(box => box.tagName + '.' + box.className).join(' ')",
        );
        assert_eq!(out_of_reach, "", "{page}");
    }
}

#[test]
#[ignore = "the book must be built: run `cargo run` first"]
fn the_sidebar_opens_and_closes_by_keyboard() {
    let browser = Browser::start();
    browser.resize(360, 900);
    in_theme(&browser, "rope.html", "light");
    let switch = ".left-buttons [aria-controls=mdbook-sidebar]:not([hidden])";
    for open in [true, false] {
        browser.keys(switch, ENTER);
        browser.wait(&format!(
            "const right = document.querySelector('#mdbook-sidebar').getBoundingClientRect().right;\
             const told = document.querySelector('{switch}').getAttribute('aria-expanded');\
             return {open} === (right > 100) && told === '{open}'"
        ));
    }
}
