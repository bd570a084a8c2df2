//! What stops a build: one broken book for each gate, and the previous book left as it was.

mod disk;
mod fixture;
mod kept;

use std::fs;

use fixture::Fixture;

#[test]
fn an_unbroken_book_is_built_and_counted() {
    let fixture = Fixture::new();
    let report = fixture
        .chapter("{{#output hello}}\n")
        .build()
        .expect("built");
    assert_eq!(report.counts.chapters, 2);
    assert_eq!(report.counts.listings, 1);
    assert_eq!(report.counts.outputs, 1);
    assert_eq!(report.counts.formulae, 1);
    assert_eq!(report.counts.claims, 1);
    let page = fs::read_to_string(fixture.path("book/one.html")).expect("a page");
    assert!(page.contains("fn double"), "the listing stands on the page");
    assert!(page.contains("Listing 1.1: <code>code/demo.rs</code>"));
    assert!(page.contains("cargo run -p demo --example hello"));
    assert!(
        page.contains("hello\n"),
        "the output stands under its command"
    );
    assert!(page.contains("<math"), "the formula can be heard");
    assert!(page.contains("href=\"claims.html#demo-two_and_two_are_four\""));
}

#[test]
fn a_failed_build_leaves_the_previous_book_as_it_was() {
    let fixture = Fixture::new();
    fixture.build().expect("built");
    let before = fs::read(fixture.path("book/one.html")).expect("a page");
    fixture
        .chapter("{{#output unknown}}\n")
        .build()
        .expect_err("broken");
    assert_eq!(
        fs::read(fixture.path("book/one.html")).expect("still there"),
        before
    );
    fixture
        .chapter("[away](nowhere.md)\n")
        .build()
        .expect_err("broken after rendering");
    assert_eq!(
        fs::read(fixture.path("book/one.html")).expect("still there"),
        before
    );
}

#[test]
fn all_faults_are_told_at_once() {
    let fixture = Fixture::new();
    fixture.chapter("{{#claim demo::a}} {{#claim demo::b}}\n\n{{#table no/table}}\n");
    assert_eq!(fixture.build().expect_err("broken").0.len(), 3);
}

#[test]
fn a_missing_include_stops_the_build() {
    Fixture::new()
        .chapter("```rust\n{{#include ../code/gone.rs:double}}\n```\n")
        .stops("src/one.md", "`code/gone.rs`", "mend the path");
}

#[test]
fn an_include_from_outside_the_book_stops_the_build() {
    Fixture::new()
        .chapter("```rust\n{{#include ../../other.rs}}\n```\n")
        .stops(
            "src/one.md",
            "`../../other.rs` leaves",
            "include a file of this repository",
        );
}

#[test]
fn a_missing_anchor_stops_the_build() {
    Fixture::new()
        .chapter("```rust\n{{#include ../code/demo.rs:triple}}\n```\n")
        .stops(
            "src/one.md",
            "no anchor `triple` in `code/demo.rs`",
            "name one of: double",
        );
}

#[test]
fn an_empty_listing_stops_the_build() {
    Fixture::new()
        .chapter("```rust\n{{#include ../code/demo.rs:nothing}}\n```\n")
        .stops(
            "src/one.md",
            "`nothing` in `code/demo.rs` is empty",
            "between the marks",
        );
}

#[test]
fn a_listing_mixed_with_typed_code_stops_the_build() {
    Fixture::new()
        .chapter("```rust\n{{#include ../code/demo.rs:double}}\nfn typed() {}\n```\n")
        .stops("src/one.md", "more than one include", "and nothing else");
}

#[test]
fn an_unknown_figure_stops_the_build() {
    Fixture::new()
        .chapter("```figure\nname = \"no/figure\"\ncaption = \"c\"\nalt = \"a\"\n```\n")
        .stops("src/one.md", "no figure named `no/figure`", "code/figures");
}

#[test]
fn a_figure_without_alt_text_stops_the_build() {
    Fixture::new()
        .chapter("```figure\nname = \"no/figure\"\ncaption = \"c\"\n```\n")
        .stops(
            "src/one.md",
            "`no/figure` has no alt text",
            "say in `caption` what to see",
        );
}

