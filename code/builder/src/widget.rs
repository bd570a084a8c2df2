//! Widgets: figures that a script of `code/widgets/page` brings to life.
//!
//! A chapter holds the static figure, marked `data-widget`; the scripts stand at the end of the
//! page, inside it, so that a page without a widget loads none and a page opened from disk needs
//! no other file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::Fault;

/// Scripts that every widget stands on, in the order in which they run.
const SHARED: [&str; 2] = ["module", "kit"];

/// The scripts of the widgets that `content` holds, or nothing where it holds none.
///
/// # Errors
///
/// A fault for a script that is missing or would end the element it stands in.
pub fn attach(content: &str, folder: &Path, file: &Path) -> Result<String, Fault> {
    static MARK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("data-widget=\"([a-z0-9-]+)\"").expect("a constant pattern"));
    let names: BTreeSet<&str> = MARK
        .captures_iter(content)
        .filter_map(|found| found.get(1))
        .map(|name| name.as_str())
        .collect();
    if names.is_empty() {
        return Ok(String::new());
    }
    let mut scripts = String::from("\n");
    for name in SHARED.into_iter().chain(names) {
        let path = folder.join(name).with_extension("js");
        let script = fs::read_to_string(&path).map_err(|error| {
            Fault::new(
                file,
                format!("the script of the widget `{name}` cannot be read: {error}"),
                format!("write `{name}.js` in code/widgets/page, or mend the name"),
            )
        })?;
        if script.contains("</script") {
            let thing = format!("the script of the widget `{name}` holds `</script`");
            return Err(Fault::new(
                file,
                thing,
                "write it as `<\\/script` in the string",
            ));
        }
        scripts.push_str(&format!("\n<script>\n{}\n</script>\n", script.trim()));
    }
    Ok(scripts)
}
