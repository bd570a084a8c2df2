//! The model atlas: its table and figures, computed from the published files.

use plotters::prelude::*;
use positional_encoding::config::{self, Model, RopeType, Scheme, Table};
use positional_encoding::rope::Layout;
use positional_encoding::scaling;

use crate::kit::{self, Axis, Drawing, Series};
use crate::{Figure, FigureError, Text};

/// The figures of this module.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "config/wavelengths",
        title: "Wavelengths of every rotary model against its trained length",
        draw: wavelengths,
    },
    Figure {
        name: "config/turns",
        title: "Turns per pair within the trained length, six models",
        draw: turns,
    },
];

/// The tables of this module.
pub const TABLES: &[Text] = &[
    Text {
        name: "config/atlas",
        write: atlas,
    },
    Text {
        name: "config/sources",
        write: sources,
    },
];

/// The files in the order of the atlas: by scheme, then by age and family.
const FILES: &[&[u8]] = &[
    include_bytes!("../../positional-encoding/models/bert-base.json"),
    include_bytes!("../../positional-encoding/models/roberta-base.json"),
    include_bytes!("../../positional-encoding/models/gpt2.json"),
    include_bytes!("../../positional-encoding/models/t5-small.json"),
    include_bytes!("../../positional-encoding/models/mpt-7b.json"),
    include_bytes!("../../positional-encoding/models/gpt-j-6b.json"),
    include_bytes!("../../positional-encoding/models/gpt-neox-20b.json"),
    include_bytes!("../../positional-encoding/models/pythia-6.9b.json"),
    include_bytes!("../../positional-encoding/models/falcon-7b.json"),
    include_bytes!("../../positional-encoding/models/phi-2.json"),
    include_bytes!("../../positional-encoding/models/stablelm-3b.json"),
    include_bytes!("../../positional-encoding/models/llama-2-7b.json"),
    include_bytes!("../../positional-encoding/models/llama-2-7b-32k.json"),
    include_bytes!("../../positional-encoding/models/code-llama-7b.json"),
    include_bytes!("../../positional-encoding/models/llama-3-8b.json"),
    include_bytes!("../../positional-encoding/models/llama-3.1-8b.json"),
    include_bytes!("../../positional-encoding/models/llama-3.2-1b.json"),
    include_bytes!("../../positional-encoding/models/llama-4-scout.json"),
    include_bytes!("../../positional-encoding/models/mistral-7b-v0.1.json"),
    include_bytes!("../../positional-encoding/models/mistral-7b-v0.3.json"),
    include_bytes!("../../positional-encoding/models/mixtral-8x7b.json"),
    include_bytes!("../../positional-encoding/models/ministral-3-3b.json"),
    include_bytes!("../../positional-encoding/models/qwen2.5-7b.json"),
    include_bytes!("../../positional-encoding/models/qwen2.5-7b-yarn.json"),
    include_bytes!("../../positional-encoding/models/qwen3-8b.json"),
    include_bytes!("../../positional-encoding/models/qwen3.5-27b.json"),
    include_bytes!("../../positional-encoding/models/gemma-2-9b.json"),
    include_bytes!("../../positional-encoding/models/gemma-3-1b.json"),
    include_bytes!("../../positional-encoding/models/gemma-3-4b.json"),
    include_bytes!("../../positional-encoding/models/gemma-4-26b.json"),
    include_bytes!("../../positional-encoding/models/phi-3.5-mini.json"),
    include_bytes!("../../positional-encoding/models/phi-4-mini.json"),
    include_bytes!("../../positional-encoding/models/deepseek-v2-lite.json"),
    include_bytes!("../../positional-encoding/models/deepseek-v3.json"),
    include_bytes!("../../positional-encoding/models/kimi-k2.json"),
    include_bytes!("../../positional-encoding/models/glm-5.json"),
    include_bytes!("../../positional-encoding/models/gpt-oss-20b.json"),
    include_bytes!("../../positional-encoding/models/smollm2-135m.json"),
    include_bytes!("../../positional-encoding/models/smollm3-3b.json"),
    include_bytes!("../../positional-encoding/models/olmo-2-7b.json"),
    include_bytes!("../../positional-encoding/models/starcoder2-7b.json"),
    include_bytes!("../../positional-encoding/models/internlm2.5-7b.json"),
    include_bytes!("../../positional-encoding/models/aya-23-8b.json"),
    include_bytes!("../../positional-encoding/models/minimax-m2.5.json"),
    include_bytes!("../../positional-encoding/models/mimo-v2-flash.json"),
    include_bytes!("../../positional-encoding/models/modernbert-base.json"),
];

/// A model of the atlas: what its file says, and where the file comes from.
struct Entry {
    name: String,
    repository: String,
    revision: Option<String>,
    read_in: String,
    model: Model,
}

impl Entry {
    /// The first rotated layers: all, or the full ones where sliding ones differ.
    fn rotated(&self) -> Option<&Table> {
        let mut tables = self.model.tables.iter();
        tables.find(|table| table.rope_type != RopeType::None)
    }
}

