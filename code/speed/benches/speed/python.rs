//! NumPy and PyTorch, by a script of their own.

use std::error::Error;
use std::process::Command;

use serde::Deserialize;

/// What one took in one group.
#[derive(Deserialize)]
pub struct Line {
    pub group: String,
    pub who: String,
    pub milliseconds: f64,
}

/// What they took for the groups that were measured here. Where there is no Python, or it lacks the
/// libraries, a line says so and they are left out.
pub fn measure<'a>(groups: impl Iterator<Item = &'a String>) -> Result<Vec<Line>, Box<dyn Error>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/speed/peers.py");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(&python)
        .arg(script)
        .args(groups)
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("\nNumPy and PyTorch are left out: {python} does not start: {error}");
            return Ok(Vec::new());
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{script} ended with {}: {said}", output.status).into());
    }
    print!("{said}");
    let lines = String::from_utf8(output.stdout)?;
    let read = |line| serde_json::from_str(line).map_err(Box::from);
    lines.lines().map(read).collect()
}
