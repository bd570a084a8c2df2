//! What a page with a widget loads besides the page itself.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::door;

/// The scripts that each chapter's page carries, beside its module and the kit.
const PAGES: [(&str, &[&str]); 5] = [
    ("attention", &["attention"]),
    ("sinusoidal", &["waves", "similarity"]),
    ("rope", &["arrows", "layouts"]),
    ("learned-t5-alibi", &["bias"]),
    ("scaling", &["scaling"]),
];

#[test]
fn module_and_scripts_of_a_page_stay_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (chapter, widgets) in PAGES {
        let mut scripts = fs::read(door::script(chapter)).expect("a module");
        for name in ["kit"].iter().chain(widgets) {
            let path = root
                .join("code/widgets/page")
                .join(name)
                .with_extension("js");
            scripts.extend(fs::read(path).expect("a script"));
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&scripts).expect("compressed");
        let packed = packed.finish().expect("compressed").len();
        println!("{chapter}: {} bytes, {packed} compressed", scripts.len());
        assert!(scripts.len() < 80_000, "{chapter}: {} bytes", scripts.len());
        assert!(packed < 40_000, "{chapter}: {packed} bytes compressed");
        let text = fs::read_to_string(root.join("src").join(chapter).with_extension("md"));
        let text = text.expect("a chapter");
        for name in widgets {
            let mark = format!("widget = \"{name}\"");
            assert!(text.contains(&mark), "{chapter} has no {name}");
        }
    }
}
