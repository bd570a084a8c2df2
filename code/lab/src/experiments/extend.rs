//! A rotary model extended to longer texts, by rule alone and with a short training.

use positional_encoding::scaling::{AttentionFactor, ByParts, Ramp, Scaling, Yarn};

use super::length::{course, plan};
use super::{cell, note_settings};
use crate::error::Result;
use crate::language::{BLOCK, Course, LONGEST, Stretch, TRAINED, settings};
use crate::model::{Model, Settings, Weights};
use crate::position::{Positions, Scheme};
use crate::record::Record;
use crate::text::Text;
use crate::train::Plan;
use crate::workers::{Job, Options, side_by_side};

/// How many times the trained length is to be covered.
pub const FACTORS: [usize; 3] = [2, 4, 8];
/// The lengths measured.
pub const LENGTHS: [usize; 4] = [64, 128, 256, 512];
/// Pairs of α and β to choose from; the first are the published ones.
pub const BANDS: [(f64, f64); 5] = [(1.0, 32.0), (1.0, 4.0), (0.5, 2.0), (0.25, 1.0), (1.0, 2.0)];

/// A way to extend the rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The rotation as trained: what a plain fine-tune begins from.
    Plain,
    /// Position interpolation.
    Interpolation,
    /// A larger base.
    NtkAware,
    /// A base that grows with the text.
    DynamicNtk,
    /// Slow pairs interpolated, fast ones left.
    ByParts,
    /// The same with YaRN's factor on the scores.
    Yarn,
}

impl Method {
    /// Those that have a factor and can be trained with it.
    const WITH_FACTOR: [Self; 5] = [
        Self::Plain,
        Self::Interpolation,
        Self::NtkAware,
        Self::ByParts,
        Self::Yarn,
    ];

    /// The name in records and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Interpolation => "interpolation",
            Self::NtkAware => "ntk-aware",
            Self::DynamicNtk => "dynamic-ntk",
            Self::ByParts => "by-parts",
            Self::Yarn => "yarn",
        }
    }

    /// The rule of the companion crate.
    pub fn scaling(self, factor: usize, (alpha, beta): (f64, f64)) -> Scaling {
        let factor = factor as f64;
        match self {
            Self::Plain => Scaling::None,
            Self::Interpolation => Scaling::PositionInterpolation(factor),
            Self::NtkAware => Scaling::NtkAware(factor),
            Self::DynamicNtk => Scaling::DynamicNtk,
            Self::ByParts => Scaling::NtkByParts(ByParts {
                factor,
                alpha,
                beta,
            }),
            Self::Yarn => Scaling::Yarn(Yarn {
                factor,
                beta_fast: beta,
                beta_slow: alpha,
                ramp: Ramp::Turns,
                attention_factor: AttentionFactor::FromFactor,
            }),
        }
    }
}

/// What is the same for every job: the text, the sizes, and how much is measured.
struct Bench<'a> {
    options: &'a Options,
    text: Text,
    settings: Settings,
    blocks: usize,
    tuning_steps: usize,
}

/// Losses at [`LENGTHS`] of one way to extend one model.
struct Shown {
    method: Method,
    factor: usize,
    tuned: &'static str,
    seed: u64,
    losses: Vec<f64>,
}

/// Trains, chooses α and β, extends and measures; returns the records to be written.
///
/// # Errors
///
/// Those of training and of the checkpoints.
pub fn run(options: &Options) -> Result<Vec<Record>> {
    let text = Text::moby_dick();
    let bench = Bench {
        options,
        settings: settings(&text),
        text,
        blocks: options.choose(64, 16),
        tuning_steps: options.choose(60, 10),
    };
    let models = bench.models()?;
    let (band, choice) = bench.choose_band(&models)?;
    let mut jobs = Vec::new();
    for (seed, weights) in options.seeds.iter().zip(&models) {
        jobs.extend(bench.jobs_of_model(*seed, weights, band));
    }
    let shown = side_by_side("extend: rules and short trainings", options.workers, jobs)?;
    Ok(vec![bench.record(band, &shown), choice])
}

