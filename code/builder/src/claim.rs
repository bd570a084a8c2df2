//! Claims: sentences of the book that a test proves.
//!
//! The claim `rope::the_score_depends_only_on_the_offset` is the test of that name in
//! `tests/claims/rope.rs`. A claim without a test stops the build, and so does a test that no
//! chapter claims, that asserts nothing or that is ignored.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use regex::Regex;

use crate::{Fault, pattern};

/// A test of the claims, as read from its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// `module::test_name`.
    pub id: String,
    /// The file of the test, relative to the book's root.
    pub file: PathBuf,
    /// The line of its `fn`, counted from one.
    pub line: usize,
    /// Its documentation and code.
    pub source: String,
}

impl Claim {
    /// The claim as a sentence: the name of its test with spaces.
    pub fn sentence(&self) -> String {
        sentence(&self.id)
    }

    /// The id of its entry on the page of all claims.
    pub fn anchor(&self) -> String {
        self.id.replace("::", "-")
    }

    fn faults(&self) -> Option<Fault> {
        let fault = |thing: &str, remedy: &str| {
            let mut fault = Fault::new(
                &self.file,
                format!("the test of `{}` {thing}", self.id),
                remedy,
            );
            fault.line = Some(self.line);
            Some(fault)
        };
        if self.source.contains("#[ignore") {
            return fault(
                "is ignored",
                "make it run, or take the claim out of the book",
            );
        }
        if !asserts(&self.source) {
            return fault("asserts nothing", "assert what the claim says");
        }
        None
    }
}

/// Whether a line of code, and not of comment, calls an assertion.
fn asserts(source: &str) -> bool {
    static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(prop_)?assert\w*!?\s*\("));
    source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            CALL.find(line)
                .is_some_and(|call| !line[..call.start()].contains('"'))
        })
}

/// A claim's id as a sentence: `rope::norms_are_kept` becomes "norms are kept".
pub fn sentence(id: &str) -> String {
    id.rsplit("::").next().unwrap_or(id).replace('_', " ")
}

/// Reads every test in `folder` (relative to `root`), by claim id, with a fault for each test that
/// proves nothing and for what cannot be read.
pub fn read(root: &Path, folder: &Path) -> (BTreeMap<String, Claim>, Vec<Fault>) {
    let unreadable = |file: &Path, error: io::Error| {
        Fault::new(
            file,
            format!("the tests of the claims cannot be read: {error}"),
            "set `claims` under `[preprocessor.weave]` in book.toml to the folder of the tests",
        )
    };
    let mut claims = BTreeMap::new();
    let entries = match fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) => return (claims, vec![unreadable(folder, error)]),
    };
    let mut faults = Vec::new();
    let main = fs::read_to_string(root.join(folder).join("main.rs")).unwrap_or_default();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let module = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.extension().is_none_or(|extension| extension != "rs") || module == "main" {
            continue;
        }
        let file = folder.join(path.file_name().unwrap_or_default());
        if !main
            .lines()
            .any(|line| line.trim() == format!("mod {module};"))
        {
            faults.push(Fault::new(
                &file,
                "these tests are not compiled, so they prove nothing",
                format!(
                    "add `mod {module};` to {}",
                    folder.join("main.rs").display()
                ),
            ));
        }
        match fs::read_to_string(&path) {
            Ok(text) if text.contains("/*") || text.contains("#[cfg(") => {
                let thing = "a block comment or `#[cfg(…)]`, behind which a test is not compiled";
                faults.push(Fault::new(
                    &file,
                    thing,
                    "take it out: a claim is always tested",
                ));
            }
            Ok(text) => claims.extend(
                tests(&text, &module, &file)
                    .into_iter()
                    .map(|claim| (claim.id.clone(), claim)),
            ),
            Err(error) => faults.push(unreadable(&file, error)),
        }
    }
    faults.extend(claims.values().filter_map(Claim::faults));
    (claims, faults)
}

/// The tests in a formatted source file, those inside `proptest!` included.
fn tests(text: &str, module: &str, file: &Path) -> Vec<Claim> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim() != "#[test]" {
            continue;
        }
        let Some(function) = (at..lines.len()).find(|&n| lines[n].trim_start().starts_with("fn "))
        else {
            continue;
        };
        let signature = lines[function].trim_start().trim_start_matches("fn ");
        let name = signature.split('(').next().unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        // rustfmt puts the closing brace under the attribute that opened the test.
        let end = (function..lines.len())
            .find(|&n| lines[n].strip_prefix(indent) == Some("}"))
            .unwrap_or(lines.len() - 1);
        let attached = |line: &str| {
            let line = line.trim_start();
            line.starts_with("///") || line.starts_with("#[")
        };
        let start = (0..at)
            .rev()
            .take_while(|&n| attached(lines[n]))
            .last()
            .unwrap_or(at);
        let source: Vec<&str> = lines[start..=end]
            .iter()
            .map(|line| line.strip_prefix(indent).unwrap_or(line))
            .collect();
        found.push(Claim {
            id: format!("{module}::{name}"),
            file: file.to_owned(),
            line: function + 1,
            source: source.join("\n"),
        });
    }
    found
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    const SOURCE: &str = "\
/// Why.
#[test]
fn one_holds() {
    assert!(true);
}

proptest! {
    #[test]
    fn two_holds(
        x in 0..3usize,
    ) {
        prop_assert!(x < 3);
    }
}
";

    #[test]
    fn a_claim_is_its_test_with_documentation_and_body() {
        let claims = tests(SOURCE, "rope", Path::new("rope.rs"));
        assert_eq!(claims.len(), 2);
        assert_eq!(claims[0].id, "rope::one_holds");
        assert_eq!(claims[0].line, 3);
        assert!(claims[0].source.starts_with("/// Why.") && claims[0].source.ends_with('}'));
        assert_eq!(claims[1].sentence(), "two holds");
        assert!(claims[1].source.ends_with("\n}"));
    }

    #[test]
    fn an_assertion_in_a_comment_or_a_string_asserts_nothing() {
        assert!(asserts("    prop_assert_eq!(a, b);") && asserts("assert_relative_eq!(a, b);"));
        assert!(!asserts("    // assert!(false)") && !asserts("let text = \"assert!(x)\";"));
    }

    #[test]
    fn a_test_without_an_assertion_is_a_fault() {
        let claim = &tests("#[test]\nfn empty() {\n}\n", "rope", Path::new("rope.rs"))[0];
        let fault = claim.faults().expect("a fault");
        assert!(fault.to_string().contains("asserts nothing"));
    }
}
