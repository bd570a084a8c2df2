//! Formulae: what KaTeX rendered is kept from Markdown, what it refused stops the build.
//!
//! mdbook-katex renders before Markdown is parsed, which then takes the punctuation inside a
//! formula for emphasis or deletion. Here it is escaped, so that it survives. The TeX source
//! inside the MathML is dropped: a screen reader has no use for it, and the search would find it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use katex::Opts;
use mdbook_katex::preprocess::{ExtraOpts, Render, get_render_tasks};
use mdbook_katex::scan::Delimiter;
use regex::Regex;

use crate::{Fault, pattern};

fn delimiters() -> ExtraOpts {
    ExtraOpts {
        include_src: false,
        block_delimiter: Delimiter::same("$$".into()),
        inline_delimiter: Delimiter::same("$".into()),
    }
}

/// Dollars that cannot be meant as mathematics, in a chapter as written.
///
/// A formula starts and ends at its dollar without a space, has no blank line, and its last
/// dollar is not followed by a digit: `costs $5 or $6` holds no formula, though the scanner of
/// mdbook-katex sees one.
pub fn stray_dollars(content: &str, file: &Path) -> Vec<Fault> {
    let remedy = "write `\\$` for a dollar, or close the formula";
    let fault = |thing: String, at: &str| {
        let offset = at.as_ptr() as usize - content.as_ptr() as usize;
        Fault::new(file, thing, remedy).at(content, offset)
    };
    let mut faults = Vec::new();
    let mut rest_at = 0;
    for task in get_render_tasks(content, "", &delimiters()) {
        let (formula, display) = match task {
            Render::Text("") => continue,
            Render::Text(text) => {
                rest_at = text.as_ptr() as usize - content.as_ptr() as usize;
                continue;
            }
            Render::InlineTask(formula) => (formula, false),
            Render::DisplayTask(formula) => (formula, true),
        };
        let end = formula.as_ptr() as usize - content.as_ptr() as usize + formula.len();
        let dollars = if display { 2 } else { 1 };
        rest_at = end + dollars;
        let next = content[rest_at.min(content.len())..].chars().next();
        let loose = formula.trim().is_empty()
            || formula.contains("\n\n")
            || !display
                && (formula.starts_with(char::is_whitespace)
                    || formula.ends_with(char::is_whitespace)
                    || next.is_some_and(|c| c.is_alphanumeric()));
        if loose {
            let shown: String = formula.chars().take(40).collect();
            faults.push(fault(format!("stray `$` before `{shown}`"), formula));
        }
    }
    // After the last formula the scanner gives up at a dollar that is never closed.
    if let Some(lone) = lone_dollar(&content[rest_at.min(content.len())..]) {
        let at = &content[rest_at + lone..];
        faults.push(fault("stray `$` that no other closes".into(), at));
    }
    faults
}