impl Bench<'_> {
    fn plan(&self) -> Plan {
        plan(self.options)
    }

    /// The rotary models before any extension, one a seed.
    fn models(&self) -> Result<Vec<Weights>> {
        let jobs = self.options.seeds.iter().map(|&seed| {
            Job::new(self.plan().steps as u64, move |tick| {
                let course = course(&self.text, self.plan(), seed);
                let identity = course.identity(&self.settings, Scheme::Rope);
                let keep = self.options.keep(&format!("extend/rope-{seed}"), &identity);
                let device = &self.options.device;
                course.begin(self.settings, Scheme::Rope, Some(&keep), device, tick)
            })
        });
        side_by_side(
            "extend: rotary models",
            self.options.workers,
            jobs.collect(),
        )
    }

    /// The α and β that serve by-parts best at ×4 on the validation part, which is not reported.
    fn choose_band(&self, models: &[Weights]) -> Result<((f64, f64), Record)> {
        const COLUMNS: &[&str] = &["alpha", "beta", "seed", "loss"];
        const FACTOR: usize = 4;
        let mut jobs = Vec::new();
        for band in BANDS {
            for weights in models {
                jobs.push(Job::new(Stretch::work(self.blocks), move |tick| {
                    let scaling = Method::ByParts.scaling(FACTOR, band);
                    let part = &self.text.validation;
                    let losses = self.losses(weights, &scaling, part, tick)?;
                    Ok(losses[..3].iter().sum::<f64>() / 3.0)
                }));
            }
        }
        let losses = side_by_side("extend: choosing α and β", self.options.workers, jobs)?;
        let mut record = Record::new("band", "extend", COLUMNS);
        note_settings(&mut record, &self.settings, &self.plan());
        record.note("factor", FACTOR);
        record.note(
            "loss",
            "mean nats per character of the validation part at 64, 128 and 256",
        );
        let mut best = (BANDS[0], f64::INFINITY);
        for (band, losses) in BANDS.iter().zip(losses.chunks(models.len())) {
            for (seed, loss) in self.options.seeds.iter().zip(losses) {
                record.row(vec![cell(band.0), cell(band.1), cell(seed), cell(loss)]);
            }
            let loss = losses.iter().sum::<f64>();
            if loss < best.1 {
                best = (*band, loss);
            }
        }
        record.note("chosen alpha", best.0.0);
        record.note("chosen beta", best.0.1);
        Ok((best.0, record))
    }

    fn jobs_of_model<'b>(
        &'b self,
        seed: u64,
        weights: &'b Weights,
        band: (f64, f64),
    ) -> Vec<Job<'b, Shown>> {
        let mut jobs = vec![
            self.untuned(seed, weights, Method::Plain, 1, band),
            self.untuned(seed, weights, Method::DynamicNtk, 1, band),
        ];
        for factor in FACTORS {
            for method in Method::WITH_FACTOR {
                if method != Method::Plain {
                    jobs.push(self.untuned(seed, weights, method, factor, band));
                }
                jobs.push(self.tuned(seed, weights, method, factor, band));
            }
        }
        jobs
    }

    fn untuned<'b>(
        &'b self,
        seed: u64,
        weights: &'b Weights,
        method: Method,
        factor: usize,
        band: (f64, f64),
    ) -> Job<'b, Shown> {
        Job::new(Stretch::work(self.blocks), move |tick| {
            let scaling = method.scaling(factor, band);
            let identity = format!("{scaling:?} seed {seed} {:?} untuned", self.plan());
            let name = format!("extend/{}-{factor}-{seed}", method.name());
            let losses = self.options.remember(&name, &identity, || {
                self.losses(weights, &scaling, &self.text.test, tick)
            })?;
            Ok(Shown {
                method,
                factor,
                tuned: "no",
                seed,
                losses,
            })
        })
    }

    fn tuned<'b>(
        &'b self,
        seed: u64,
        weights: &'b Weights,
        method: Method,
        factor: usize,
        band: (f64, f64),
    ) -> Job<'b, Shown> {
        let course = self.tuning(seed, method, factor, band);
        let work = course.plan.steps as u64 + Stretch::work(self.blocks);
        Job::new(work, move |tick| {
            let settings = self.settings;
            let identity = course.identity(&settings, Scheme::Rope);
            let identity = format!("{identity} after {:?}", self.plan());
            let name = format!("extend/{}-{factor}-{seed}-tuned", method.name());
            let losses = self.options.remember(&name, &identity, || {
                let keep = self.options.keep(&name, &identity);
                let weights = copies(weights)?;
                let weights = course.train(settings, Scheme::Rope, weights, Some(&keep), tick)?;
                self.losses(&weights, &course.scaling, &self.text.test, tick)
            })?;
            Ok(Shown {
                method,
                factor,
                tuned: "yes",
                seed,
                losses,
            })
        })
    }

    /// The short training at the extended length: as many characters a step as before, in fewer
    /// and longer windows, the same for every method.
    fn tuning(&self, seed: u64, method: Method, factor: usize, band: (f64, f64)) -> Course<'_> {
        let plan = self.plan();
        Course {
            part: &self.text.train,
            seq_len: factor * TRAINED,
            plan: Plan {
                steps: self.tuning_steps,
                rate: plan.rate / 4.0,
                batch: (plan.batch / factor).max(1),
            },
            scaling: method.scaling(factor, band),
            seed: seed + 1000,
        }
    }

    /// Sliding losses at [`LENGTHS`]. Where the rule looks at the length of the text, each length
    /// is measured with windows of that length; elsewhere the longest windows hold them all.
    fn losses(
        &self,
        weights: &Weights,
        scaling: &Scaling,
        part: &[u32],
        tick: &dyn Fn(u64),
    ) -> Result<Vec<f64>> {
        let model = Model::frozen(self.settings, Scheme::Rope, weights);
        let stretch = |seq_len| {
            let device = &self.options.device;
            let (settings, scheme) = (&self.settings, Scheme::Rope);
            let positions = Positions::new(settings, scheme, scaling, 0, seq_len, device)?;
            Stretch::measure(&model, &positions, part, self.blocks, tick)
        };
        if *scaling == Scaling::DynamicNtk {
            let loss = |length: &usize| Ok(stretch(*length)?.sliding(*length));
            return LENGTHS.iter().map(loss).collect();
        }
        let stretch = stretch(LONGEST)?;
        Ok(LENGTHS
            .iter()
            .map(|length| stretch.sliding(*length))
            .collect())
    }

    fn record(&self, band: (f64, f64), shown: &[Shown]) -> Record {
        const COLUMNS: &[&str] = &["method", "factor", "tuned", "seed", "length", "loss"];
        let mut record = Record::new("extend", "extend", COLUMNS);
        note_settings(&mut record, &self.settings, &self.plan());
        record.note("tuning steps", self.tuning_steps);
        record.note("tuning learning rate", self.plan().rate / 4.0);
        record.note("alpha", band.0);
        record.note("beta", band.1);
        record.note("characters measured", self.blocks * BLOCK);
        record.note(
            "loss",
            "mean nats per character of the test part, sliding windows",
        );
        for one in shown {
            for (length, loss) in LENGTHS.iter().zip(&one.losses) {
                record.row(vec![
                    one.method.name().into(),
                    cell(one.factor),
                    one.tuned.into(),
                    cell(one.seed),
                    cell(length),
                    cell(loss),
                ]);
            }
        }
        record
    }
}

/// Weights of their own with the same values, so that each training begins from one place.
fn copies(weights: &Weights) -> Result<Weights> {
    weights
        .iter()
        .map(|(name, var)| Ok((name.clone(), candle_core::Var::from_tensor(&var.copy()?)?)))
        .collect()
}
