//! The address under which the book is published, and the canonical link that each page gets of it.
//!
//! mdBook's templates know neither, so this is done to the finished pages, by `cargo run` alone.

use std::path::Path;
use std::{fs, io};

use mdbook_driver::config::Config;

use crate::{Fault, site};

const SETTING: &str = "`site-url` in `[output.html]`";

/// What mdBook adds to the chapters: nothing that a search engine should lead to.
const NOT_CHAPTERS: [&str; 3] = ["404.html", "print.html", "toc.html"];

/// The site's whole address, where `site-url` is one. mdBook also takes a path, which is enough for
/// the page that is shown where there is none.
///
/// # Errors
///
/// A fault for what is neither.
pub fn address(config: &Config) -> Result<Option<String>, Fault> {
    let refuse = |thing: String| {
        let remedy = "write a whole address, `https://example.org/book/`, or its path, `/book/`";
        Fault::new(Path::new("book.toml"), thing, remedy)
    };
    let setting: Option<String> = config
        .get("output.html.site-url")
        .map_err(|error| refuse(format!("{SETTING} is no text: {error:#}")))?;
    let Some(setting) = setting else {
        return Ok(None);
    };
    let whole = setting.starts_with("https://") || setting.starts_with("http://");
    let out_of_place = |c: char| c.is_whitespace() || "\"'<>&?#".contains(c);
    if !(whole || setting.starts_with('/'))
        || !setting.ends_with('/')
        || setting.contains(out_of_place)
    {
        return Err(refuse(format!("{SETTING} is `{setting}`")));
    }
    Ok(whole.then_some(setting))
}

/// Gives each chapter of the finished `book` its canonical link under `address`.
///
/// # Errors
///
/// A page that cannot be read or written.
pub fn link(book: &Path, address: &str) -> io::Result<()> {
    let index = fs::read_to_string(book.join("index.html"))?;
    for file in site::walk(book)? {
        let name = file.strip_prefix(book).unwrap_or(&file);
        let name = name.to_string_lossy().replace('\\', "/");
        if !name.ends_with(".html") || NOT_CHAPTERS.contains(&name.as_str()) {
            continue;
        }
        let page = fs::read_to_string(&file)?;
        // The first chapter stands under its own name as well.
        let place = if page == index { "" } else { &name };
        let tags = format!(
            "<link rel=\"canonical\" href=\"{address}{place}\">\n        \
             <meta property=\"og:url\" content=\"{address}{place}\">\n    </head>"
        );
        fs::write(&file, page.replacen("</head>", &tags, 1))?;
    }
    Ok(())
}