fn lone_dollar(text: &str) -> Option<usize> {
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'`' => {
                let ticks = bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
                let after = at + ticks;
                at = text[after..]
                    .find(&"`".repeat(ticks))
                    .map_or(text.len(), |close| after + close + ticks);
            }
            b'$' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Formulae that are still TeX after mdbook-katex: those that KaTeX refused with these options.
/// The chapter as written, in which a formula has its line, is the `file` under `root`.
pub fn unrendered(content: &str, options: &Opts, root: &Path, file: &Path) -> Vec<Fault> {
    get_render_tasks(content, "", &delimiters())
        .into_iter()
        .filter_map(|task| match task {
            Render::Text(_) => None,
            Render::InlineTask(formula) | Render::DisplayTask(formula) => Some(formula),
        })
        .map(|formula| {
            let why = match katex::render_with_opts(formula, options) {
                Err(error) => said(&error),
                Ok(_) => "mdbook-katex left it as it was".into(),
            };
            let fault = Fault::new(
                file,
                format!("the formula `{}` cannot be rendered: {why}", formula.trim()),
                "mend its TeX or the macros it uses; KaTeX's list of supported functions says \
                 what it knows",
            );
            // What cannot be read has no lines to name.
            let source = fs::read_to_string(root.join(file)).unwrap_or_default();
            match source.find(formula) {
                Some(offset) => fault.at(&source, offset),
                None => fault,
            }
        })
        .collect()
}

/// What KaTeX said, without its engine's wrapping and the strokes under the letters it means.
fn said(error: &katex::Error) -> String {
    let text = error.to_string();
    let text = text
        .split_once("ParseError: ")
        .map_or(&*text, |(_, rest)| rest);
    let text = text.trim_end_matches(['"', ')']);
    text.replace("\\u{332}", "").replace("\\\\", "\\")
}

/// Escapes the punctuation of every rendered formula and makes wide ones reachable by keyboard.
/// Returns the text and the number of formulae.
pub fn protect(content: &str) -> (String, usize) {
    static OPEN: LazyLock<Regex> = LazyLock::new(|| pattern("<span class=\"katex(-display)?\">"));
    let mut output = String::with_capacity(content.len() * 2);
    let (mut at, mut count) = (0, 0);
    while let Some(found) = OPEN.find_at(content, at) {
        output.push_str(&content[at..found.start()]);
        let end = balanced_end(content, found.start());
        output.push_str(&escape(&content[found.start()..end]));
        at = end;
        count += 1;
    }
    output.push_str(&content[at..]);
    (output, count)
}

fn balanced_end(content: &str, start: usize) -> usize {
    static TAG: LazyLock<Regex> = LazyLock::new(|| pattern("<(/?)span[^>]*>"));
    let mut depth = 0usize;
    for tag in TAG.captures_iter(&content[start..]) {
        if tag[1].is_empty() {
            depth += 1;
        } else {
            depth -= 1;
        }
        if depth == 0 {
            return start + tag.get(0).map_or(0, |whole| whole.end());
        }
    }
    content.len()
}

fn escape(formula: &str) -> String {
    static SOURCE: LazyLock<Regex> = LazyLock::new(|| pattern("(?s)<annotation.*?</annotation>"));
    let formula = SOURCE.replace_all(formula, "");
    let formula = formula.replace(
        "<span class=\"katex-display\">",
        "<span class=\"katex-display\" tabindex=\"0\" role=\"group\" aria-label=\"Formula\">",
    );
    let mut output = String::with_capacity(formula.len() * 2);
    let mut inside_tag = false;
    for character in formula.chars() {
        match character {
            '<' => inside_tag = true,
            '>' => {
                inside_tag = false;
                output.push('>');
                continue;
            }
            _ => {}
        }
        // `&`, `#` and `;` stand in entities, which Markdown leaves alone.
        let plain = inside_tag || !character.is_ascii_punctuation() || "&#;".contains(character);
        if plain {
            output.push(character);
        } else {
            output.push_str(&format!("&#{};", character as u32));
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strays(text: &str) -> usize {
        stray_dollars(text, Path::new("x.md")).len()
    }

    #[test]
    fn formulae_and_code_hold_no_stray_dollar() {
        assert_eq!(strays("a $x$ b $y_1$.\n\n$$\nx\n$$\n"), 0);
        assert_eq!(strays("`echo $PATH` and \\$5\n\n```sh\n$ ls\n```\n"), 0);
        assert_eq!(strays("$x$, then `$HOME`"), 0);
    }

    #[test]
    fn a_dollar_that_is_money_is_stray() {
        assert_eq!(strays("costs $5 or $6"), 1);
        assert!(strays("costs $5, then $x$ and text") > 0);
        assert_eq!(strays("only one $ here"), 1);
        assert_eq!(strays("$x$ and one $ here"), 1);
    }

    #[test]
    fn punctuation_of_a_formula_is_safe_and_its_tags_are_kept() {
        let text = "a_b <span class=\"katex\"><span style=\"top:-1em\">x_1*</span>&lt;</span> c*d";
        let (safe, count) = protect(text);
        assert_eq!(count, 1);
        assert_eq!(
            safe,
            "a_b <span class=\"katex\"><span style=\"top:-1em\">x&#95;1&#42;</span>&lt;</span> c*d"
        );
    }
}
