//! Figures, tables and values of what the lab measured, read from its records.

use ndarray::Array2;
use plotters::prelude::SeriesLabelPosition;
use positional_encoding::learned;

use crate::kit::{self, Axis, Drawing, Series, cells, heat_map, lines};
use crate::learned::{mean_by_distance, minilm_table};
use crate::record::Record;
use crate::{Figure, FigureError, Text};

/// What the lab's records show.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "lab/order",
        title: "Accuracy of classifiers asked who did it to whom",
        draw: order_figure,
    },
    Figure {
        name: "lab/length",
        title: "Loss of six schemes against the length read",
        draw: length_figure,
    },
    Figure {
        name: "lab/early",
        title: "Loss with ALiBi, with windows that slide and windows that do not overlap",
        draw: early_figure,
    },
    Figure {
        name: "lab/position",
        title: "Loss of six schemes by position in the window",
        draw: position_figure,
    },
    Figure {
        name: "lab/previous",
        title: "Accuracy in naming the token before, by position",
        draw: previous_figure,
    },
    Figure {
        name: "lab/previous-extended",
        title: "Accuracy in naming the token before, with an extended rotation",
        draw: previous_extended_figure,
    },
    Figure {
        name: "lab/extend",
        title: "Loss of a rotary model extended by rule alone",
        draw: extend_figure,
    },
    Figure {
        name: "lab/extend-tuned",
        title: "Loss of a rotary model extended and then trained briefly",
        draw: extend_tuned_figure,
    },
    Figure {
        name: "lab/learned-table",
        title: "Similarity of rows: the lab's learned table and a real one",
        draw: learned_table_figure,
    },
];

/// What the lab's records are tabulated as.
pub const TABLES: &[Text] = &[
    Text {
        name: "lab/length",
        write: length_table,
    },
    Text {
        name: "lab/extend",
        write: extend_table,
    },
    Text {
        name: "lab/band",
        write: band_table,
    },
    Text {
        name: "lab/settings",
        write: settings_table,
    },
];

/// Numbers of the lab for the running text.
pub const VALUES: &[Text] = &[
    Text {
        name: "lab/characters",
        write: || Ok(length()?.note("characters measured")?.to_owned()),
    },
    Text {
        name: "lab/steps",
        write: || Ok(length()?.note("steps")?.to_owned()),
    },
    Text {
        name: "lab/tuning-steps",
        write: || Ok(extend()?.note("tuning steps")?.to_owned()),
    },
    Text {
        name: "lab/alpha",
        write: || Ok(extend()?.note("alpha")?.to_owned()),
    },
    Text {
        name: "lab/beta",
        write: || Ok(extend()?.note("beta")?.to_owned()),
    },
    Text {
        name: "lab/minutes",
        write: minutes,
    },
    Text {
        name: "lab/previous-steps",
        write: || Ok(previous()?.note("steps")?.to_owned()),
    },
    Text {
        name: "lab/order-steps",
        write: || Ok(order()?.note("steps")?.to_owned()),
    },
    Text {
        name: "lab/order-sentences",
        write: || Ok(order()?.note("sentences tested")?.to_owned()),
    },
];

/// The schemes as the records name them and as the book does.
pub const SCHEMES: [(&str, &str); 6] = [
    ("none", "none"),
    ("sinusoidal", "sinusoidal"),
    ("learned", "learned"),
    ("rope", "RoPE"),
    ("alibi", "ALiBi"),
    ("t5", "T5"),
];

/// The rules of extension as the records name them and as the book does.
pub const METHODS: [(&str, &str); 6] = [
    ("plain", "as trained"),
    ("interpolation", "interpolation"),
    ("ntk-aware", "NTK-aware"),
    ("dynamic-ntk", "dynamic NTK"),
    ("by-parts", "by parts"),
    ("yarn", "YaRN"),
];

/// Who did it to whom.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged; so for all the records.
pub fn order() -> Result<Record, FigureError> {
    Record::parse("order.csv", include_str!("../../lab/results/order.csv"))
}

/// Six schemes against length.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn length() -> Result<Record, FigureError> {
    Record::parse("length.csv", include_str!("../../lab/results/length.csv"))
}

