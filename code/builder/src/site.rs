//! The finished pages, checked: links, fragments, ids, pictures, and that nothing comes from
//! another host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use html5gum::{Token, Tokenizer};
use rayon::prelude::*;
use regex::Regex;

use crate::{Fault, pattern};

#[derive(Default)]
struct Page {
    ids: BTreeSet<String>,
    repeated: BTreeSet<String>,
    links: Vec<String>,
    loads: Vec<String>,
    pictures_without_alt: Vec<String>,
    from_root: bool,
}

/// Checks every page and style sheet under `site`. `source` is the folder of the Markdown files,
/// relative to `root`, to which the faults of a page are traced.
///
/// # Errors
///
/// A page that cannot be read.
pub fn check(site: &Path, root: &Path, source: &Path) -> io::Result<Vec<Fault>> {
    let files = walk(site)?;
    let name = |file: &Path| file.strip_prefix(site).unwrap_or(file).to_owned();
    let of_kind = |kind: &'static str| {
        let is_kind = move |file: &&PathBuf| file.extension().is_some_and(|found| found == kind);
        files.par_iter().filter(is_kind)
    };
    let read = |file: &PathBuf| Ok((name(file), read(&fs::read_to_string(file)?)));
    let pages: BTreeMap<_, _> = of_kind("html").map(read).collect::<io::Result<_>>()?;
    let style = |file: &PathBuf| Ok(check_style(&fs::read_to_string(file)?, &name(file), site));
    let styles: Vec<_> = of_kind("css").map(style).collect::<io::Result<_>>()?;
    let mut faults: Vec<_> = styles.into_iter().flatten().collect();
    for (name, page) in &pages {
        let markdown = source.join(name).with_extension("md");
        let file = if root.join(&markdown).exists() {
            markdown
        } else {
            name.clone()
        };
        faults.extend(check_page(page, name, &file, site, &pages));
    }
    Ok(first_told(faults, source))
}

/// The first page and the page for print repeat what the chapters hold: where a chapter has
/// faults, theirs come of it and are not told.
fn first_told(mut faults: Vec<Fault>, source: &Path) -> Vec<Fault> {
    if faults.iter().any(|fault| fault.file.starts_with(source)) {
        faults.retain(|fault| fault.file.starts_with(source));
    }
    let mut told = BTreeSet::new();
    faults.retain(|fault| told.insert((fault.file.clone(), fault.thing.clone())));
    faults
}

/// All files under a folder.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn walk(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            let list = if path.is_dir() {
                &mut folders
            } else {
                &mut files
            };
            list.push(path);
        }
    }
    Ok(files)
}

fn read(html: &str) -> Page {
    let mut page = Page::default();
    for token in Tokenizer::new(html) {
        let Ok(Token::StartTag(tag)) = token else {
            continue;
        };
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let attribute = |key: &str| {
            let value = tag.attributes.get(key.as_bytes())?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        if let Some(id) = attribute("id")
            && !page.ids.insert(id.clone())
        {
            page.repeated.insert(id);
        }
        match name.as_str() {
            "base" => page.from_root = true,
            "a" => page.links.extend(attribute("href")),
            "link" => page.loads.extend(
                attribute("href").filter(|_| attribute("rel").is_none_or(|rel| rel != "canonical")),
            ),
            "img" => {
                let source = attribute("src").unwrap_or_default();
                if attribute("alt").is_none_or(|alt| alt.trim().is_empty()) {
                    page.pictures_without_alt.push(source.clone());
                }
                page.loads.push(source);
            }
            "script" | "iframe" | "source" | "video" | "audio" => {
                page.loads.extend(attribute("src"));
            }
            "image" | "use" => page.loads.extend(attribute("href")),
            _ => {}
        }
    }
    page
}

fn check_page(
    page: &Page,
    name: &Path,
    file: &Path,
    site: &Path,
    pages: &BTreeMap<PathBuf, Page>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |thing: String, remedy: &str| faults.push(Fault::new(file, thing, remedy));
    for id in &page.repeated {
        fault(
            format!("the id `{id}` stands twice on the page"),
            "give one of the two another id",
        );
    }
    for picture in &page.pictures_without_alt {
        let remedy = "say between the brackets of `![…]` what a reader without it must know";
        fault(format!("the picture `{picture}` has no alt text"), remedy);
    }
    for load in page.loads.iter().filter(|load| is_remote(load)) {
        fault(
            format!("the page loads `{load}` from another host"),
            "ship it with the book",
        );
    }
    if page.links.iter().any(String::is_empty) {
        fault(
            "a link leads nowhere".into(),
            "write its address between the parentheses",
        );
    }
    let local = |link: &&String| !link.is_empty() && !is_remote(link) && !has_scheme(link);
    for link in page.links.iter().chain(&page.loads).filter(local) {
        let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
        let path = path.split('?').next().unwrap_or(path);
        let target = if path.is_empty() {
            name.to_owned()
        } else if page.from_root || path.starts_with('/') {
            PathBuf::from(path.trim_start_matches('/'))
        } else {
            normal(&name.parent().unwrap_or(Path::new("")).join(path))
        };
        let target = if target.as_os_str().is_empty() {
            "index.html".into()
        } else {
            target
        };
        if !site.join(&target).is_file() {
            let remedy = "mend the link, or list the page in SUMMARY.md";
            fault(format!("the link `{link}` leads to no page"), remedy);
        } else if !fragment.is_empty()
            && let Some(page) = pages.get(&target)
            && !page.ids.contains(fragment)
        {
            let remedy = "link to the id of a heading that is there";
            fault(
                format!("the link `{link}` leads to a place that is not on its page"),
                remedy,
            );
        }
    }
    faults
}

fn check_style(css: &str, name: &Path, site: &Path) -> Vec<Fault> {
    static URL: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"(?:url\(|@import)\s*["']?([^"')\s;]+)"#));
    let mut faults = Vec::new();
    for found in URL.captures_iter(css) {
        let address = &found[1];
        if is_remote(address) {
            let thing = format!("the style sheet loads `{address}` from another host");
            faults.push(Fault::new(name, thing, "ship it with the book"));
        } else if !has_scheme(address) && !address.starts_with('#') {
            let path = address.split(['?', '#']).next().unwrap_or(address);
            let target = normal(&name.parent().unwrap_or(Path::new("")).join(path));
            if !site.join(&target).is_file() {
                let thing = format!("the style sheet asks for `{address}`, which is not there");
                faults.push(Fault::new(
                    name,
                    thing,
                    "add the file, or take the rule out",
                ));
            }
        }
    }
    faults
}

fn is_remote(link: &str) -> bool {
    link.starts_with("//") || link.starts_with("http:") || link.starts_with("https:")
}

fn has_scheme(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts
}
