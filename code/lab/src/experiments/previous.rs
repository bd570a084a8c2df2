//! Which token came before: the plainest thing position is for, asked past the trained length.

use candle_core::Device;
use positional_encoding::attention::Mask;
use positional_encoding::scaling::Scaling;

use super::extend::{BANDS, Method};
use super::{cell, note_settings};
use crate::error::Result;
use crate::measure::{answers, rectangle};
use crate::model::{Model, Settings, Weights, initial_weights};
use crate::position::{Positions, Scheme};
use crate::random::Draws;
use crate::record::Record;
use crate::train::{Batch, Plan, Training};
use crate::workers::{Job, Options, side_by_side};

/// Different tokens; a guess is right once in this many.
const TOKENS: usize = 32;
/// The length trained at.
const TRAINED: usize = 64;
/// The longest length asked about.
const LONGEST: usize = 512;
/// The rules a rotary model is extended by, without further training.
const RULES: [Method; 5] = [
    Method::Plain,
    Method::Interpolation,
    Method::NtkAware,
    Method::ByParts,
    Method::Yarn,
];

/// One row of numbers for each stretch of 64 positions.
type ByStretch = Vec<f64>;

/// Trains and measures, and returns the records to be written.
///
/// # Errors
///
/// Those of training and of the checkpoints.
pub fn run(options: &Options) -> Result<Vec<Record>> {
    const COLUMNS: &[&str] = &[
        "scheme", "rule", "alpha", "beta", "seed", "from", "to", "accuracy",
    ];
    let plan = Plan {
        steps: options.choose(300, 100),
        rate: 3e-3,
        batch: 16,
    };
    let sequences = options.choose(32, 8);
    let mut jobs = Vec::new();
    for &seed in &options.seeds {
        for scheme in Scheme::LANGUAGE {
            let plan = &plan;
            jobs.push(Job::new(plan.steps as u64, move |tick| {
                let identity = format!("{scheme:?} {plan:?} seed {seed}, {sequences} sequences");
                let name = format!("previous/{}-{seed}", scheme.name());
                let numbers = options.remember(&name, &identity, || {
                    let keep = options.keep(&name, &identity);
                    let device = &options.device;
                    let weights = initial_weights(&sizes(), scheme, seed, device)?;
                    let model = Model::new(sizes(), scheme, &weights);
                    let positions = positions(scheme, &Scaling::None, TRAINED, device)?;
                    let batch = |step| batch(plan, seed, step, device);
                    let tick = |steps| tick(steps as u64);
                    let weights = Training::new(model, weights)?.run(
                        plan,
                        &positions,
                        &batch,
                        Some(&keep),
                        &tick,
                    )?;
                    measure(scheme, &weights, sequences, device)
                })?;
                Ok((scheme, seed, numbers))
            }));
        }
    }
    let shown = side_by_side("previous", options.workers, jobs)?;
    let mut record = Record::new("previous", "previous", COLUMNS);
    note_settings(&mut record, &sizes(), &plan);
    record.note("different tokens", TOKENS);
    record.note("sequences measured", sequences);
    record.note("factor of the rules", LONGEST / TRAINED);
    record.note(
        "accuracy",
        "share of positions where the token before is named",
    );
    for (scheme, seed, numbers) in shown {
        for (rule, numbers) in rules(scheme)
            .iter()
            .zip(numbers.chunks(2 + LONGEST / TRAINED))
        {
            for (stretch, accuracy) in numbers[2..].iter().enumerate() {
                let turns = |turns: f64| match rule {
                    Method::ByParts | Method::Yarn => cell(turns),
                    _ => "-".into(),
                };
                record.row(vec![
                    scheme.name().into(),
                    rule.name().into(),
                    turns(numbers[0]),
                    turns(numbers[1]),
                    cell(seed),
                    cell(stretch * TRAINED),
                    cell((stretch + 1) * TRAINED),
                    cell(accuracy),
                ]);
            }
        }
    }
    Ok(vec![record])
}

fn sizes() -> Settings {
    Settings {
        vocabulary: TOKENS,
        outputs: TOKENS,
        layers: 2,
        d_model: 64,
        heads: 4,
        seq_len: TRAINED,
        mask: Mask::Causal,
    }
}

fn positions(
    scheme: Scheme,
    scaling: &Scaling,
    seq_len: usize,
    device: &Device,
) -> Result<Positions> {
    Positions::new(&sizes(), scheme, scaling, 0, seq_len, device)
}

fn rules(scheme: Scheme) -> &'static [Method] {
    match scheme {
        Scheme::Rope => &RULES,
        _ => &RULES[..1],
    }
}

fn sequence(draws: &mut Draws, seq_len: usize) -> Vec<u32> {
    (0..seq_len).map(|_| draws.below(TOKENS) as u32).collect()
}

fn batch(plan: &Plan, seed: u64, step: usize, device: &Device) -> Result<Batch> {
    let mut draws = Draws::new(seed, &format!("sequences of step {step}"));
    let rows: Vec<Vec<u32>> = (0..plan.batch)
        .map(|_| sequence(&mut draws, TRAINED))
        .collect();
    let tokens: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
    let targets: Vec<&[u32]> = rows.iter().map(|row| &row[..TRAINED - 1]).collect();
    Ok(Batch {
        tokens: rectangle(&tokens, device)?,
        targets: rectangle(&targets, device)?,
        read_from: 1,
    })
}

/// For each rule: the α and β it used, and the accuracy of each stretch.
///
/// α and β are those that serve by-parts best on sequences that are not reported.
fn measure(
    scheme: Scheme,
    weights: &Weights,
    sequences: usize,
    device: &Device,
) -> Result<Vec<f64>> {
    let model = Model::frozen(sizes(), scheme, weights);
    let factor = LONGEST / TRAINED;
    let ask = |method: Method, band, purpose: &str| -> Result<ByStretch> {
        let positions = positions(scheme, &method.scaling(factor, band), LONGEST, device)?;
        accuracy(&model, &positions, sequences, purpose)
    };
    let mut band = BANDS[0];
    if scheme == Scheme::Rope {
        let mut best = 0.0;
        for candidate in BANDS {
            let total = ask(Method::ByParts, candidate, "sequences to choose by")?;
            let total = total.iter().sum::<f64>();
            if total > best {
                (best, band) = (total, candidate);
            }
        }
    }
    let mut numbers = Vec::new();
    for rule in rules(scheme) {
        numbers.extend([band.0, band.1]);
        numbers.extend(ask(*rule, band, "sequences to report")?);
    }
    Ok(numbers)
}

fn accuracy(
    model: &Model,
    positions: &Positions,
    sequences: usize,
    purpose: &str,
) -> Result<ByStretch> {
    let mut draws = Draws::new(0, purpose);
    let rows: Vec<Vec<u32>> = (0..sequences)
        .map(|_| sequence(&mut draws, LONGEST))
        .collect();
    let borrowed: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
    let named = answers(model, positions, &borrowed, &|_| ())?;
    let right = |from: usize| {
        let places = from.max(1)..from + TRAINED;
        let right = rows.iter().zip(&named).flat_map(|(row, named)| {
            places
                .clone()
                .filter(|place| named[*place] == row[place - 1])
        });
        right.count() as f64 / (places.len() * sequences) as f64
    };
    Ok((0..LONGEST).step_by(TRAINED).map(right).collect())
}
