//! Prints the exact rotary frequencies that a model's `config.json` means.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use positional_encoding::config::{self, Model};

const USAGE: &str = "\
Usage: rope CONFIG.json [--length N] [--json]

Reads a model's config.json and prints the frequencies its rotary embedding
turns by, or the scheme it has instead.

  CONFIG.json   the file as published; - reads standard input
  --length N    the current length, where frequencies depend on it;
                the trained length where it is left out
  --json        one JSON object, numbers in full
  --help        this text

Exit code 2 and a sentence on standard error where something is wrong.
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let words: Option<Vec<String>> = arguments
        .iter()
        .map(|word| word.to_str().map(String::from))
        .collect();
    let answer = match words {
        Some(words) => answer(&words),
        None => {
            Err("an argument is not UTF-8; rename the file or give it on standard input".into())
        }
    };
    match answer {
        Ok(text) => print(&text),
        Err(problem) => {
            // Nothing is left to tell a reader whose standard error is closed.
            let _ = writeln!(io::stderr(), "rope: {}", on_one_line(&problem));
            ExitCode::from(2)
        }
    }
}

/// Keys and paths may hold anything, and control characters would move a terminal's cursor.
fn on_one_line(problem: &str) -> String {
    const LONGEST: usize = 800;
    let mut line: String = problem
        .chars()
        .take(LONGEST)
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .collect();
    if problem.chars().nth(LONGEST).is_some() {
        line.push_str("...");
    }
    line
}

fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "rope: standard output: {error}");
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn answer(words: &[String]) -> Result<String, String> {
    if words.iter().any(|word| word == "--help" || word == "-h") {
        return Ok(USAGE.into());
    }
    let request = Request::parse(words)?;
    let model = request.read()?;
    Ok(match request.json {
        true => format!("{:#}\n", model.to_json()),
        false => model.to_string(),
    })
}

struct Request {
    path: String,
    length: Option<usize>,
    json: bool,
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, String> {
        let (mut path, mut length, mut json) = (None, None, false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => json = true,
                "--length" => {
                    let number = words.next().ok_or("--length needs a number after it")?;
                    set(&mut length, parse_length(number)?, "--length")?;
                }
                other if other.starts_with("--length=") => {
                    set(&mut length, parse_length(&other[9..])?, "--length")?;
                }
                other if other.starts_with('-') && other != "-" => {
                    return Err(format!("{other} is not an option; rope --help lists them"));
                }
                other => set(&mut path, other.to_string(), "the file")?,
            }
        }
        let path =
            path.ok_or("no file is given; give a model's config.json, or - for standard input")?;
        Ok(Self { path, length, json })
    }

    fn read(&self) -> Result<Model, String> {
        let stream: Box<dyn Read> = match self.path.as_str() {
            "-" => Box::new(io::stdin().lock()),
            path => Box::new(File::open(path).map_err(|error| {
                format!("{path}: {error}; give the path of a model's config.json")
            })?),
        };
        config::read_from(stream, self.length).map_err(|error| match self.path.as_str() {
            "-" => error.to_string(),
            path => format!("{path}: {error}"),
        })
    }
}

fn set<T>(place: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{name} is given twice; give it once")),
    }
}

fn parse_length(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        format!(
            "--length is {text:?}, but must be a whole number from 1 to 2^53; count the tokens of \
             the input"
        )
    })
}