fn entries() -> Result<Vec<Entry>, FigureError> {
    FILES.iter().map(|file| entry(file)).collect()
}

fn entry(file: &[u8]) -> Result<Entry, FigureError> {
    let value: serde_json::Value =
        serde_json::from_slice(file).map_err(|error| FigureError::Plot(error.to_string()))?;
    let source = |key: &str| value["_source"][key].as_str().map(String::from);
    let named = |key: &str| {
        source(key).ok_or_else(|| FigureError::Plot(format!("a model's file lacks _source.{key}")))
    };
    Ok(Entry {
        name: named("name")?,
        repository: named("repository")?,
        revision: source("revision"),
        read_in: named("read_in")?,
        model: config::read(file, None)?,
    })
}

fn atlas() -> Result<String, FigureError> {
    let mut rows = vec![
        "| Model | Encoding | Base | Head, rotated | Layout | Trained | Declared | Never turn | \
         Factor |"
            .to_string(),
        "|---|---|--:|--:|---|--:|--:|--:|---|".to_string(),
    ];
    for entry in entries()? {
        let cells = match entry.rotated() {
            Some(first) => rotary_cells(&entry.model, first),
            None => other_cells(&entry.model.scheme),
        };
        let cells = [vec![entry.name], cells].concat();
        let cells: Vec<_> = cells.iter().map(|cell| unbroken(cell)).collect();
        rows.push(format!("| {} |", cells.join(" | ")));
    }
    Ok(rows.join("\n"))
}

fn sources() -> Result<String, FigureError> {
    let mut rows = vec![
        "| Model | Repository | Revision | Read in |".to_string(),
        "|---|---|---|---|".to_string(),
    ];
    for entry in entries()? {
        let revision = match &entry.revision {
            Some(revision) => format!("`{}`", revision.get(..12).unwrap_or(revision)),
            None => "not known".into(),
        };
        rows.push(format!(
            "| {} | {} | {revision} | {} |",
            unbroken(&entry.name),
            entry.repository,
            entry.read_in
        ));
    }
    Ok(rows.join("\n"))
}

/// Cells of a wide table keep their words on a line, and a line for each kind of layer.
fn unbroken(cell: &str) -> String {
    cell.replace("; ", "<br>").replace(' ', "\u{a0}")
}

fn rotary_cells(model: &Model, first: &Table) -> Vec<String> {
    let number = |number: Option<usize>| number.map_or("–".into(), |number| whole(number as f64));
    let each = |cell: &dyn Fn(&Table) -> String| {
        let mut cells: Vec<String> = Vec::new();
        for table in model.tables.iter() {
            if table.rope_type != RopeType::None && !cells.contains(&cell(table)) {
                cells.push(cell(table));
            }
        }
        cells.join("; ")
    };
    let kind = |table: &Table| match table.layers.as_str() {
        "all" => table.rope_type.name().to_string(),
        layers => format!("{layers}: {}", table.rope_type.name()),
    };
    let mut kinds = each(&kind);
    if model
        .tables
        .iter()
        .any(|table| table.rope_type == RopeType::None)
    {
        kinds += "; others: none";
    }
    let factor = match first.softmax_scale_factor {
        1.0 => decimals(first.attention_factor),
        softmax => format!(
            "{}; softmax {}",
            decimals(first.attention_factor),
            decimals(softmax)
        ),
    };
    vec![
        kinds,
        each(&|table| table.base.map_or("–".into(), whole)),
        each(&|table| format!("{}, {}", table.head_dim, table.rotary_dim)),
        match first.layout {
            Some(Layout::Interleaved) => "interleaved".into(),
            _ => "half".into(),
        },
        number(first.trained_length),
        number(first.max_length),
        each(&|table| {
            format!(
                "{} of {}",
                number(table.pairs_never_turning),
                table.inv_freq.len()
            )
        }),
        factor,
    ]
}

fn whole(value: f64) -> String {
    kit::number(value, 0)
}

fn decimals(value: f64) -> String {
    match value {
        1.0 => "1".into(),
        value => format!("{value:.4}"),
    }
}

fn other_cells(scheme: &Scheme) -> Vec<String> {
    let dash = || "–".to_string();
    let (words, length) = match scheme {
        Scheme::Learned { offset, usable, .. } => {
            let from = match offset {
                0 => String::new(),
                offset => format!(" from row {offset} on"),
            };
            (format!("learned table{from}"), *usable)
        }
        Scheme::Alibi { slopes, .. } => {
            let heads = slopes.as_ref().map_or(0, Vec::len);
            (format!("ALiBi, {heads} slopes"), None)
        }
        Scheme::T5 {
            buckets,
            max_distance,
        } => (format!("T5, {buckets} buckets to {max_distance}"), None),
        Scheme::Sinusoidal { length, .. } => ("sinusoidal".into(), *length),
        other => (other.name().into(), None),
    };
    let length = length.map_or_else(dash, |length| whole(length as f64));
    vec![
        words,
        dash(),
        dash(),
        dash(),
        length.clone(),
        length,
        dash(),
        dash(),
    ]
}

