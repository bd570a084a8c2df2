//! Examples: programs of the companion crate whose output the book prints.
//!
//! Cargo builds them all once; each is run when a chapter asks for its output.

use std::collections::BTreeMap;
use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::keep;

/// The examples of a package, built and ready to run.
#[derive(Debug, Default)]
pub struct Examples {
    package: String,
    programs: BTreeMap<String, PathBuf>,
}

/// An example that takes longer has hung: the slowest of the book takes a hundredth of it.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs a command to its end, or stops it when the time is over.
fn run_for(limit: Duration, command: &mut Command) -> Result<Output, String> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it could not be started: {error}"))?;
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let reader = thread::spawn(move || read(&mut stdout));
    let errors = thread::spawn(move || read(&mut stderr));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not end within {} seconds", limit.as_secs()));
            }
            Err(error) => return Err(format!("it could not be waited for: {error}")),
        }
    };
    let text = |thread: thread::JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
    Ok(Output {
        status,
        stdout: text(reader),
        stderr: text(errors),
    })
}

fn read(pipe: &mut Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What could be read is shown; the status tells the rest.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

impl Examples {
    /// Builds the examples of `package` in the workspace at `root`, in cargo's own folder or in
    /// `target_dir`.
    ///
    /// # Errors
    ///
    /// What the compiler said, where it could not.
    pub fn build(
        root: &Path,
        package: &str,
        target_dir: Option<&Path>,
    ) -> Result<Examples, String> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(root)
            .args(["build", "--quiet", "--examples", "--package", package])
            .args(["--message-format", "json"])
            .args(target_dir.map(|folder| format!("--target-dir={}", folder.display())))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cargo could not be started: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages: Vec<Message> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if !output.status.success() {
            let errors: String = messages
                .iter()
                .filter_map(|message| message.message.as_ref())
                .filter(|diagnostic| diagnostic.level == "error")
                .filter_map(|diagnostic| diagnostic.rendered.clone())
                .collect();
            return Err(format!(
                "{errors}{}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        let programs = messages
            .into_iter()
            .filter(|message| message.reason == "compiler-artifact")
            .filter_map(|message| Some((message.target?, message.executable?)))
            .filter(|(target, _)| target.kind.iter().any(|kind| kind == "example"))
            .map(|(target, program)| (target.name, program))
            .collect();
        Ok(Examples {
            package: package.into(),
            programs,
        })
    }

    /// The names of all examples.
    pub fn names(&self) -> String {
        self.programs
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Whether there is an example of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.programs.contains_key(name)
    }

    /// The stamp of an example's program: what it prints depends on nothing else.
    pub fn stamp(&self, name: &str) -> Option<String> {
        keep::stamp(self.programs.get(name)?)
    }

    /// The command by which a reader makes the same output.
    pub fn command(&self, name: &str) -> String {
        format!("cargo run -p {} --example {name}", self.package)
    }

    /// Runs an example at `root` and returns what it printed.
    ///
    /// # Errors
    ///
    /// What went wrong, where it is unknown, failed, printed nothing or no text.
    pub fn run(&self, root: &Path, name: &str) -> Result<String, String> {
        let program = self.programs.get(name).ok_or("it is not built")?;
        let output = run_for(TIME_LIMIT, Command::new(program).current_dir(root))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("it ended with {}: {}", output.status, said.trim()));
        }
        let text = String::from_utf8(output.stdout)
            .map_err(|_| "its output is not UTF-8 text".to_owned())?;
        if text.trim().is_empty() {
            return Err("it printed nothing".into());
        }
        Ok(text.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let mut sleep = Command::new("sleep");
        let said = run_for(Duration::from_millis(50), sleep.arg("60")).expect_err("stopped");
        assert!(said.contains("did not end within"), "{said}");
    }
}
