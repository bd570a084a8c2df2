//! Every page under the Nu Html Checker.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::known::{Found, Known, assert_only};
use crate::{book, checker, every_page};

const SWITCH: &str = "<label id=\"mdbook-sidebar-toggle\"";

const KNOWN: [Known; 3] = [
    Known {
        rule: "The “aria-label” attribute must not be used on any “label” element that is associated with a labelable element.",
        place: SWITCH,
        reason: "a script puts a button in its place",
    },
    Known {
        rule: "The “aria-controls” attribute must not be used on any “label” element that is associated with a labelable element.",
        place: SWITCH,
        reason: "a script puts a button in its place",
    },
    Known {
        rule: "No “li” element in scope but a “li” end tag seen.",
        place: "toc.html",
        reason: "mdBook closes an entry of the contents twice; browsers pass over it",
    },
];

#[test]
#[ignore = "needs Java, the Nu Html Checker and the built book"]
fn every_page_is_valid_html() {
    let told = Command::new("java")
        .arg("-jar")
        .arg(checker("vnu-jar/build/dist/vnu.jar"))
        .args(["--stdout", "--format", "json", "--exit-zero-always"])
        .args(every_page())
        .current_dir(book())
        .output()
        .expect("java; on Debian, install default-jre-headless");
    let told: Value = serde_json::from_slice(&told.stdout).expect("a report");
    let told = told["messages"].as_array().expect("messages");
    let found: BTreeSet<Found> = told.iter().map(fault).collect();
    assert_only(&KNOWN, &found);
}

fn fault(message: &Value) -> Found {
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    let page = text("url").rsplit("/book/").next().unwrap_or_default();
    Found {
        rule: text("message").into(),
        place: format!("{page}:{}: {}", message["lastLine"], text("extract")),
    }
}
