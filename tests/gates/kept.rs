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
    assert_eq!(made(&fixture), 2);
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
    assert_eq!(made(&fixture), 1, "the output, and not the value");
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
    let whole = fs::read_to_string(fixture.kept()).expect("kept");
    for damaged in [
        whole.replace("hello\"", "hullo\""),
        whole[..whole.len() / 2].into(),
        String::new(),
    ] {
        assert_ne!(damaged, whole, "it is damaged");
        fs::write(fixture.kept(), damaged).expect("damaged");
        assert_eq!(made(&fixture), 2);
        assert_eq!(page(&fixture), before);
    }
    assert_eq!(made(&fixture), 0, "and it is whole again");
}

#[test]
fn pieces_that_cannot_be_kept_are_made_again() {
    let fixture = Fixture::new();
    fixture.write("target/kept", "a file where the folder should be");
    fixture.chapter(ASKS);
    assert_eq!((made(&fixture), made(&fixture)), (2, 2));
}
