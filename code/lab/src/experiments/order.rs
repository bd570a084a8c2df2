//! Who did it to whom: what a classifier can know of order.

use positional_encoding::attention::Mask;
use positional_encoding::scaling::Scaling;

use super::{cell, note_settings};
use crate::error::Result;
use crate::measure::{answers, rectangle};
use crate::model::{Model, Settings, initial_weights};
use crate::position::{Positions, Scheme};
use crate::random::Draws;
use crate::record::Record;
use crate::train::{Batch, Plan, Training};
use crate::workers::{Job, Options, side_by_side};

/// Words that can do something or have it done to them; also the classes.
const NOUNS: usize = 12;
/// Words for what is done.
const VERBS: usize = 8;
/// The token that closes a sentence read at its end.
const STOP: u32 = (NOUNS + VERBS) as u32;

/// Where the classifier's answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// `noun verb noun stop`, read at the stop.
    End,
    /// `noun verb noun`, read at the verb, around which a sentence and its reverse are mirror
    /// images.
    Verb,
}

impl Reading {
    fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Verb => "verb",
        }
    }

    fn seq_len(self) -> usize {
        match self {
            Self::End => 4,
            Self::Verb => 3,
        }
    }

    fn place(self) -> usize {
        match self {
            Self::End => 3,
            Self::Verb => 1,
        }
    }

    fn sentence(self, doer: u32, verb: u32, other: u32) -> Vec<u32> {
        let mut sentence = vec![doer, NOUNS as u32 + verb, other];
        if self == Self::End {
            sentence.push(STOP);
        }
        sentence
    }
}

/// One classifier of the comparison.
#[derive(Debug, Clone, Copy)]
struct Case {
    mask: Mask,
    scheme: Scheme,
    layers: usize,
    reading: Reading,
}

fn cases() -> Vec<Case> {
    let bidirectional = [
        Scheme::None,
        Scheme::Sinusoidal,
        Scheme::Learned,
        Scheme::Rope,
        Scheme::Alibi,
        Scheme::T5Unsigned,
        Scheme::T5,
    ];
    let mut kinds: Vec<(Mask, Scheme, usize)> = bidirectional
        .iter()
        .map(|scheme| (Mask::None, *scheme, 2))
        .collect();
    kinds.push((Mask::Causal, Scheme::None, 1));
    kinds.push((Mask::Causal, Scheme::None, 2));
    [Reading::End, Reading::Verb]
        .iter()
        .flat_map(|reading| {
            kinds.iter().map(|(mask, scheme, layers)| Case {
                mask: *mask,
                scheme: *scheme,
                layers: *layers,
                reading: *reading,
            })
        })
        .collect()
}

/// The pairs of nouns, a quarter of them kept back for the test in both orders.
struct Pairs {
    train: Vec<(u32, u32)>,
    test: Vec<(u32, u32)>,
}

impl Pairs {
    fn drawn() -> Self {
        let mut pairs: Vec<(u32, u32)> = (0..NOUNS as u32)
            .flat_map(|first| (first + 1..NOUNS as u32).map(move |second| (first, second)))
            .collect();
        let mut draws = Draws::new(0, "pairs of nouns");
        for last in (1..pairs.len()).rev() {
            pairs.swap(last, draws.below(last + 1));
        }
        let test = pairs.split_off(pairs.len() * 3 / 4);
        Self { train: pairs, test }
    }
}

