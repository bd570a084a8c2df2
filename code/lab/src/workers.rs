//! Trainings side by side, each on one thread.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use candle_core::Device;
use indicatif::{ProgressBar, ProgressStyle};

use crate::checkpoint::{load_outcome, save_outcome};
use crate::checksum::fnv1a;
use crate::error::{Error, Result};
use crate::train::{CHECKPOINT_EVERY, Keep};

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// What the book records.
    Full,
    /// The same path in a minute or two, with one seed; its numbers mean little.
    Quick,
}

/// What the command line settles for every experiment.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much to run.
    pub size: Size,
    /// The seeds, one training each.
    pub seeds: Vec<u64>,
    /// Trainings at the same time.
    pub workers: usize,
    /// Where records are written.
    pub results: PathBuf,
    /// Where interrupted trainings wait.
    pub checkpoints: PathBuf,
    /// Where tensors live.
    pub device: Device,
    /// When the command began.
    pub began: SystemTime,
}

impl Options {
    /// One of two values by the size of the run.
    pub fn choose<T>(&self, full: T, quick: T) -> T {
        match self.size {
            Size::Full => full,
            Size::Quick => quick,
        }
    }

    /// The checkpoint of a training: one file for each identity, so that other settings and
    /// other code never meet it.
    pub fn keep(&self, name: &str, identity: &str) -> Keep {
        let (path, identity) = self.waiting(name, identity, "checkpoint");
        Keep {
            path,
            identity,
            every: CHECKPOINT_EVERY,
        }
    }

    /// The numbers that `measure` shows, from an interrupted run where it got that far.
    ///
    /// # Errors
    ///
    /// Those of `measure`, and [`Error::Damaged`] for a damaged file.
    pub fn remember(
        &self,
        name: &str,
        identity: &str,
        measure: impl FnOnce() -> Result<Vec<f64>>,
    ) -> Result<Vec<f64>> {
        let (path, identity) = self.waiting(name, identity, "outcome");
        if let Some(numbers) = load_outcome(&path, &identity)? {
            return Ok(numbers);
        }
        let numbers = measure()?;
        save_outcome(&path, &identity, &numbers)?;
        Ok(numbers)
    }

    fn waiting(&self, name: &str, identity: &str, kind: &str) -> (PathBuf, String) {
        let identity = format!("{identity}; code {:016x}", code());
        let file = format!("{name}-{:016x}.{kind}", fnv1a(identity.as_bytes()));
        (self.checkpoints.join(file), identity)
    }

    /// Removes all that waits of an experiment that has been recorded.
    ///
    /// # Errors
    ///
    /// [`Error::File`] where the folder cannot be removed.
    pub fn forget(&self, experiment: &str) -> Result<()> {
        let path = self.checkpoints.join(experiment);
        if !path.exists() {
            return Ok(());
        }
        std::fs::remove_dir_all(&path).map_err(|source| Error::File { path, source })
    }
}

/// The checksum of the code that decides what a training computes.
fn code() -> u64 {
    let sources = [
        include_str!("model.rs"),
        include_str!("position.rs"),
        include_str!("random.rs"),
        include_str!("text.rs"),
        include_str!("train.rs"),
        include_str!("measure.rs"),
        include_str!("language.rs"),
        include_str!("experiments/length.rs"),
        include_str!("experiments/extend.rs"),
        include_str!("experiments/order.rs"),
        include_str!("experiments/previous.rs"),
    ];
    fnv1a(sources.concat().as_bytes())
}

/// Something to run, and how many thousand tokens it will read.
pub struct Job<'a, T> {
    work: u64,
    #[expect(
        clippy::type_complexity,
        reason = "an alias would hide what is called with what"
    )]
    run: Box<dyn FnOnce(&dyn Fn(u64)) -> Result<T> + Send + 'a>,
}

impl<'a, T> Job<'a, T> {
    /// A job of `work` thousands of tokens; `run` is handed a function to report them by.
    pub fn new(work: u64, run: impl FnOnce(&dyn Fn(u64)) -> Result<T> + Send + 'a) -> Self {
        let run = Box::new(run);
        Self { work, run }
    }
}

/// Runs the jobs, as many at a time as `workers`, and returns their results in order.
///
/// # Errors
///
/// The first error of a job; jobs not yet begun are then left undone.
pub fn side_by_side<T: Send>(title: &str, workers: usize, jobs: Vec<Job<T>>) -> Result<Vec<T>> {
    let bar = bar(title, jobs.iter().map(|job| job.work).sum());
    let count = jobs.len();
    let queue = Mutex::new(jobs.into_iter().enumerate().collect::<VecDeque<_>>());
    let results = Mutex::new((0..count).map(|_| None).collect::<Vec<_>>());
    let work = || {
        loop {
            let next = queue
                .lock()
                .unwrap_or_else(|held| held.into_inner())
                .pop_front();
            let Some((index, job)) = next else { break };
            let result = (job.run)(&|done| bar.inc(done));
            if result.is_err() {
                queue
                    .lock()
                    .unwrap_or_else(|held| held.into_inner())
                    .clear();
            }
            results.lock().unwrap_or_else(|held| held.into_inner())[index] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(work);
        }
    });
    bar.finish_and_clear();
    let results = results
        .into_inner()
        .unwrap_or_else(|held| held.into_inner());
    results.into_iter().flatten().collect()
}

fn bar(title: &str, work: u64) -> ProgressBar {
    let bar = ProgressBar::new(work);
    let style = ProgressStyle::with_template("{msg} [{bar:32}] {percent}%, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(title.to_owned());
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
