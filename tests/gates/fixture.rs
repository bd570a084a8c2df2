//! A small book in a folder of its own, to be broken in one place.

use std::fs;
use std::path::{Path, PathBuf};

use builder::{Faults, press};
use tempfile::TempDir;

/// A book that builds, until a test changes one of its files.
pub struct Fixture {
    folder: TempDir,
}

impl Fixture {
    /// A book with one chapter, one listing, one tested claim and one example.
    pub fn new() -> Fixture {
        let fixture = Fixture {
            folder: TempDir::new().expect("a folder for the fixture"),
        };
        fixture.write(
            "book.toml",
            "[book]\ntitle = \"Fixture\"\n\n\
             [build]\ncreate-missing = false\n\n\
             [preprocessor.weave]\nexamples = \"demo\"\ntarget-dir = \"target\"\nbefore = [\"links\"]\n\n\
             [preprocessor.katex]\nafter = [\"links\"]\nno-css = true\noutput = \"htmlAndMathml\"\n\n\
             [preprocessor.finish]\nafter = [\"katex\"]\n\n\
             [output.html.playground]\nrunnable = false\n",
        );
        fixture.write(
            "src/SUMMARY.md",
            "# Summary\n\n- [One](one.md)\n- [Claims](claims.md)\n",
        );
        fixture.write("src/claims.md", "# Claims\n\n{{#claims}}\n");
        fixture.write(
            "code/demo.rs",
            "// ANCHOR: double\nfn double(x: i32) -> i32 {\n    x * 2\n}\n// ANCHOR_END: double\n\
             // ANCHOR: nothing\n// ANCHOR_END: nothing\n",
        );
        fixture.write(
            "tests/claims/demo.rs",
            "#[test]\nfn two_and_two_are_four() {\n    assert_eq!(2 + 2, 4);\n}\n",
        );
        fixture.write("tests/claims/main.rs", "mod demo;\n");
        fixture.write(
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        fixture.write("src/lib.rs", "");
        fixture.write(
            "examples/hello.rs",
            "fn main() {\n    println!(\"hello\");\n}\n",
        );
        fixture.write(
            "examples/fails.rs",
            "fn main() {\n    std::process::exit(3);\n}\n",
        );
        fixture.write("examples/silent.rs", "fn main() {}\n");
        fixture.chapter("");
        fixture
    }

    /// Appends to the only chapter, below everything that works.
    pub fn chapter(&self, text: &str) -> &Fixture {
        let base = "# One\n\nTwo and two are four.{{#claim demo::two_and_two_are_four}} So $x_1 = 2$.\n\n\
                    ```rust\n{{#include ../code/demo.rs:double}}\n```\n\n";
        self.write("src/one.md", &format!("{base}{text}"))
    }

    /// Writes a file of the book.
    pub fn write(&self, path: &str, text: &str) -> &Fixture {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
        self
    }

    /// Puts something else in the place of a part of the settings.
    pub fn set(&self, part: &str, other: &str) -> &Fixture {
        let settings = fs::read_to_string(self.path("book.toml")).expect("settings");
        assert!(settings.contains(part), "{part} is no part of {settings}");
        self.write("book.toml", &settings.replace(part, other))
    }

    /// A path inside the book.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The book's root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Builds the book.
    pub fn build(&self) -> Result<press::Report, Faults> {
        press::build(self.root(), None, |_| {})
    }

    /// The files in which the builds of this test program keep their pieces: what they typeset, and
    /// what they wove.
    pub fn kept(&self) -> [PathBuf; 2] {
        let folder = fs::read_dir(self.path("target/kept")).expect("something is kept");
        let mut files: Vec<_> = folder.map(|file| file.expect("listed").path()).collect();
        files.sort();
        files.try_into().expect("two files and nothing beside them")
    }

    /// Builds the broken book and asserts that it stops for this one reason, told with the file,
    /// the thing and the remedy.
    pub fn stops(&self, file: &str, thing: &str, remedy: &str) {
        let faults = self.build().expect_err("the book is broken").0;
        assert_eq!(faults.len(), 1, "one reason is expected: {faults:#?}");
        assert_eq!(faults[0].file, Path::new(file), "{faults:#?}");
        assert!(faults[0].thing.contains(thing), "{faults:#?}");
        assert!(faults[0].remedy.contains(remedy), "{faults:#?}");
        assert!(
            !self.path("book.new").exists(),
            "the unfinished book is left behind"
        );
    }
}
