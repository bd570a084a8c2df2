//! `cargo run` builds the book; `cargo run -- preprocess NAME` serves stock mdBook.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use builder::finish::Finish;
use builder::press;
use builder::weave::Weave;
use mdbook_preprocessor::Preprocessor;
use mdbook_preprocessor::errors::Result;

const USAGE: &str = "\
cargo run                            build the book into book/
cargo run -- preprocess NAME         serve mdBook as its preprocessor NAME: weave or finish
cargo run -- preprocess NAME supports RENDERER";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => build(),
        ["preprocess", name] => preprocess(name),
        ["preprocess", name, "supports", _] if preprocessor(name).is_some() => ExitCode::SUCCESS,
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn build() -> ExitCode {
    let report = match press::build(Path::new("."), None, progress) {
        Ok(report) => report,
        Err(faults) => {
            eprintln!(
                "{faults}\n\nThe book was not built; the previous one, if any, is as it was."
            );
            return ExitCode::FAILURE;
        }
    };
    let counts = &report.counts;
    println!(
        "Wove {} chapters: {} listings, {} outputs, {} figures, {} computed values, \
         {} formulae, {} claims; {} pieces made anew, {}in {:.1} seconds.\nOpen {}",
        counts.chapters,
        counts.listings,
        counts.outputs,
        counts.figures,
        counts.values,
        counts.formulae,
        counts.claims,
        counts.made,
        peak_memory().map_or(String::new(), |megabytes| format!(
            "{megabytes} MB at most, "
        )),
        report.seconds,
        report
            .index
            .strip_prefix(".")
            .unwrap_or(&report.index)
            .display(),
    );
    ExitCode::SUCCESS
}

/// The most memory that this process has held, where the system tells it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1000)
}

fn progress(step: &str) {
    let mut stderr = io::stderr();
    let end = if stderr.is_terminal() {
        "\u{1b}[K\r"
    } else {
        "\n"
    };
    // Progress that cannot be shown is no reason to stop.
    let _ = write!(stderr, "{step} …{end}");
}

fn preprocessor(name: &str) -> Option<Box<dyn Preprocessor>> {
    match name {
        "weave" => Some(Box::new(Weave::default())),
        "finish" => Some(Box::new(Finish::default())),
        _ => None,
    }
}

fn preprocess(name: &str) -> ExitCode {
    let Some(preprocessor) = preprocessor(name) else {
        eprintln!("there is no preprocessor `{name}`\n{USAGE}");
        return ExitCode::from(2);
    };
    match serve(preprocessor.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(preprocessor: &dyn Preprocessor) -> Result<()> {
    let (context, book) = mdbook_preprocessor::parse_input(io::stdin())?;
    let book = preprocessor.run(&context, book)?;
    serde_json::to_writer(io::stdout(), &book)?;
    Ok(())
}