/// Six schemes by position.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn position() -> Result<Record, FigureError> {
    let text = include_str!("../../lab/results/position.csv");
    Record::parse("position.csv", text)
}

/// One text at two places.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn shift() -> Result<Record, FigureError> {
    Record::parse("shift.csv", include_str!("../../lab/results/shift.csv"))
}

/// The rotary model extended.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn extend() -> Result<Record, FigureError> {
    Record::parse("extend.csv", include_str!("../../lab/results/extend.csv"))
}

/// How α and β were chosen.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn band() -> Result<Record, FigureError> {
    Record::parse("band.csv", include_str!("../../lab/results/band.csv"))
}

/// The token before.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn previous() -> Result<Record, FigureError> {
    let text = include_str!("../../lab/results/previous.csv");
    Record::parse("previous.csv", text)
}

/// The learned table of the first seed after its training, shape `(64, 64)`.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn learned_table() -> Result<Array2<f64>, FigureError> {
    const NAME: &str = "learned-table.csv";
    let record = Record::parse(NAME, include_str!("../../lab/results/learned-table.csv"))?;
    let rows = record.different("position")?.len();
    let values = record.numbers("value", &[("seed", "1")])?;
    let columns = values.len() / rows.max(1);
    Array2::from_shape_vec((rows, columns), values).map_err(|_| FigureError::Record {
        name: NAME,
        found: "its rows are of different lengths".into(),
    })
}

/// One curve a name and seed. The curves of a name share colour and dashes, as six names fill
/// the kit's six styles before the next seed begins; an empty name leaves its style unused.
fn curves(
    names: &[&str],
    seeds: &[&str],
    points: impl Fn(usize, &str) -> Result<Vec<(f64, f64)>, FigureError>,
) -> Result<Vec<Series>, FigureError> {
    let mut series = Vec::new();
    for (index, seed) in seeds.iter().enumerate() {
        for style in 0..6 {
            let name = names.get(style).copied().unwrap_or("");
            let curve = if name.is_empty() {
                Vec::new()
            } else {
                points(style, seed)?
            };
            let label = if index == 0 { name } else { "" };
            series.push(Series::line(label, curve));
        }
    }
    Ok(series)
}

fn lengths_axis() -> Axis {
    Axis::log("length read (characters)", 64.0, 512.0).ticks(&[
        (64.0, "64"),
        (96.0, "96"),
        (128.0, "128"),
        (256.0, "256"),
        (512.0, "512"),
    ])
}

/// `(length, loss)` of the rows that are as `wanted` says.
fn by_length(record: &Record, wanted: &[(&str, &str)]) -> Result<Vec<(f64, f64)>, FigureError> {
    let lengths = record.numbers("length", wanted)?;
    Ok(lengths
        .into_iter()
        .zip(record.numbers("loss", wanted)?)
        .collect())
}

fn loss_axis(series: &[Series]) -> Axis {
    let losses = || {
        series
            .iter()
            .flat_map(|one| &one.points)
            .map(|point| point.1)
    };
    let (low, high) = losses().fold((f64::INFINITY, 0.0_f64), |(low, high), loss| {
        (low.min(loss), high.max(loss))
    });
    Axis::linear("nats per character", low - 0.05, high + 0.05)
}

fn length_figure() -> Result<Drawing, FigureError> {
    let record = length()?;
    let series = curves(
        &SCHEMES.map(|scheme| scheme.1),
        &record.different("seed")?,
        |index, seed| {
            let scheme = SCHEMES[index].0;
            by_length(
                &record,
                &[
                    ("scheme", scheme),
                    ("seed", seed),
                    ("evaluation", "sliding"),
                ],
            )
        },
    )?;
    let losses = loss_axis(&series);
    lines(
        &lengths_axis(),
        &losses,
        &series,
        SeriesLabelPosition::UpperLeft,
    )
}

fn early_figure() -> Result<Drawing, FigureError> {
    const NAMES: [(&str, &str); 2] = [("sliding", "sliding"), ("separate", "not overlapping")];
    let record = length()?;
    let series = curves(
        &NAMES.map(|name| name.1),
        &record.different("seed")?,
        |index, seed| {
            let evaluation = NAMES[index].0;
            by_length(
                &record,
                &[
                    ("scheme", "alibi"),
                    ("seed", seed),
                    ("evaluation", evaluation),
                ],
            )
        },
    )?;
    let losses = loss_axis(&series);
    lines(
        &lengths_axis(),
        &losses,
        &series,
        SeriesLabelPosition::UpperRight,
    )
}

