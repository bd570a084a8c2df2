//! Prints what both ways of building a long table cost on this machine, in milliseconds.
//!
//! Run it with `--release`; the figures differ from run to run. With `-- --record FILE DATE` it
//! also writes them to a CSV file, with a description of the machine, from which the book quotes.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use ndarray::Array2;
use positional_encoding::sinusoidal::{table, table_by_rotation};
use positional_encoding::{Error, in_place};

const SEQ_LEN: usize = 131_072;
const D_MODEL: usize = 512;
const RUNS: usize = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{SEQ_LEN} positions, {D_MODEL} wide, best of {RUNS}");
    let direct = best(|| table(SEQ_LEN, D_MODEL))?;
    let turned = best(|| table_by_rotation(SEQ_LEN, D_MODEL))?;
    let memory = best(|| Ok(Array2::from_elem((SEQ_LEN, D_MODEL), 1.0)))?;
    println!("sine and cosine       {direct:>8.0} ms");
    println!("by rotation           {turned:>8.0} ms");
    println!("filling with ones     {memory:>8.0} ms, no arithmetic at all");
    let mut existing = vec![1.0; SEQ_LEN * D_MODEL];
    let in_place = best(|| in_place::sinusoidal_table(&mut existing, D_MODEL))?;
    println!("rotation, in place    {in_place:>8.0} ms, into memory that is there already");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => Ok(()),
        [option, file, date] if option == "--record" => Ok(std::fs::write(
            file,
            record(date, [direct, turned, memory, in_place])?,
        )?),
        _ => Err("the only option is --record FILE DATE".into()),
    }
}

/// The shortest of some runs, in milliseconds.
fn best<T>(mut build: impl FnMut() -> Result<T, Error>) -> Result<f64, Error> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        black_box(build()?);
        best = best.min(1000.0 * start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// What was measured, and on what, as a header and one row.
fn record(date: &str, milliseconds: [f64; 4]) -> std::io::Result<String> {
    let version = Command::new("rustc").arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version);
    let rust = version.split(' ').nth(1).unwrap_or("unknown");
    let cores = std::thread::available_parallelism()?;
    let instructions = std::env::consts::ARCH;
    let [direct, turned, memory, in_place] = milliseconds;
    Ok(format!(
        "date,rust,instructions,cores,positions,width,runs,direct_ms,rotation_ms,ones_ms,in_place_ms\n\
         {date},{rust},{instructions},{cores},{SEQ_LEN},{D_MODEL},{RUNS},\
         {direct:.0},{turned:.0},{memory:.0},{in_place:.0}\n"
    ))
}
