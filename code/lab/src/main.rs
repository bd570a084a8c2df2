//! The command: `cargo run --release -p lab -- length`.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use candle_core::Device;
use lab::experiments::{extend, length, order, previous, small};
use lab::record::Record;
use lab::workers::{Options, Size};
use lab::{Error, Result};

const USAGE: &str = "\
lab order|length|extend|previous|small|all [--quick] [--seeds N] [--workers N] [--threads N] \
[--results FOLDER] [--checkpoints FOLDER]";

/// What candle reads the number of its threads from, when it first needs them.
const THREADS: [&str; 2] = ["CANDLE_NUM_THREADS", "RAYON_NUM_THREADS"];

type Experiment = fn(&Options) -> Result<Vec<Record>>;

const EXPERIMENTS: [(&str, Experiment); 5] = [
    ("order", order::run),
    ("length", length::run),
    ("extend", extend::run),
    ("previous", previous::run),
    ("small", small::run),
];

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let (name, mut options, threads) = read(std::env::args().skip(1))?;
    if THREADS
        .iter()
        .any(|variable| std::env::var_os(variable).is_none())
    {
        return again_with(threads);
    }
    for (experiment, run) in EXPERIMENTS {
        if name == experiment || name == "all" && experiment != "small" {
            options.began = SystemTime::now();
            for record in run(&options)? {
                let path = record.write(&options.results, options.began)?;
                eprintln!("recorded {}", path.display());
            }
            options.forget(experiment)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs this program once more with the number of candle's threads settled.
///
/// Two threads do not make one small training faster: trainings run side by side instead, each
/// on a single thread.
fn again_with(threads: usize) -> Result<ExitCode> {
    let failed = |source| Error::Worker(format!("{source}"));
    let status = Command::new(std::env::current_exe().map_err(failed)?)
        .args(std::env::args_os().skip(1))
        .envs(THREADS.map(|variable| (variable, threads.to_string())))
        .status()
        .map_err(failed)?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn read(mut words: impl Iterator<Item = String>) -> Result<(String, Options, usize)> {
    let lab = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let usage = |given: &str| Error::Usage {
        given: given.into(),
        usage: USAGE,
    };
    let mut name = None;
    let mut threads = 1;
    let mut seeds = None;
    let mut results = None;
    let mut options = Options {
        size: Size::Full,
        seeds: Vec::new(),
        workers: std::thread::available_parallelism().map_or(1, usize::from),
        results: lab.join("results"),
        checkpoints: lab.join("../../target/lab"),
        device: device()?,
        began: SystemTime::now(),
    };
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| usage(&format!("{word} has no value")))
        };
        let count = |value: String| match value.parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(usage(&format!("{value} is no count"))),
        };
        match word.as_str() {
            "--quick" => options.size = Size::Quick,
            "--seeds" => seeds = Some(count(value()?)?),
            "--workers" => options.workers = count(value()?)?,
            "--threads" => threads = count(value()?)?,
            "--results" => results = Some(PathBuf::from(value()?)),
            "--checkpoints" => options.checkpoints = PathBuf::from(value()?),
            known if name.is_none() && is_experiment(known) => name = Some(word),
            other => return Err(usage(&format!("{other} is not understood"))),
        }
    }
    let name = name.ok_or_else(|| usage("no experiment is named"))?;
    options.seeds = (1..=seeds.unwrap_or(options.choose(2, 1)) as u64).collect();
    if options.size == Size::Quick {
        options.checkpoints.push("quick");
        options.results = options.checkpoints.join("results");
    }
    options.results = results.unwrap_or(options.results);
    Ok((name, options, threads))
}

fn is_experiment(word: &str) -> bool {
    word == "all" || EXPERIMENTS.iter().any(|(name, _)| *name == word)
}

#[cfg(feature = "cuda")]
fn device() -> Result<Device> {
    Ok(Device::new_cuda(0)?)
}

#[cfg(not(feature = "cuda"))]
fn device() -> Result<Device> {
    Ok(Device::Cpu)
}
