//! How long the encodings take, beside other implementations on the same machine in the same run.
//!
//! ```sh
//! cargo bench --manifest-path code/speed/Cargo.toml               # everything
//! cargo bench --manifest-path code/speed/Cargo.toml -- rotation   # the groups of that name
//! ```
//!
//! All run on one thread. NumPy and PyTorch take part where `python3`, or the program that
//! `PYTHON` names, has them. Criterion measures what is Rust, `peers.py` what is Python; the table
//! at the end puts them side by side.

mod bias;
mod burn_peer;
mod candle_peer;
mod python;
mod report;
mod rotation;
mod scaling;
mod sinusoidal;

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, exit};
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};

/// What a bench says of a result that is none: a refusal is quick, and must not be measured.
const REFUSED: &str = "a size that is allowed";

/// A plain copy onto `target`, as fast as the machine's memory goes.
fn copy<T: Copy>(group: &mut BenchmarkGroup<WallTime>, target: &mut [T]) {
    let source = target.to_vec();
    group.bench_function("copy", |bencher| {
        bencher.iter(|| black_box(&mut *target).copy_from_slice(black_box(&source)));
    });
}

/// Candle and burn read it when they first start their threads.
const THREADS: &str = "RAYON_NUM_THREADS";

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var(THREADS).as_deref() != Ok("1") {
        let mut again = Command::new(std::env::current_exe()?);
        let status = again
            .args(std::env::args_os().skip(1))
            .env(THREADS, "1")
            .status()?;
        exit(status.code().unwrap_or(1));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed");
    report::clear(&folder)?;
    let mut criterion = Criterion::default()
        .output_directory(&folder)
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .without_plots()
        .configure_from_args();
    sinusoidal::measure(&mut criterion)?;
    rotation::measure(&mut criterion)?;
    bias::measure(&mut criterion)?;
    scaling::measure(&mut criterion);
    criterion.final_summary();
    report::print(&folder)
}
