//! "Copy as code": the examples print the numbers of the page that offers them.

use std::path::{Path, PathBuf};
use std::process::Command;

use widgets::Export;

/// The example, the function behind its page, what the page asks at first, and the numbers that
/// the example prints.
type Case = (&'static str, Export, Vec<f64>, fn(&[f64]) -> Vec<f64>);

fn cases() -> Vec<Case> {
    vec![
        (
            "attention",
            widgets::attention::attention,
            vec![0.0, 0.0, 0.0, 4.0, 2.0, 3.0, 1.0],
            |numbers| {
                let (weights, outputs) = (&numbers[45..70], &numbers[70..90]);
                weights
                    .chunks(5)
                    .zip(outputs.chunks(4))
                    .flat_map(|(weights, output)| [weights, output].concat())
                    .collect()
            },
        ),
        (
            "waves",
            widgets::sinusoidal::waves,
            vec![20.0, 32.0],
            |numbers| numbers[20 * 32..21 * 32].to_vec(),
        ),
        (
            "similarity",
            widgets::sinusoidal::similarity,
            vec![40.0, 64.0, 10_000.0],
            |numbers| numbers[64..].to_vec(),
        ),
        (
            "arrows",
            widgets::rope::arrows,
            vec![5.0, 8.0, 0.25],
            |numbers| numbers[..5].to_vec(),
        ),
        (
            "layouts",
            widgets::rope::layouts,
            vec![0.0, 0.0, 1.0, 0.0],
            |numbers| numbers[1..40].to_vec(),
        ),
        (
            "bias",
            widgets::bias::bias,
            vec![0.0, 0.0, 8.0, 3.0, 40.0, 33.0],
            |numbers| {
                let mut row = numbers[40 * 64..41 * 64].to_vec();
                row.push(numbers[64 * 64 + 2]);
                row
            },
        ),
        (
            "scaling",
            widgets::scaling::scaling,
            vec![0.0, 5.0, 4.0, 16_384.0],
            |numbers| {
                let list = |place: usize| &numbers[6 + 64 * place..6 + 64 * (place + 1)];
                let mut printed = vec![numbers[3]];
                for pair in 0..64 {
                    printed.extend([list(0)[pair], list(1)[pair], list(4)[pair]]);
                }
                printed
            },
        ),
    ]
}

/// The numbers in a text, in order.
pub fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| c.is_whitespace() || "[],:".contains(c))
        .filter_map(|word| word.parse().ok())
        .collect()
}

#[test]
fn every_snippet_prints_what_its_page_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let build = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "widgets", "--examples"])
        .args(["--message-format", "json"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8_lossy(&build.stdout);
    assert!(
        build.status.success(),
        "{}",
        String::from_utf8_lossy(&build.stderr)
    );
    for (name, function, input, select) in cases() {
        let program = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|message| message["target"]["name"] == name)
            .filter(|message| message["target"]["kind"][0] == "example")
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .unwrap_or_else(|| panic!("no example {name}"));
        let run = Command::new(program).output().expect("the example runs");
        let printed = numbers(&String::from_utf8_lossy(&run.stdout));
        let shown = select(&function(&input).expect("the page's first state").numbers);
        assert_eq!(printed.len(), shown.len(), "{name}");
        for (printed, shown) in printed.iter().zip(&shown) {
            // Twelve decimals are printed.
            let close = printed == shown || (printed - shown).abs() < 1e-11 * shown.abs().max(1.0);
            assert!(close, "{name}: {printed} printed, {shown} shown");
        }
    }
}
