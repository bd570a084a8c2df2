//! The training loop: Adam over a cosine schedule, with checkpoints.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use candle_core::{D, Device, Tensor};

use crate::checkpoint::{self, Checkpoint};
use crate::error::Result;
use crate::model::{Model, Weights};
use crate::position::Positions;

/// How long and how fast to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Steps of the optimiser.
    pub steps: usize,
    /// Highest learning rate; reached after a twentieth of the steps, and falling from there
    /// along a cosine to a tenth of itself.
    pub rate: f64,
    /// Sequences of one step.
    pub batch: usize,
}

impl Plan {
    /// The learning rate of `step`, counted from zero.
    ///
    /// ```
    /// let plan = lab::train::Plan { steps: 100, rate: 1.0, batch: 1 };
    /// assert_eq!(plan.rate_of(4), 1.0);
    /// assert!(plan.rate_of(99) < 0.11);
    /// ```
    pub fn rate_of(&self, step: usize) -> f64 {
        let warm_up = (self.steps / 20).max(1);
        if step < warm_up {
            return self.rate * (step + 1) as f64 / warm_up as f64;
        }
        let done = (step - warm_up) as f64 / (self.steps - warm_up).max(1) as f64;
        self.rate * (0.55 + 0.45 * (std::f64::consts::PI * done).cos())
    }
}

/// The sequences of one step.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Input, shape `(batch, seq_len)`.
    pub tokens: Tensor,
    /// Right answers at `read_from` and after, shape `(batch, seq_len - read_from)` or, where
    /// fewer positions are read, `(batch, how many)`.
    pub targets: Tensor,
    /// First position whose output is read.
    pub read_from: usize,
}

/// Where a training keeps its checkpoints, and how often.
#[derive(Debug, Clone)]
pub struct Keep {
    /// The file.
    pub path: PathBuf,
    /// What the training is; a checkpoint of anything else is refused.
    pub identity: String,
    /// Time between two checkpoints.
    pub every: Duration,
}

/// Time between checkpoints of a recorded run: an interruption loses no more than this.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

const FIRST_MOMENT: f64 = 0.9;
const SECOND_MOMENT: f64 = 0.98;
const LONGEST_GRADIENT: f64 = 1.0;

/// A training under way: the weights and what Adam remembers of their gradients.
#[derive(Debug)]
pub struct Training {
    model: Model,
    weights: Weights,
    moments: BTreeMap<String, (Tensor, Tensor)>,
    step: usize,
}

impl Training {
    /// A training of `model`, whose weights are `weights`, before its first step.
    ///
    /// # Errors
    ///
    /// Only where the device has no memory.
    pub fn new(model: Model, weights: Weights) -> Result<Self> {
        let zeros = |(name, var): (&String, &candle_core::Var)| -> Result<_> {
            Ok((name.clone(), (var.zeros_like()?, var.zeros_like()?)))
        };
        let moments = weights.iter().map(zeros).collect::<Result<_>>()?;
        Ok(Self {
            model,
            weights,
            moments,
            step: 0,
        })
    }

    /// Trains to the end of `plan`, going on from the checkpoint of `keep` where there is one.
    ///
    /// `batch` makes the sequences of a step from the step's number alone, so that a resumed
    /// training is the uninterrupted one bit for bit. `tick` is told how many steps were done
    /// since it was last called.
    ///
    /// # Errors
    ///
    /// A damaged or foreign checkpoint, a file that cannot be written, or a failed operation.
    pub fn run(
        mut self,
        plan: &Plan,
        positions: &Positions,
        batch: &dyn Fn(usize) -> Result<Batch>,
        keep: Option<&Keep>,
        tick: &dyn Fn(usize),
    ) -> Result<Weights> {
        if let Some(keep) = keep {
            self.resume(keep)?;
            tick(self.step);
        }
        let mut kept = Instant::now();
        while self.step < plan.steps {
            self.advance(plan.rate_of(self.step), positions, &batch(self.step)?)?;
            tick(1);
            if let Some(keep) = keep
                && (kept.elapsed() >= keep.every || self.step == plan.steps)
            {
                self.save(keep)?;
                kept = Instant::now();
            }
        }
        Ok(self.weights)
    }