fn wavelengths() -> Result<Drawing, FigureError> {
    let entries = entries()?;
    let mut ladders = Vec::new();
    for entry in &entries {
        let Some(table) = entry.rotated() else {
            continue;
        };
        let (Some(trained), false) = (table.trained_length, table.unscaled.is_empty()) else {
            continue;
        };
        let finite = table.unscaled.iter().copied().filter(|w| *w > 0.0);
        let slowest = finite.fold(f64::INFINITY, f64::min);
        let longest = std::f64::consts::TAU / slowest;
        ladders.push((entry.name.as_str(), trained as f64, longest));
    }
    ladders.sort_by(|one, other| one.1.total_cmp(&other.1));
    let height = |row: usize| row as f64 + 1.0;
    let names: Vec<(f64, &str)> = ladders
        .iter()
        .enumerate()
        .map(|(row, (name, ..))| (height(row), *name))
        .collect();
    let x = Axis::log("wavelength, in positions", 5.0, 2e8);
    let y = Axis::linear("", -3.5, ladders.len() as f64 + 1.0).ticks(&names);
    kit::draw(640, 150 + 20 * ladders.len() as i32, |root| {
        let mut chart = kit::chart(root, &x, &y)?;
        let row = |row: usize, from: f64, to: f64| {
            [(from, height(row)), (to, height(row))]
                .map(|(a, b)| (x.place(a), y.place(b)))
                .to_vec()
        };
        let parts = [
            ("pairs that turn in training", kit::SERIES[0], 4),
            ("pairs that never complete a turn", kit::SERIES[1], 2),
        ];
        for (index, (label, color, width)) in parts.into_iter().enumerate() {
            let style = color.stroke_width((width * kit::SCALE) as u32);
            let lines = ladders
                .iter()
                .enumerate()
                .filter_map(|(i, (_, trained, longest))| {
                    let turning = trained.min(*longest);
                    match index {
                        0 => Some(row(i, std::f64::consts::TAU, turning)),
                        _ if longest > trained => Some(row(i, *trained, *longest)),
                        _ => None,
                    }
                });
            chart
                .draw_series(lines.map(|points| PathElement::new(points, style)))
                .map_err(kit::plot)?
                .label(label)
                .legend(move |(left, middle)| {
                    PathElement::new(
                        vec![(left, middle), (left + 26 * kit::SCALE, middle)],
                        style,
                    )
                });
        }
        let dots = Series::dots(
            "trained length",
            ladders
                .iter()
                .enumerate()
                .map(|(i, (_, trained, _))| (*trained, height(i))),
        );
        let blank = Series::line("", []);
        let series = [blank.clone(), blank, dots];
        kit::plot_series(&mut chart, &x, &y, &series, SeriesLabelPosition::LowerRight)
    })
}

fn turns() -> Result<Drawing, FigureError> {
    let chosen = [
        "Pythia 6.9B",
        "Llama 2 7B",
        "Llama 3.1 8B",
        "Qwen3 8B",
        "Mistral 7B v0.1",
        "gpt-oss 20B",
    ];
    let entries = entries()?;
    let mut series = Vec::new();
    for name in chosen {
        let found = entries.iter().find(|entry| entry.name == name);
        let Some(table) = found.and_then(Entry::rotated) else {
            continue;
        };
        let trained = table.trained_length.unwrap_or(1);
        let turns = scaling::turns(&table.unscaled, trained);
        let pairs = turns.len() as f64;
        let points = turns.into_iter().enumerate();
        let points = points.map(|(i, turns)| (i as f64 / pairs, turns));
        series.push(Series::line(&format!("{name}, {trained}"), points));
    }
    let x = Axis::linear("pair, as a part of all the model's pairs", 0.0, 1.0);
    let y = Axis::log("turns within the trained length", 1e-3, 1e4);
    kit::draw(640, 420, |root| {
        let mut chart = kit::chart(root, &x, &y)?;
        let one = [(0.0, 1.0), (1.0, 1.0)].map(|(a, b)| (x.place(a), y.place(b)));
        chart
            .draw_series(LineSeries::new(
                one,
                kit::INK.stroke_width(kit::SCALE as u32),
            ))
            .map_err(kit::plot)?;
        kit::plot_series(&mut chart, &x, &y, &series, SeriesLabelPosition::LowerLeft)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_atlas_has_a_row_for_every_file_with_its_source() {
        for table in [atlas().unwrap(), sources().unwrap()] {
            let columns: Vec<_> = table.lines().map(|row| row.matches('|').count()).collect();
            assert_eq!(columns.len(), FILES.len() + 2);
            assert!(columns.iter().all(|bars| *bars == columns[0]));
        }
        assert!(FILES.len() >= 25);
    }

    #[test]
    fn every_file_of_the_companion_crate_is_in_the_atlas() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../positional-encoding/models");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, FILES.len());
    }

    #[test]
    fn the_models_of_the_figure_are_in_the_atlas() {
        let drawing = turns().unwrap().into_svg("config/turns", "t", "a");
        for name in ["Pythia", "Llama 2", "Qwen3", "Mistral", "gpt-oss"] {
            assert!(drawing.contains(name), "{name}");
        }
    }
}
