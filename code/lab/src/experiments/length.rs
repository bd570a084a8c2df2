//! Six schemes, trained at one length and measured at up to eight times that length.

use positional_encoding::scaling::Scaling;

use super::{cell, note_settings};
use crate::error::Result;
use crate::language::{Course, LENGTHS, LONGEST, Stretch, TRAINED, settings, shift_difference};
use crate::model::{Model, Settings, Weights};
use crate::position::{Positions, Scheme, T5_BUCKETS, T5_MAX_DISTANCE};
use crate::record::Record;
use crate::text::Text;
use crate::train::Plan;
use crate::workers::{Job, Options, side_by_side};

/// Positions whose losses are averaged into one of the record.
const BIN: usize = 8;

/// What one trained model showed.
struct Shown {
    scheme: Scheme,
    seed: u64,
    numbers: Vec<f64>,
}

impl Shown {
    fn sliding(&self) -> &[f64] {
        &self.numbers[..LENGTHS.len()]
    }

    fn separate(&self) -> &[f64] {
        &self.numbers[LENGTHS.len()..2 * LENGTHS.len()]
    }

    fn by_position(&self) -> &[f64] {
        let from = 2 * LENGTHS.len();
        &self.numbers[from..from + LONGEST / BIN]
    }

    fn shift(&self) -> f64 {
        self.numbers[2 * LENGTHS.len() + LONGEST / BIN]
    }

    /// The learned table, row by row; empty for the other schemes.
    fn table(&self) -> &[f64] {
        &self.numbers[2 * LENGTHS.len() + LONGEST / BIN + 1..]
    }
}

/// How the models of this experiment, and those that others begin from, are trained.
pub fn plan(options: &Options) -> Plan {
    Plan {
        steps: options.choose(500, 60),
        rate: 3e-3,
        batch: 16,
    }
}

/// Trains and measures, and returns the records to be written.
///
/// # Errors
///
/// Those of training and of the checkpoints.
pub fn run(options: &Options) -> Result<Vec<Record>> {
    let text = Text::moby_dick();
    let settings = settings(&text);
    let blocks = options.choose(192, 48);
    let plan = plan(options);
    let mut jobs = Vec::new();
    for &seed in &options.seeds {
        for scheme in Scheme::LANGUAGE {
            let (text, work) = (&text, plan.steps as u64 + Stretch::work(blocks));
            jobs.push(Job::new(work, move |tick| {
                let course = course(text, plan, seed);
                let identity = course.identity(&settings, scheme);
                let name = format!("length/{}-{seed}", scheme.name());
                let numbers = options.remember(&name, &identity, || {
                    let (keep, device) = (options.keep(&name, &identity), &options.device);
                    let weights = course.begin(settings, scheme, Some(&keep), device, tick)?;
                    measure(&settings, scheme, &weights, &text.test, blocks, tick)
                })?;
                Ok(Shown {
                    scheme,
                    seed,
                    numbers,
                })
            }));
        }
    }
    let shown = side_by_side("length", options.workers, jobs)?;
    Ok(vec![
        lengths(&settings, &plan, blocks, &shown),
        positions(&settings, &plan, blocks, &shown),
        shifts(&settings, &plan, &shown),
        table(&settings, &plan, &shown),
    ])
}

/// The training of one language model at the trained length.
pub fn course(text: &Text, plan: Plan, seed: u64) -> Course<'_> {
    Course {
        part: &text.train,
        seq_len: TRAINED,
        plan,
        scaling: Scaling::None,
        seed,
    }
}

fn measure(
    settings: &Settings,
    scheme: Scheme,
    weights: &Weights,
    test: &[u32],
    blocks: usize,
    tick: &dyn Fn(u64),
) -> Result<Vec<f64>> {
    let device = weights["head"].device().clone();
    let model = Model::frozen(*settings, scheme, weights);
    let positions = Positions::new(settings, scheme, &Scaling::None, 0, LONGEST, &device)?;
    let stretch = Stretch::measure(&model, &positions, test, blocks, tick)?;
    let mut numbers = Vec::new();
    numbers.extend(LENGTHS.iter().map(|length| stretch.sliding(*length)));
    numbers.extend(LENGTHS.iter().map(|length| stretch.separate(*length)));
    let bins = (0..LONGEST).step_by(BIN);
    numbers.extend(bins.map(|from| stretch.at(from..from + BIN)));
    numbers.push(shift_difference(&model, test, &device)?);
    if let Some(table) = weights.get("position") {
        let values = table.flatten_all()?.to_vec1::<f32>()?;
        numbers.extend(values.into_iter().map(f64::from));
    }
    Ok(numbers)
}

fn lengths(settings: &Settings, plan: &Plan, blocks: usize, shown: &[Shown]) -> Record {
    const COLUMNS: &[&str] = &["scheme", "seed", "evaluation", "length", "loss"];
    let mut record = Record::new("length", "length", COLUMNS);
    note_settings(&mut record, settings, plan);
    record.note("t5 buckets", T5_BUCKETS);
    record.note("t5 max distance", T5_MAX_DISTANCE);
    record.note("characters measured", blocks * crate::language::BLOCK);
    record.note("loss", "mean nats per character of the test part");
    for one in shown {
        for (evaluation, losses) in [("sliding", one.sliding()), ("separate", one.separate())] {
            for (length, loss) in LENGTHS.iter().zip(losses) {
                record.row(vec![
                    one.scheme.name().into(),
                    cell(one.seed),
                    evaluation.into(),
                    cell(length),
                    cell(loss),
                ]);
            }
        }
    }
    record
}

fn positions(settings: &Settings, plan: &Plan, blocks: usize, shown: &[Shown]) -> Record {
    const COLUMNS: &[&str] = &["scheme", "seed", "from", "to", "loss"];
    let mut record = Record::new("position", "length", COLUMNS);
    note_settings(&mut record, settings, plan);
    record.note("characters measured", blocks * crate::language::BLOCK);
    record.note(
        "loss",
        "mean nats per character at positions from to before to",
    );
    for one in shown {
        for (bin, loss) in one.by_position().iter().enumerate() {
            record.row(vec![
                one.scheme.name().into(),
                cell(one.seed),
                cell(bin * BIN),
                cell((bin + 1) * BIN),
                cell(loss),
            ]);
        }
    }
    record
}

fn shifts(settings: &Settings, plan: &Plan, shown: &[Shown]) -> Record {
    const COLUMNS: &[&str] = &["scheme", "seed", "difference"];
    let mut record = Record::new("shift", "length", COLUMNS);
    note_settings(&mut record, settings, plan);
    record.note("shift", settings.seq_len / 2);
    record.note(
        "difference",
        "largest, between the logits for one text at two places",
    );
    for one in shown {
        let scheme = one.scheme.name().into();
        record.row(vec![scheme, cell(one.seed), cell(one.shift())]);
    }
    record
}

fn table(settings: &Settings, plan: &Plan, shown: &[Shown]) -> Record {
    const COLUMNS: &[&str] = &["seed", "position", "entry", "value"];
    let mut record = Record::new("learned-table", "length", COLUMNS);
    note_settings(&mut record, settings, plan);
    for one in shown {
        for (index, value) in one.table().iter().enumerate() {
            record.row(vec![
                cell(one.seed),
                cell(index / settings.d_model),
                cell(index % settings.d_model),
                format!("{value:.4}"),
            ]);
        }
    }
    record
}