/// Trains and measures, and returns the records to be written.
///
/// # Errors
///
/// Those of training and of the checkpoints.
pub fn run(options: &Options) -> Result<Vec<Record>> {
    const COLUMNS: &[&str] = &[
        "mask",
        "scheme",
        "layers",
        "read",
        "seed",
        "accuracy",
        "difference",
    ];
    let plan = Plan {
        steps: options.choose(500, 200),
        rate: 3e-3,
        batch: 32,
    };
    let pairs = Pairs::drawn();
    let mut jobs = Vec::new();
    for case in cases() {
        for &seed in &options.seeds {
            let (plan, pairs) = (&plan, &pairs);
            jobs.push(Job::new(plan.steps as u64, move |tick| {
                let identity = format!("{case:?} {plan:?} seed {seed}");
                let numbers = options.remember("order/case", &identity, || {
                    classify(case, plan, pairs, seed, options, tick)
                })?;
                Ok((case, seed, numbers))
            }));
        }
    }
    let shown = side_by_side("order", options.workers, jobs)?;
    let mut record = Record::new("order", "order", COLUMNS);
    note_settings(&mut record, &sizes(cases()[0]), &plan);
    record.note("sentences tested", pairs.test.len() * VERBS * 2);
    record.note("accuracy", "share of sentences whose doer is named");
    record.note(
        "difference",
        "largest, between the logits of a sentence and its reverse",
    );
    for (case, seed, numbers) in shown {
        record.row(vec![
            format!("{:?}", case.mask).to_lowercase(),
            case.scheme.name().into(),
            cell(case.layers),
            case.reading.name().into(),
            cell(seed),
            cell(numbers[0]),
            cell(numbers[1]),
        ]);
    }
    Ok(vec![record])
}

fn sizes(case: Case) -> Settings {
    Settings {
        vocabulary: NOUNS + VERBS + 1,
        outputs: NOUNS,
        layers: case.layers,
        d_model: 32,
        heads: 4,
        seq_len: case.reading.seq_len(),
        mask: case.mask,
    }
}

/// Accuracy, and the largest difference between the logits of a sentence and its reverse.
fn classify(
    case: Case,
    plan: &Plan,
    pairs: &Pairs,
    seed: u64,
    options: &Options,
    tick: &dyn Fn(u64),
) -> Result<Vec<f64>> {
    let (settings, device) = (sizes(case), &options.device);
    let seq_len = settings.seq_len;
    let positions = Positions::new(&settings, case.scheme, &Scaling::None, 0, seq_len, device)?;
    let weights = initial_weights(&settings, case.scheme, seed, device)?;
    let model = Model::new(settings, case.scheme, &weights);
    let batch = |step| sentences(case.reading, plan, &pairs.train, seed, step, options);
    let tick = |steps| tick(steps as u64);
    let weights = Training::new(model, weights)?.run(plan, &positions, &batch, None, &tick)?;
    let model = Model::frozen(settings, case.scheme, &weights);
    let (mut right, mut tested, mut widest) = (0, 0, 0.0_f64);
    for &(first, second) in &pairs.test {
        for verb in 0..VERBS as u32 {
            let sentence = case.reading.sentence(first, verb, second);
            let reverse = case.reading.sentence(second, verb, first);
            let both = [sentence.as_slice(), reverse.as_slice()];
            let place = case.reading.place();
            let named = answers(&model, &positions, &both, &|_| ())?;
            right += usize::from(named[0][place] == first);
            right += usize::from(named[1][place] == second);
            tested += 2;
            let logits = model.forward(&rectangle(&both, device)?, &positions)?;
            let logits = logits.narrow(1, place, 1)?.squeeze(1)?;
            let difference = (logits.get(0)? - logits.get(1)?)?.abs()?.max_all()?;
            widest = widest.max(f64::from(difference.to_scalar::<f32>()?));
        }
    }
    Ok(vec![right as f64 / f64::from(tested), widest])
}

/// Random sentences of the pairs that are trained on, in random order.
fn sentences(
    reading: Reading,
    plan: &Plan,
    pairs: &[(u32, u32)],
    seed: u64,
    step: usize,
    options: &Options,
) -> Result<Batch> {
    let mut draws = Draws::new(seed, &format!("sentences of step {step}"));
    let (mut rows, mut doers) = (Vec::new(), Vec::new());
    for _ in 0..plan.batch {
        let (first, second) = pairs[draws.below(pairs.len())];
        let (doer, other) = [(first, second), (second, first)][draws.below(2)];
        rows.push(reading.sentence(doer, draws.below(VERBS) as u32, other));
        doers.push([doer]);
    }
    let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
    let doers: Vec<&[u32]> = doers.iter().map(<[u32; 1]>::as_slice).collect();
    Ok(Batch {
        tokens: rectangle(&rows, &options.device)?,
        targets: rectangle(&doers, &options.device)?,
        read_from: reading.place(),
    })
}
