//! What the previous build made is kept, and never what is no longer true.

use std::fs;

use crate::fixture::Fixture;

const ASKS: &str = "{{#output hello}}\n\nIt is {{#value lab/order-steps}}.\n";

/// What the page of the chapter says; around it stand the names of files that change.
fn page(fixture: &Fixture) -> String {
    let page = fs::read_to_string(fixture.path("book/one.html")).expect("a page");
    let (_, text) = page.split_once("<main>").expect("opened");
    text.split_once("</main>").expect("closed").0.into()
}

fn made(fixture: &Fixture) -> usize {
    fixture.build().expect("built").counts.made
}

#[test]
fn what_did_not_change_is_not_made_again() {
    let fixture = Fixture::new();
    fixture.chapter(ASKS);
    assert_eq!(made(&fixture), 3, "an output, a value and the formulae");
    let before = page(&fixture);
    fixture.write("src/claims.md", "# All claims\n\n{{#claims}}\n");
    assert_eq!(made(&fixture), 0);
    assert_eq!(page(&fixture), before);
}

#[test]
fn what_changed_is_made_again() {
    let fixture = Fixture::new();
    fixture.chapter(ASKS);
    made(&fixture);
    fixture.write(
        "examples/hello.rs",
        "fn main() {\n    println!(\"other\");\n}\n",
    );
    assert_eq!(
        made(&fixture),
        2,
        "the output and the chapter's formulae, not the value"
    );
    assert!(
        page(&fixture).contains("other\n"),
        "the page shows the new output"
    );
}

#[test]
fn a_damaged_piece_never_reaches_the_book() {
    let fixture = Fixture::new();
    fixture.chapter(ASKS);
    made(&fixture);
    let before = page(&fixture);
    for (file, word, pieces) in [(0, "katex", 1), (1, "hello\"", 2)] {
        let file = &fixture.kept()[file];
        let whole = fs::read_to_string(file).expect("kept");
        for damaged in [
            whole.replace(word, "other\""),
            whole[..whole.len() / 2].into(),
            String::new(),
        ] {
            assert_ne!(damaged, whole, "it is damaged");
            fs::write(file, damaged).expect("damaged");
            assert_eq!(made(&fixture), pieces);
            assert_eq!(page(&fixture), before);
        }
    }
    assert_eq!(made(&fixture), 0, "and it is whole again");
}

#[test]
fn pieces_that_cannot_be_kept_are_made_again() {
    let fixture = Fixture::new();
    fixture.write("target/kept", "a file where the folder should be");
    fixture.chapter(ASKS);
    assert_eq!((made(&fixture), made(&fixture)), (3, 3));
}

#[test]
fn formulae_are_typeset_again_where_the_chapter_the_settings_or_the_macros_changed() {
    let fixture = Fixture::new();
    let changes = [
        ("$\\half$", "\\half:\\frac12", "htmlAndMathml", "<mn>2</mn>"),
        (
            "$\\half y$",
            "\\half:\\frac12",
            "htmlAndMathml",
            "<mi>y</mi>",
        ),
        (
            "$\\half y$",
            "\\half:\\frac17",
            "htmlAndMathml",
            "<mn>7</mn>",
        ),
        ("$\\half y$", "\\half:\\frac17", "html", "katex-html"),
    ];
    let settings = fs::read_to_string(fixture.path("book.toml")).expect("settings");
    for (formula, macros, output, shown) in changes {
        let output = format!("output = \"{output}\"\nmacros = \"macros.txt\"");
        let settings = settings.replace("output = \"htmlAndMathml\"", &output);
        fixture.write("book.toml", &settings);
        fixture.write("macros.txt", macros);
        fixture.chapter(formula);
        assert_eq!(made(&fixture), 1, "{formula} {macros} {output}");
        let text = page(&fixture);
        assert!(text.contains(shown), "{text}");
        assert_eq!(made(&fixture), 0);
        assert_eq!(page(&fixture), text);
    }
    assert!(!page(&fixture).contains("<mn>"), "no MathML is left");
}
