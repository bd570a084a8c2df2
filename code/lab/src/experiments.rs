//! The experiments, one module each.

pub mod extend;
pub mod length;
pub mod order;
pub mod previous;
pub mod small;

use crate::model::Settings;
use crate::record::Record;
use crate::train::Plan;

/// Notes the sizes and the plan of an experiment in the head of its record.
fn note_settings(record: &mut Record, settings: &Settings, plan: &Plan) {
    record.note("layers", settings.layers);
    record.note("d_model", settings.d_model);
    record.note("heads", settings.heads);
    record.note("trained length", settings.seq_len);
    record.note("steps", plan.steps);
    record.note("batch", plan.batch);
    record.note("learning rate", plan.rate);
}

/// A seed or another number as a cell.
fn cell(value: impl ToString) -> String {
    value.to_string()
}