/// Positions whose losses are those of the same characters; between shorter stretches the
/// characters differ.
const BLOCK: i32 = 32;

/// Mean loss in each stretch of 32 positions.
///
/// # Errors
///
/// [`FigureError::Record`] where the record lacks them.
pub fn loss_by_block(record: &Record, scheme: &str, seed: &str) -> Result<Vec<f64>, FigureError> {
    let wanted = [("scheme", scheme), ("seed", seed)];
    let width = record.number("to", &[("scheme", scheme), ("seed", seed), ("from", "0")])?;
    let bins = (f64::from(BLOCK) / width) as usize;
    let losses = record.numbers("loss", &wanted)?;
    let mean = |block: &[f64]| block.iter().sum::<f64>() / block.len() as f64;
    Ok(losses.chunks(bins.max(1)).map(mean).collect())
}

fn position_figure() -> Result<Drawing, FigureError> {
    let record = position()?;
    let series = curves(
        &SCHEMES.map(|scheme| scheme.1),
        &record.different("seed")?,
        |index, seed| {
            let blocks = loss_by_block(&record, SCHEMES[index].0, seed)?;
            let middles = (0..).map(|block| f64::from(BLOCK) * (f64::from(block) + 0.5));
            Ok(middles.zip(blocks).collect())
        },
    )?;
    let x = Axis::linear("position in the window", 0.0, 512.0).ticks(&[
        (0.0, "0"),
        (64.0, "64"),
        (128.0, "128"),
        (256.0, "256"),
        (384.0, "384"),
        (512.0, "512"),
    ]);
    let losses = loss_axis(&series);
    lines(&x, &losses, &series, SeriesLabelPosition::UpperLeft)
}

fn accuracies(names: &[(&str, &str)], column: &str) -> Result<Drawing, FigureError> {
    let record = previous()?;
    let labels: Vec<&str> = names.iter().map(|name| name.1).collect();
    let series = curves(&labels, &record.different("seed")?, |index, seed| {
        let mut wanted = vec![(column, names[index].0), ("seed", seed)];
        wanted.push(match column {
            "scheme" => ("rule", "plain"),
            _ => ("scheme", "rope"),
        });
        let places = record.numbers("from", &wanted)?;
        let accuracies = record.numbers("accuracy", &wanted)?;
        let percent = accuracies.into_iter().map(|accuracy| 100.0 * accuracy);
        Ok(places.iter().map(|from| from + 32.0).zip(percent).collect())
    })?;
    let x = Axis::linear("position", 0.0, 512.0).ticks(&[
        (0.0, "0"),
        (64.0, "64"),
        (128.0, "128"),
        (256.0, "256"),
        (384.0, "384"),
        (512.0, "512"),
    ]);
    let y = Axis::linear("right answers (%)", 0.0, 104.0);
    lines(&x, &y, &series, SeriesLabelPosition::MiddleRight)
}

fn previous_figure() -> Result<Drawing, FigureError> {
    accuracies(&SCHEMES, "scheme")
}

fn previous_extended_figure() -> Result<Drawing, FigureError> {
    accuracies(&static_methods(), "rule")
}

/// The factor the figures of extension show; the table has the others.
const SHOWN_FACTOR: &str = "4";

