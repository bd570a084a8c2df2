//! A training of seconds, recorded so that a test can repeat it bit for bit.

use positional_encoding::scaling::Scaling;

use super::{cell, note_settings};
use crate::error::Result;
use crate::language::{self, LONGEST, Stretch};
use crate::model::{Model, Settings};
use crate::position::{Positions, Scheme};
use crate::record::Record;
use crate::text::Text;
use crate::train::Plan;
use crate::workers::{Job, Options, side_by_side};

use super::length::course;

/// The lengths measured: the trained one and the longest.
const LENGTHS: [usize; 2] = [64, LONGEST];

/// Trains each scheme for a few steps and measures it; the same for every size of run.
///
/// # Errors
///
/// Those of training.
pub fn run(options: &Options) -> Result<Vec<Record>> {
    const COLUMNS: &[&str] = &["scheme", "seed", "length", "loss"];
    let text = Text::moby_dick();
    let settings = Settings {
        layers: 1,
        ..language::settings(&text)
    };
    let plan = Plan {
        steps: 4,
        rate: 3e-3,
        batch: 16,
    };
    let jobs = Scheme::LANGUAGE.map(|scheme| {
        let text = &text;
        Job::new(plan.steps as u64, move |tick| {
            let device = &options.device;
            let weights = course(text, plan, 1).begin(settings, scheme, None, device, tick)?;
            let model = Model::frozen(settings, scheme, &weights);
            let scaling = Scaling::None;
            let positions = Positions::new(&settings, scheme, &scaling, 0, LONGEST, device)?;
            let stretch = Stretch::measure(&model, &positions, &text.test, 1, &|_| ())?;
            Ok((scheme, LENGTHS.map(|length| stretch.sliding(length))))
        })
    });
    let shown = side_by_side("small", options.workers, jobs.into())?;
    let mut record = Record::new("small", "small", COLUMNS);
    note_settings(&mut record, &settings, &plan);
    for (scheme, losses) in shown {
        for (length, loss) in LENGTHS.iter().zip(losses) {
            record.row(vec![
                scheme.name().into(),
                cell(1),
                cell(length),
                cell(loss),
            ]);
        }
    }
    Ok(vec![record])
}