#[test]
fn a_picture_without_alt_text_stops_the_build() {
    let fixture = Fixture::new();
    fixture.write("src/dot.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    fixture
        .chapter("![](dot.svg)\n")
        .stops("src/one.md", "`dot.svg` has no alt text", "say");
}

#[test]
fn an_unknown_table_or_value_stops_the_build() {
    Fixture::new().chapter("{{#table no/table}}\n").stops(
        "src/one.md",
        "no table named `no/table`",
        "code/figures",
    );
    Fixture::new()
        .chapter("It is {{#value no/value}}.\n")
        .stops("src/one.md", "no value named `no/value`", "code/figures");
}

#[test]
fn an_unknown_request_stops_the_build() {
    Fixture::new().chapter("{{#figurine no/figure}}\n").stops(
        "src/one.md",
        "`{{#figurine no/figure}}`",
        "a chapter may ask for",
    );
}

#[test]
fn an_unknown_example_stops_the_build() {
    Fixture::new().chapter("{{#output goodbye}}\n").stops(
        "src/one.md",
        "no example `goodbye`",
        "fails, hello, silent",
    );
}

#[test]
fn an_example_that_fails_stops_the_build() {
    Fixture::new().chapter("{{#output fails}}\n").stops(
        "src/one.md",
        "`fails` gives no output: it ended with exit status: 3",
        "--example fails",
    );
}

#[test]
fn an_example_that_prints_nothing_stops_the_build() {
    Fixture::new().chapter("{{#output silent}}\n").stops(
        "src/one.md",
        "`silent` gives no output: it printed nothing",
        "--example silent",
    );
}

#[test]
fn an_example_that_does_not_compile_stops_the_build_once() {
    let fixture = Fixture::new();
    fixture.write("examples/hello.rs", "fn main() { oops }\n");
    fixture
        .chapter("{{#output hello}}\n\n{{#output silent}}\n")
        .stops(
            "src/one.md",
            "cannot find value `oops`",
            "cargo build --examples",
        );
}

#[test]
fn a_widget_without_its_script_stops_the_build() {
    let fixture = Fixture::new();
    fixture
        .write("code/widgets/page/modules/one.js", "")
        .write("code/widgets/page/kit.js", "");
    fixture
        .chapter("<figure data-widget=\"gone\"></figure>\n")
        .stops("src/one.md", "the widget `gone`", "write `gone.js`");
}

#[test]
fn a_widget_stands_on_its_page_with_its_scripts() {
    let fixture = Fixture::new();
    fixture.write("code/widgets/page/modules/one.js", "const module = 1;");
    fixture.write("code/widgets/page/kit.js", "const kit = `${module}`;");
    fixture.write("code/widgets/page/dial.js", "kit + 1 < 3 && kit;");
    fixture
        .chapter("<figure data-widget=\"dial\"></figure>\n")
        .build()
        .expect("built");
    let page = fs::read_to_string(fixture.path("book/one.html")).expect("a page");
    let at = |script: &str| page.find(script).expect("the script is whole");
    assert!(at("const module = 1;") < at("const kit = `${module}`;"));
    assert!(at("const kit") < at("kit + 1 < 3 && kit;"));
    let other = fs::read_to_string(fixture.path("book/claims.html")).expect("a page");
    assert!(
        !other.contains("const kit"),
        "a page without a widget loads none"
    );
}

#[test]
fn an_unknown_claim_stops_the_build() {
    Fixture::new()
        .chapter("So it is.{{#claim demo::it_is_so}}\n")
        .stops(
            "src/one.md",
            "`demo::it_is_so` has no test",
            "tests/claims/demo.rs",
        );
}

#[test]
fn a_test_that_no_chapter_claims_stops_the_build() {
    let fixture = Fixture::new();
    fixture.write("tests/claims/main.rs", "mod demo;\nmod more;\n");
    fixture.write(
        "tests/claims/more.rs",
        "#[test]\nfn more() {\n    assert!(true);\n}\n",
    );
    fixture.stops(
        "tests/claims/more.rs",
        "the test `more::more`",
        "{{#claim more::more}}",
    );
}

#[test]
fn a_claim_whose_test_asserts_nothing_stops_the_build() {
    let fixture = Fixture::new();
    fixture.write(
        "tests/claims/demo.rs",
        "#[test]\nfn two_and_two_are_four() {\n}\n",
    );
    fixture.stops(
        "tests/claims/demo.rs",
        "asserts nothing",
        "assert what the claim says",
    );
}

#[test]
fn a_formula_that_does_not_parse_stops_the_build() {
    Fixture::new().chapter("See $\\frac{1}{$.\n").stops(
        "src/one.md",
        "`\\frac{1}{` cannot be rendered",
        "mend its TeX",
    );
}

#[test]
fn a_stray_dollar_stops_the_build() {
    Fixture::new().chapter("It costs $5 or $6.\n").stops(
        "src/one.md",
        "stray `$` before `5 or",
        "write `\\$`",
    );
    Fixture::new().chapter("It costs 5 $ in all.\n").stops(
        "src/one.md",
        "stray `$`",
        "write `\\$`",
    );
}

#[test]
fn a_link_to_a_missing_page_stops_the_build() {
    Fixture::new().chapter("[there](nowhere.md)\n").stops(
        "src/one.md",
        "`nowhere.html` leads to no page",
        "mend the link",
    );
}

#[test]
fn a_link_to_a_missing_place_stops_the_build() {
    Fixture::new()
        .chapter("[there](claims.md#nowhere)\n")
        .stops(
            "src/one.md",
            "`claims.html#nowhere` leads to a place",
            "id of a heading",
        );
}

#[test]
fn a_picture_from_another_host_stops_the_build() {
    Fixture::new()
        .chapter("![a dot](https://example.org/dot.png)\n")
        .stops("src/one.md", "from another host", "ship it");
}

#[test]
fn a_misspelt_setting_of_katex_stops_the_build() {
    let fixture = Fixture::new();
    fixture.set("no-css", "no-ccs");
    fixture.stops("book.toml", "no setting `no-ccs`", "its default");
}

#[test]
fn macros_that_are_missing_or_mean_nothing_stop_the_build() {
    let fixture = Fixture::new();
    fixture.set("no-css", "macros = \"macros.txt\"\nno-css");
    fixture.stops("macros.txt", "cannot be read", "`[preprocessor.katex]`");
    for line in ["\\half", "half:x", " \\half:x", "\\half\\x:y", "\\:x"] {
        fixture.write("macros.txt", &format!("\\third:\\frac13\n\n{line}\n"));
        fixture.stops(
            "macros.txt",
            &format!("`{line}` is no macro"),
            "name:meaning",
        );
    }
    fixture.write("macros.txt", "\\third:\\frac13\n");
    fixture.chapter("Half is $\\third + \\frac{1$.\n");
    let fault = fixture
        .build()
        .expect_err("the formula is broken")
        .0
        .remove(0);
    assert!(
        fault
            .thing
            .contains("expected '}' at end of input: …third + \\frac{1"),
        "{fault}"
    );
    assert_eq!(fault.line, Some(9), "{fault}");
}

#[test]
fn settings_of_katex_that_the_gates_do_not_know_stop_the_build() {
    for (part, other, thing) in [
        ("htmlAndMathml", "svg", "`output = \"svg\"` is none of"),
        (
            "no-css = true",
            "inline-delimiter = { left = \"\\\\(\", right = \"\\\\)\" }",
            "delimiters of formulae are `$` and `$$`",
        ),
    ] {
        let fixture = Fixture::new();
        fixture.set(part, other);
        fixture.stops("book.toml", thing, "mend the setting");
    }
}

#[test]
fn a_step_that_is_not_set_up_stops_the_build() {
    let fixture = Fixture::new();
    fixture.set("[preprocessor.finish]\nafter = [\"katex\"]\n", "");
    fixture.stops(
        "book.toml",
        "no table `[preprocessor.finish]`",
        "after = [\"katex\"]",
    );
}

#[test]
fn a_folder_without_a_book_is_told_so() {
    let fixture = Fixture::new();
    fs::remove_file(fixture.path("book.toml")).expect("removed");
    fixture.stops(
        "book.toml",
        "cannot be read",
        "the folder that holds book.toml",
    );
}

#[test]
fn a_chapter_that_the_summary_promises_must_exist() {
    let fixture = Fixture::new();
    fixture.write(
        "src/SUMMARY.md",
        "# Summary\n\n- [One](one.md)\n- [Two](two.md)\n",
    );
    let faults = fixture.build().expect_err("broken");
    assert!(faults.to_string().contains("two.md"), "{faults}");
}

#[test]
fn code_may_hold_dollars_and_requests() {
    let fixture = Fixture::new();
    fixture.chapter("`$PATH` and `{{#claim x::y}}`\n\n```sh\necho $HOME {{not ours}}\n```\n");
    fixture.build().expect("built");
    let page = fs::read_to_string(fixture.path("book/one.html")).expect("a page");
    assert!(page.contains("echo $HOME") && page.contains("{{#claim x::y}}"));
}

#[test]
fn punctuation_in_formulae_is_not_taken_for_markdown() {
    let fixture = Fixture::new();
    fixture.chapter(
        "$$\n\\underbrace{x+y}_{z} + \\underbrace{x+y}_{z}\n$$\n\n$a * b * c$ and $\\tilde a ~ \\tilde b$\n\n\
         | one | two |\n|---|---|\n| $\\lvert x \\rvert$ | $y_1 * y_2 * y_3$ |\n",
    );
    let report = fixture.build().expect("built");
    assert_eq!(report.counts.formulae, 6);
    let page = fs::read_to_string(fixture.path("book/one.html")).expect("a page");
    for mangled in ["<em>", "<strong>", "<del>", "$$", "katex-error"] {
        assert!(!page.contains(mangled), "{mangled} stands on the page");
    }
    assert_eq!(
        page.matches("<math").count(),
        6,
        "each formula can be heard"
    );
    assert!(
        !page.contains("<annotation"),
        "TeX is not left for the search to find"
    );
}

#[test]
fn a_chapter_that_is_no_text_stops_the_build() {
    Fixture::new()
        .chapter("one\0two\n")
        .stops("src/one.md", "a NUL byte", "take it out");
}

#[test]
fn a_chapter_of_ten_megabytes_stops_the_build() {
    Fixture::new().chapter(&"word ".repeat(2 << 20)).stops(
        "src/one.md",
        "bytes, more than",
        "split the chapter",
    );
}

#[test]
fn a_font_that_is_not_there_stops_the_build() {
    let fixture = Fixture::new();
    let style = "[output.html]\nadditional-css = [\"style.css\"]\n\n[output.html.playground]";
    fixture.set("[output.html.playground]", style);
    fixture.write(
        "style.css",
        "@font-face { src: url(\"fonts/gone.woff2\"); }\n",
    );
    let faults = fixture.build().expect_err("broken").to_string();
    assert!(faults.contains("asks for `fonts/gone.woff2`"), "{faults}");
}

#[test]
fn a_second_build_at_the_same_time_is_turned_away() {
    let fixture = Fixture::new();
    let lock = fs::File::create(fixture.path("book.lock")).expect("a lock");
    lock.lock().expect("held");
    fixture.stops(
        "book.lock",
        "another build of this book",
        "wait until it has ended",
    );
    drop(lock);
    fixture.build().expect("built once the other has ended");
}

#[test]
fn a_build_that_was_killed_has_lost_nothing() {
    let fixture = Fixture::new();
    fixture.build().expect("built");
    let before = fs::read(fixture.path("book/one.html")).expect("a page");
    fs::rename(fixture.path("book"), fixture.path("book.old")).expect("killed between two moves");
    fixture.write("book.new/one.html", "half a page");
    fixture
        .chapter("{{#output unknown}}\n")
        .build()
        .expect_err("broken");
    assert_eq!(
        fs::read(fixture.path("book/one.html")).expect("back"),
        before
    );
    assert!(!fixture.path("book.new").exists() && !fixture.path("book.old").exists());
}

#[test]
fn a_place_that_cannot_hold_the_book_is_named() {
    let fixture = Fixture::new();
    fixture.write("book.new", "a file where the folder should be");
    fixture.build().expect_err("broken");
    let faults = fixture.build().expect_err("broken").to_string();
    assert!(
        faults.contains("book.new") && faults.contains("then build again"),
        "{faults}"
    );
}

#[test]
fn a_claim_whose_test_is_not_compiled_stops_the_build() {
    let fixture = Fixture::new();
    fixture.write("tests/claims/main.rs", "// mod demo;\n");
    fixture.stops("tests/claims/demo.rs", "not compiled", "add `mod demo;`");
}

#[test]
fn a_backtick_that_opens_no_code_stops_the_build() {
    Fixture::new().chapter("A lone ` tick, then $x$.\n").stops(
        "src/one.md",
        "a backtick that no other closes",
        "a backslash before",
    );
}

#[test]
fn a_fence_that_is_never_closed_stops_the_build() {
    Fixture::new().chapter("```sh\nls\n\n## Swallowed\n").stops(
        "src/one.md",
        "a fence that is never closed",
        "as many backticks",
    );
}

#[test]
fn a_misspelt_request_stops_the_build() {
    for request in [
        "{{#claim demo::two}",
        "{{claim demo::two}}",
        "{#output hello}",
    ] {
        Fixture::new().chapter(&format!("So {request}\n")).stops(
            "src/one.md",
            "a misspelt request",
            "{{#verb object}}",
        );
    }
}

#[test]
fn a_misspelt_figure_stops_the_build() {
    Fixture::new()
        .chapter("```Figure\nname = \"x/y\"\n```\n")
        .stops("src/one.md", "meant as a figure", "and nothing behind it");
}

#[test]
fn a_claim_in_a_heading_stops_the_build() {
    Fixture::new()
        .chapter("## Two {{#claim demo::two_and_two_are_four}}\n")
        .stops("src/one.md", "stands in a heading", "behind a sentence");
}

#[test]
fn a_page_that_the_summary_forgets_stops_the_build() {
    let fixture = Fixture::new();
    fixture.write("src/lost.md", "# Lost\n");
    fixture.stops("src/lost.md", "not in the summary", "list it in SUMMARY.md");
}

#[test]
fn a_link_to_nowhere_stops_the_build() {
    Fixture::new().chapter("[there]()\n").stops(
        "src/one.md",
        "a link leads nowhere",
        "between the parentheses",
    );
}

#[test]
fn a_file_in_the_place_of_the_book_is_kept() {
    let fixture = Fixture::new();
    fixture.write("book", "mine");
    fixture.stops("book", "not a folder", "move it away");
    assert_eq!(
        fs::read_to_string(fixture.path("book")).expect("kept"),
        "mine"
    );
}

#[test]
fn lines_of_rust_that_begin_with_a_number_sign_are_shown() {
    let fixture = Fixture::new();
    fixture.write(
        "code/demo.rs",
        "// ANCHOR: double\nlet x = \"\n# one\n## two\n\";\n// ANCHOR_END: double\n",
    );
    fixture.build().expect("built");
    let page = fs::read_to_string(fixture.path("book/one.html")).expect("a page");
    assert!(
        page.contains("# one\n## two\n") && !page.contains("boring"),
        "{page}"
    );
}

#[test]
fn a_book_with_an_address_gives_each_chapter_its_canonical_link() {
    let fixture = Fixture::new();
    let read = |page: &str| fs::read_to_string(fixture.path(page)).expect("a page");
    fixture.build().expect("built");
    let plain = read("book/claims.html");
    assert!(!plain.contains("canonical") && !plain.contains("og:url"));

    let settings = read("book.toml");
    let address = "https://example.org/sub/";
    let signed = format!("{settings}\n[output.html]\nsite-url = \"{address}\"\n");
    fixture.write("book.toml", &signed).build().expect("built");
    for (page, place) in [("index", ""), ("one", ""), ("claims", "claims.html")] {
        let page = read(&format!("book/{page}.html"));
        let head = page.split("</head>").next().unwrap_or_default();
        let link = format!("<link rel=\"canonical\" href=\"{address}{place}\">");
        let graph = format!("<meta property=\"og:url\" content=\"{address}{place}\">");
        assert!(head.contains(&link) && head.contains(&graph), "{head}");
    }
    for page in ["404", "print", "toc"] {
        let page = read(&format!("book/{page}.html"));
        assert!(!page.contains("canonical") && !page.contains("og:url"));
    }
    let only_path = signed.replace(address, "/sub/");
    fixture
        .write("book.toml", &only_path)
        .build()
        .expect("built");
    assert!(!read("book/claims.html").contains("canonical"));
    assert!(read("book/404.html").contains("<base href=\"/sub/\">"));
}

#[test]
fn an_address_that_leads_nowhere_stops_the_build() {
    let fixture = Fixture::new();
    let settings = fs::read_to_string(fixture.path("book.toml")).expect("settings");
    for wrong in [
        "example.org/book/",
        "https://example.org/book",
        "/a\\\"b/",
        "",
    ] {
        let setting = format!("{settings}\n[output.html]\nsite-url = \"{wrong}\"\n");
        fixture.write("book.toml", &setting);
        fixture.stops(
            "book.toml",
            "`site-url` in `[output.html]`",
            "whole address",
        );
    }
}