    /// One step of Adam on a gradient no longer than one.
    fn advance(&mut self, rate: f64, positions: &Positions, batch: &Batch) -> Result<()> {
        let gradients = loss(&self.model, positions, batch)?.backward()?;
        let mut of_weight = Vec::with_capacity(self.weights.len());
        let mut squares = 0.0;
        for (name, weight) in &self.weights {
            let gradient = match gradients.get(weight) {
                Some(gradient) => gradient.clone(),
                None => weight.zeros_like()?,
            };
            squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
            of_weight.push((name, weight, gradient));
        }
        let shrink = (LONGEST_GRADIENT / squares.sqrt().max(1e-12)).min(1.0);
        self.step += 1;
        for (name, weight, gradient) in of_weight {
            let gradient = (gradient * shrink)?;
            let (first, second) = &self.moments[name];
            let first = ((first * FIRST_MOMENT)? + (&gradient * (1.0 - FIRST_MOMENT))?)?;
            let second = ((second * SECOND_MOMENT)? + (gradient.sqr()? * (1.0 - SECOND_MOMENT))?)?;
            let age = self.step as i32;
            let mean = (&first / (1.0 - FIRST_MOMENT.powi(age)))?;
            let spread = ((&second / (1.0 - SECOND_MOMENT.powi(age)))?.sqrt()? + 1e-9)?;
            weight.set(&(weight.as_tensor() - (mean.div(&spread)? * rate)?)?.detach())?;
            self.moments
                .insert(name.clone(), (first.detach(), second.detach()));
        }
        Ok(())
    }

    fn save(&self, keep: &Keep) -> Result<()> {
        let mut tensors = Vec::new();
        for (name, weight) in &self.weights {
            let (first, second) = &self.moments[name];
            tensors.push((format!("weight {name}"), weight.as_tensor().clone()));
            tensors.push((format!("first {name}"), first.clone()));
            tensors.push((format!("second {name}"), second.clone()));
        }
        let step = self.step;
        checkpoint::save(&keep.path, &keep.identity, &Checkpoint { step, tensors })
    }

    fn resume(&mut self, keep: &Keep) -> Result<()> {
        let device: Device = self.weights["head"].device().clone();
        let Some(found) = checkpoint::load(&keep.path, &keep.identity, &device)? else {
            return Ok(());
        };
        let tensors: BTreeMap<String, Tensor> = found.tensors.into_iter().collect();
        let named = |kind: &str, name: &str| checkpoint::tensor(&keep.path, &tensors, kind, name);
        for (name, weight) in &self.weights {
            weight.set(&named("weight", name)?)?;
            let moments = (named("first", name)?, named("second", name)?);
            self.moments.insert(name.clone(), moments);
        }
        self.step = found.step;
        Ok(())
    }
}

/// Mean negative logarithm of the probability of the right answers, in nats.
///
/// # Errors
///
/// Where shapes do not fit.
pub fn loss(model: &Model, positions: &Positions, batch: &Batch) -> Result<Tensor> {
    let logits = model.forward(&batch.tokens, positions)?;
    let read = batch.targets.dim(1)?;
    let logits = logits.narrow(1, batch.read_from, read)?;
    Ok(surprise(&logits, &batch.targets)?.mean_all()?)
}

/// Negative logarithm of the probability of each target, shape of `targets`.
///
/// # Errors
///
/// Where shapes do not fit.
pub fn surprise(logits: &Tensor, targets: &Tensor) -> Result<Tensor> {
    let highest = logits.max_keepdim(D::Minus1)?.detach();
    let shifted = logits.broadcast_sub(&highest)?;
    let total = shifted.exp()?.sum(D::Minus1)?.log()?;
    let right = shifted.gather(&targets.unsqueeze(D::Minus1)?.contiguous()?, D::Minus1)?;
    Ok((total - right.squeeze(D::Minus1)?)?)
}