/// The factor under which a record files a method: one where the method has none.
fn factor_of(method: &str, tuned: &str, factor: &'static str) -> &'static str {
    match (method, tuned) {
        ("plain", "no") | ("dynamic-ntk", _) => "1",
        _ => factor,
    }
}

fn extension(
    tuned: &str,
    names: &[(&str, &str)],
    legend: SeriesLabelPosition,
) -> Result<Drawing, FigureError> {
    let record = extend()?;
    let labels: Vec<&str> = names.iter().map(|name| name.1).collect();
    let series = curves(&labels, &record.different("seed")?, |index, seed| {
        let method = names[index].0;
        let factor = factor_of(method, tuned, SHOWN_FACTOR);
        let wanted = [
            ("method", method),
            ("factor", factor),
            ("tuned", tuned),
            ("seed", seed),
        ];
        by_length(&record, &wanted)
    })?;
    let losses = loss_axis(&series);
    lines(&lengths_axis(), &losses, &series, legend)
}

/// The rules whose frequencies do not depend on the length read, each at its own place.
fn static_methods() -> [(&'static str, &'static str); 6] {
    METHODS.map(|(name, label)| match name {
        "dynamic-ntk" => (name, ""),
        _ => (name, label),
    })
}

fn extend_figure() -> Result<Drawing, FigureError> {
    extension("no", &METHODS, SeriesLabelPosition::MiddleLeft)
}

fn extend_tuned_figure() -> Result<Drawing, FigureError> {
    extension("yes", &static_methods(), SeriesLabelPosition::UpperLeft)
}

/// The classifiers of the order task, from the bottom of the figure to its top: mask, scheme,
/// layers, and the name the book gives them.
const CLASSIFIERS: [(&str, &str, &str, &str); 9] = [
    ("causal", "none", "2", "causal mask, two layers"),
    ("causal", "none", "1", "causal mask, one layer"),
    ("none", "t5", "2", "T5"),
    ("none", "t5-unsigned", "2", "T5, unsigned"),
    ("none", "alibi", "2", "ALiBi, symmetric"),
    ("none", "rope", "2", "RoPE"),
    ("none", "learned", "2", "learned"),
    ("none", "sinusoidal", "2", "sinusoidal"),
    ("none", "none", "2", "none"),
];

fn order_figure() -> Result<Drawing, FigureError> {
    let record = order()?;
    let mut series = Vec::new();
    for (reading, label, above) in [
        ("end", "read at the end", 0.14),
        ("verb", "at the verb", -0.14),
    ] {
        let mut points = Vec::new();
        for (row, (mask, scheme, layers, _)) in CLASSIFIERS.iter().enumerate() {
            let wanted = [
                ("mask", *mask),
                ("scheme", *scheme),
                ("layers", *layers),
                ("read", reading),
            ];
            for accuracy in record.numbers("accuracy", &wanted)? {
                points.push((100.0 * accuracy, row as f64 + above));
            }
        }
        series.push(Series::dots(label, points));
    }
    let mut ticks = Vec::new();
    for (row, (_, _, _, name)) in CLASSIFIERS.iter().enumerate() {
        ticks.push((row as f64, *name));
    }
    let x = Axis::linear("sentences answered rightly (%)", 45.0, 103.0);
    let y = Axis::linear("", -0.5, 8.5).ticks(&ticks);
    lines(&x, &y, &series, SeriesLabelPosition::MiddleMiddle)
}

fn learned_table_figure() -> Result<Drawing, FigureError> {
    const GAP: usize = 4;
    let ours = learned::similarity(learned_table()?.view());
    let real = learned::similarity(minilm_table().view());
    let shown = ours.nrows();
    let rows: Vec<Vec<f64>> = (0..shown)
        .map(|row| {
            let real = real.row(row);
            let real = real.iter().take(shown);
            ours.row(row)
                .iter()
                .chain(&[0.0; GAP])
                .chain(real)
                .copied()
                .collect()
        })
        .collect();
    let second = (shown + GAP) as f64 + 0.5;
    let x = cells(
        "row: the lab's table (left), MiniLM's first rows (right)",
        2 * shown + GAP,
        16,
        false,
    )
    .ticks(&[
        (0.5, "0"),
        (32.5, "32"),
        (second, "0"),
        (second + 32.0, "32"),
    ]);
    heat_map(
        (640, 330),
        &x,
        &cells("row", shown, 16, true),
        &rows,
        (-1.0, 1.0),
    )
}

/// Two seeds as they were measured, `1.78 / 1.77`.
fn both(losses: &[f64], decimals: usize) -> String {
    let written: Vec<String> = losses
        .iter()
        .map(|loss| kit::number(*loss, decimals))
        .collect();
    written.join("\u{a0}/\u{a0}")
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = vec!["---".to_owned(); head.len()];
    let mut text = line(&head) + &line(&rule);
    for row in rows {
        text.push_str(&line(&row));
    }
    text
}

fn length_table() -> Result<String, FigureError> {
    let record = length()?;
    let mut rows = Vec::new();
    for (scheme, name) in SCHEMES {
        let mut row = vec![name.to_owned()];
        for length in ["64", "96", "128", "256", "512"] {
            let wanted = [
                ("scheme", scheme),
                ("evaluation", "sliding"),
                ("length", length),
            ];
            row.push(both(&record.numbers("loss", &wanted)?, 2));
        }
        rows.push(row);
    }
    Ok(table(&["scheme", "64", "96", "128", "256", "512"], rows))
}

fn extend_table() -> Result<String, FigureError> {
    let record = extend()?;
    let mut rows = Vec::new();
    for factor in ["2", "4", "8"] {
        let length = (64 * factor.parse::<usize>().unwrap_or(1)).to_string();
        for (method, name) in METHODS {
            let mut row = vec![format!("×{factor}"), name.to_owned()];
            for (tuned, length) in [
                ("no", "64"),
                ("no", &length),
                ("yes", "64"),
                ("yes", &length),
            ] {
                if method == "dynamic-ntk" && tuned == "yes" {
                    row.push("".into());
                    continue;
                }
                let filed = factor_of(method, tuned, factor);
                let wanted = [
                    ("method", method),
                    ("factor", filed),
                    ("tuned", tuned),
                    ("length", length),
                ];
                row.push(both(&record.numbers("loss", &wanted)?, 2));
            }
            rows.push(row);
        }
    }
    let head = [
        "factor",
        "rule",
        "at 64",
        "at 64 × factor",
        "trained on: at 64",
        "trained on: at 64 × factor",
    ];
    Ok(table(&head, rows))
}

fn band_table() -> Result<String, FigureError> {
    let record = band()?;
    let alphas = record.numbers("alpha", &[("seed", "1")])?;
    let betas = record.numbers("beta", &[("seed", "1")])?;
    let mut rows = Vec::new();
    for (alpha, beta) in alphas.into_iter().zip(betas) {
        let (alpha, beta) = (alpha.to_string(), beta.to_string());
        let losses = record.numbers("loss", &[("alpha", &alpha), ("beta", &beta)])?;
        rows.push(vec![alpha, beta, both(&losses, 3)]);
    }
    Ok(table(&["α", "β", "validation loss, by parts ×4"], rows))
}

fn settings_table() -> Result<String, FigureError> {
    let record = length()?;
    let mut rows = Vec::new();
    for key in [
        "layers",
        "d_model",
        "heads",
        "trained length",
        "steps",
        "batch",
        "learning rate",
        "t5 buckets",
        "t5 max distance",
        "characters measured",
        "version",
        "machine",
        "began",
    ] {
        rows.push(vec![key.to_owned(), record.note(key)?.to_owned()]);
    }
    Ok(table(&["setting", "value"], rows))
}

/// What all four recorded experiments took, in minutes.
fn minutes() -> Result<String, FigureError> {
    let mut seconds = 0.0;
    for record in [order()?, length()?, extend()?, previous()?] {
        seconds += record.note("seconds")?.parse().unwrap_or(0.0);
    }
    Ok(kit::number(seconds / 60.0, 0))
}

/// How similar rows of the lab's learned table are at distances 0, 1, 2, …: the mean cosine.
///
/// # Errors
///
/// [`FigureError::Record`] where the record is damaged.
pub fn learned_similarity_by_distance() -> Result<Vec<f64>, FigureError> {
    Ok(mean_by_distance(&learned::similarity(
        learned_table()?.view(),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_drawn_and_written_from_the_records() -> Result<(), FigureError> {
        for figure in FIGURES {
            (figure.draw)()?;
        }
        for text in TABLES.iter().chain(VALUES) {
            assert!(!(text.write)()?.is_empty(), "{}", text.name);
        }
        Ok(())
    }

    #[test]
    fn the_table_of_lengths_shows_both_seeds_of_each_scheme() -> Result<(), FigureError> {
        let text = length_table()?;
        assert_eq!(text.lines().count(), 2 + SCHEMES.len());
        for line in text.lines().skip(2) {
            assert_eq!(line.matches("\u{a0}/\u{a0}").count(), 5, "{line}");
        }
        Ok(())
    }
}
