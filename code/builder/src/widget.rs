//! Widgets: figures that a script of `code/widgets/page` brings to life.
//!
//! A chapter holds the static figure, marked `data-widget`; the scripts stand at the end of the
//! page, inside it, so that a page without a widget loads none and a page opened from disk needs
//! no other file: the chapter's compiled module, the kit, and a script for each widget. The example of `code/widgets/examples` with the widget's name goes along as text:
//! the page offers it with the reader's settings filled in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::{Fault, pattern};

/// The scripts of the widgets that `content` holds, or nothing where it holds none.
///
/// # Errors
///
/// A fault for a script that is missing or would end the element it stands in.
pub fn attach(content: &str, folder: &Path, file: &Path) -> Result<String, Fault> {
    static MARK: LazyLock<Regex> = LazyLock::new(|| pattern("data-widget=\"([a-z0-9-]+)\""));
    let names: BTreeSet<&str> = MARK
        .captures_iter(content)
        .filter_map(|found| found.get(1))
        .map(|name| name.as_str())
        .collect();
    if names.is_empty() {
        return Ok(String::new());
    }
    let mut scripts = String::from("\n");
    for name in &names {
        let path = folder.join("../examples").join(name).with_extension("rs");
        if path.exists() {
            let example = element(name, &path, file)?;
            let open = format!("<script type=\"text/plain\" data-code=\"{name}\">");
            scripts.push_str(&format!("\n{open}\n{example}\n</script>\n"));
        }
    }
    let chapter = file.file_stem().unwrap_or_default();
    let module = Path::new("modules").join(chapter);
    let names = names.into_iter().map(Path::new);
    for script in [module.as_path(), Path::new("kit")]
        .into_iter()
        .chain(names)
    {
        let path = folder.join(script).with_extension("js");
        let name = &script.to_string_lossy();
        let script = element(name, &path, file)?;
        scripts.push_str(&format!("\n<script>\n{script}\n</script>\n"));
    }
    Ok(scripts)
}

/// What stands in the file, fit to stand in a script element.
fn element(name: &str, path: &Path, file: &Path) -> Result<String, Fault> {
    let script = fs::read_to_string(path).map_err(|error| {
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
    Ok(script.trim().into())
}
