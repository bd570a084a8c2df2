//! Every page under axe-core, in each theme, on a phone and on a desk.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::driver::{Browser, SHOWN};
use crate::known::{Found, Known, assert_only};
use crate::{THEMES, at_both_widths, book, checker, every_page, server};

/// The rules whose outcome a theme can change.
const OF_COLOURS: &str = "['color-contrast', 'link-in-text-block']";

const KNOWN: [Known; 3] = [
    Known {
        rule: "landmark-one-main",
        place: "toc.html",
        reason: "mdBook's frame of contents holds a list and nothing else",
    },
    Known {
        rule: "page-has-heading-one",
        place: "toc.html",
        reason: "mdBook's frame of contents holds a list and nothing else",
    },
    Known {
        rule: "region",
        place: "toc.html",
        reason: "mdBook's frame of contents holds a list and nothing else",
    },
];

#[test]
#[ignore = "needs Chromium, chromedriver, axe-core and the built book"]
fn no_page_has_an_accessibility_fault_in_any_theme_at_any_width() {
    let address = server::serve(book());
    let found = at_both_widths(|browser, width| faults(browser, width, &address));
    assert_only(&KNOWN, &found.into_iter().flatten().collect());
}

/// All rules in the light theme, then those of colours in the others: nothing but colours changes.
fn faults(browser: &Browser, width: u32, address: &str) -> BTreeSet<Found> {
    watch(browser);
    let mut found = BTreeSet::new();
    for page in every_page() {
        // The page for a missing page asks its files of the published site; see published.rs.
        // The whole book on one page takes a minute, and repeats what the chapters hold: it is
        // looked at once.
        if page == "404.html" || (page == "print.html" && width == 360) {
            continue;
        }
        browser.open(&format!("{address}/{page}"));
        found.extend(violations(browser, &page, ""));
        if page == "print.html" || page == "toc.html" {
            continue;
        }
        for theme in &THEMES[1..] {
            browser.run(&format!(
                "document.getElementById('mdbook-theme-{theme}').click()"
            ));
            let of_colours = format!("runOnly: {OF_COLOURS},");
            let place = format!("{page} in {theme}");
            found.extend(violations(browser, &place, &of_colours));
        }
        browser.run("document.getElementById('mdbook-theme-light').click()");
    }
    found
}

/// Gives every page axe-core, and no change of colour that takes its time.
pub fn watch(browser: &Browser) {
    let axe = fs::read_to_string(checker("axe-core/axe.min.js")).expect("a script");
    browser.prepare(&axe);
    let still = json!({"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]});
    browser.command("Emulation.setEmulatedMedia", still);
}

/// What axe-core finds on the page that is open and shown.
pub fn violations(browser: &Browser, page: &str, options: &str) -> Vec<Found> {
    browser.wait(SHOWN);
    let found = browser.run(&format!(
        "return axe.run(document, {{{options} resultTypes: ['violations']}}).then((found) => \
         found.violations.flatMap((rule) => rule.nodes.map((node) => [rule.id, node.target.join(' ')])))"
    ));
    let found = found.as_array().cloned().expect("axe-core answers");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = found.iter().map(|fault| Found {
        rule: text(&fault[0]),
        place: format!("{page}: {}", text(&fault[1])),
    });
    found.collect()
}
