//! Figures of the chapter "Long context".

use plotters::prelude::*;
use positional_encoding::Error;
use positional_encoding::scaling::{
    self, ByParts, Llama3, LongRope, LongRopeAttention, Ramp, Scaling, Trained, Yarn,
};

use crate::kit::{self, Axis, Drawing, Series};
use crate::{Figure, FigureError, Text};

/// The figures of this module.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "scaling/turns",
        title: "Turns per pair within the trained length, three models",
        draw: turns,
    },
    Figure {
        name: "scaling/extrapolation",
        title: "A score fitted on the trained offsets, within and beyond them",
        draw: extrapolation,
    },
    Figure {
        name: "scaling/softmax",
        title: "The weight of one key as keys join the softmax",
        draw: softmax,
    },
    Figure {
        name: "scaling/interpolation",
        title: "Turns per pair after position interpolation by four",
        draw: || {
            turns_after(
                &LLAMA_2,
                4.0,
                "interpolated",
                Scaling::PositionInterpolation(4.0),
            )
        },
    },
    Figure {
        name: "scaling/ntk-aware",
        title: "Turns per pair after NTK-aware scaling by four",
        draw: || turns_after(&LLAMA_2, 4.0, "NTK-aware", Scaling::NtkAware(4.0)),
    },
    Figure {
        name: "scaling/dynamic",
        title: "The base of dynamic NTK against the current length",
        draw: dynamic,
    },
    Figure {
        name: "scaling/by-parts",
        title: "Turns per pair after NTK-by-parts with factor four",
        draw: || {
            turns_after(
                &LLAMA_2,
                4.0,
                "by parts",
                Scaling::NtkByParts(by_parts(4.0)),
            )
        },
    },
    Figure {
        name: "scaling/yarn-turns",
        title: "Turns per pair after YaRN with factor four",
        draw: || {
            let rule = Scaling::Yarn(yarn(4.0, Ramp::WholePairs));
            turns_after(&LLAMA_2, 4.0, "scaled", rule)
        },
    },
    Figure {
        name: "scaling/ramps",
        title: "What each ramp of YaRN keeps of a pair's frequency",
        draw: ramps,
    },
    Figure {
        name: "scaling/llama3",
        title: "Turns per pair of Llama 3.1, before and after its scaling",
        draw: || turns_after(&LLAMA_3, 16.0, "scaled", Scaling::Llama3(Llama3::default())),
    },
    Figure {
        name: "scaling/longrope",
        title: "The last token's angle in one pair as the text grows, with LongRoPE",
        draw: longrope,
    },
    Figure {
        name: "scaling/rules",
        title: "What five rules leave of every pair's frequency",
        draw: rules,
    },
    Figure {
        name: "scaling/lost-in-the-middle",
        title: "Accuracy against the place of the answer, four models",
        draw: lost_in_the_middle,
    },
];

/// The tables of this module.
pub const TABLES: &[Text] = &[Text {
    name: "scaling/never-turning",
    write: never_turning,
}];

const LLAMA_2: Trained = trained(128, 10_000.0, 4096);
const LLAMA_3: Trained = trained(128, 500_000.0, 8192);

const fn trained(rotary_dim: usize, base: f64, length: usize) -> Trained {
    Trained {
        rotary_dim,
        base,
        length,
    }
}

fn by_parts(factor: f64) -> ByParts {
    ByParts {
        factor,
        ..ByParts::default()
    }
}

fn yarn(factor: f64, ramp: Ramp) -> Yarn {
    Yarn {
        factor,
        ramp,
        ..Yarn::default()
    }
}

/// Points `(pair, value)`, one for each value.
fn by_pair(values: &[f64]) -> impl Iterator<Item = (f64, f64)> + '_ {
    values
        .iter()
        .enumerate()
        .map(|(pair, value)| (pair as f64, *value))
}

fn pair_axis(pairs: usize) -> Axis {
    Axis::linear("pair, fastest first", 0.0, pairs as f64 - 1.0)
}

fn turns() -> Result<Drawing, FigureError> {
    let models = [
        ("Llama 2, 4096", LLAMA_2),
        ("Llama 3, 8192", LLAMA_3),
        ("Qwen2.5, 32,768", trained(128, 1_000_000.0, 32_768)),
    ];
    let mut series = Vec::new();
    for (name, model) in models {
        let turns = scaling::turns(&model.inv_freq()?, model.length);
        series.push(Series::line(name, by_pair(&turns)));
    }
    series.push(Series::line("one turn", [(0.0, 1.0), (63.0, 1.0)]));
    let y = Axis::log("turns within the trained length", 1e-3, 1e4);
    kit::lines(&pair_axis(64), &y, &series, SeriesLabelPosition::LowerLeft)
}

/// How many turns each pair makes: trained, unscaled at the longer length, and scaled.
fn turns_after(
    model: &Trained,
    stretch: f64,
    name: &str,
    rule: Scaling,
) -> Result<Drawing, FigureError> {
    let longer = (model.length as f64 * stretch) as usize;
    let before = model.inv_freq()?;
    let after = rule.frequencies(model, longer)?.inv_freq;
    let trained = scaling::turns(&before, model.length);
    let unscaled = scaling::turns(&before, longer);
    let scaled = scaling::turns(&after, longer);
    let series = [
        Series::line(&format!("as trained, {}", model.length), by_pair(&trained)),
        Series::line(&format!("unscaled, {longer}"), by_pair(&unscaled)),
        Series::dots(&format!("{name}, {longer}"), by_pair(&scaled)),
        Series::line("one turn", [(0.0, 1.0), (63.0, 1.0)]),
    ];
    let slowest = trained.last().copied().unwrap_or(1.0);
    let from = 10f64.powf(slowest.log10().floor());
    let y = Axis::log("turns up to the last position", from, 1e5);
    kit::lines(&pair_axis(64), &y, &series, SeriesLabelPosition::UpperRight)
}

/// A score of 64 pairs as a function of the offset, fitted on whole offsets from 0 to `length`.
///
/// Chen et al. 2023, figure 2, drawn anew: `Σ a cos(offset·w) + b sin(offset·w)` over the
/// frequencies of Llama, by least squares, to random targets between -1 and 1 at every eighth
/// offset.
#[derive(Debug, Clone)]
pub struct FittedScore {
    inv_freq: Vec<f64>,
    coefficients: Vec<f64>,
    /// What it was fitted to: `(offset, target)`.
    pub targets: Vec<(f64, f64)>,
}

impl FittedScore {
    /// Fits; `ridge` is the price on the square of each coefficient, `seed` draws the targets.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where `trained` is impossible.
    pub fn new(trained: &Trained, ridge: f64, seed: u64) -> Result<FittedScore, Error> {
        let inv_freq = trained.inv_freq()?;
        let mut state = seed;
        let targets: Vec<(f64, f64)> = (0..=trained.length)
            .step_by(8)
            .map(|offset| (offset as f64, 2.0 * random(&mut state) - 1.0))
            .collect();
        let size = 2 * inv_freq.len();
        let mut matrix = vec![vec![0.0; size]; size];
        let mut right = vec![0.0; size];
        for (offset, target) in &targets {
            let row = terms(&inv_freq, *offset);
            for (i, a) in row.iter().enumerate() {
                right[i] += a * target;
                for (j, b) in row.iter().enumerate() {
                    matrix[i][j] += a * b;
                }
            }
        }
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += ridge;
        }
        let coefficients = solve(matrix, right);
        Ok(FittedScore {
            inv_freq,
            coefficients,
            targets,
        })
    }

    /// The score at an offset, whole or not.
    pub fn at(&self, offset: f64) -> f64 {
        let terms = terms(&self.inv_freq, offset);
        terms
            .iter()
            .zip(&self.coefficients)
            .map(|(t, c)| t * c)
            .sum()
    }
}

fn terms(inv_freq: &[f64], offset: f64) -> Vec<f64> {
    let angles = inv_freq.iter().map(|w| offset * w);
    angles
        .flat_map(|angle| [angle.cos(), angle.sin()])
        .collect()
}

/// A number in `[0, 1)` from a linear congruential generator (Knuth's MMIX).
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Cholesky's solution of a symmetric positive definite system.
fn solve(matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    let mut lower = matrix;
    for i in 0..size {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = lower[i][j] - dot;
            lower[i][j] = if i == j {
                rest.sqrt()
            } else {
                rest / lower[j][j]
            };
        }
    }
    let mut solution = right;
    for i in 0..size {
        let dot: f64 = (0..i).map(|k| lower[i][k] * solution[k]).sum();
        solution[i] = (solution[i] - dot) / lower[i][i];
    }
    for i in (0..size).rev() {
        let dot: f64 = (i + 1..size).map(|k| lower[k][i] * solution[k]).sum();
        solution[i] = (solution[i] - dot) / lower[i][i];
    }
    solution
}

fn extrapolation() -> Result<Drawing, FigureError> {
    let score = FittedScore::new(&trained(128, 10_000.0, 2048), 1e-8, 1)?;
    let within = (0..=4096).map(|half| f64::from(half) / 2.0);
    let within: Vec<_> = within.map(|offset| (offset, score.at(offset))).collect();
    let beyond = (0..=4096).map(f64::from);
    let beyond: Vec<_> = beyond.map(|offset| (offset, score.at(offset))).collect();
    let largest = beyond.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    kit::draw(640, 600, |root| {
        let (upper, lower) = root.split_vertically(300 * kit::SCALE);
        let x = Axis::linear("offset (trained range)", 0.0, 2048.0);
        let y = Axis::linear("score", -2.0, 2.0);
        let mut chart = kit::chart(&upper, &x, &y)?;
        let series = [
            Series::line("read at half steps", within),
            Series::dots("fitted to", score.targets.iter().copied()),
        ];
        kit::plot_series(&mut chart, &x, &y, &series, SeriesLabelPosition::UpperRight)?;
        let x = Axis::linear("offset (twice the trained range)", 0.0, 4096.0);
        let y = Axis::linear("score", -1.1 * largest, 1.1 * largest);
        let mut chart = kit::chart(&lower, &x, &y)?;
        let border = [(2048.0, -1.1 * largest), (2048.0, 1.1 * largest)];
        let series = [
            Series::line("the same score", beyond),
            Series::line("trained length", border),
        ];
        kit::plot_series(&mut chart, &x, &y, &series, SeriesLabelPosition::UpperLeft)
    })
}

fn softmax() -> Result<Drawing, FigureError> {
    let weight = |lead: f64, keys: f64| lead.exp() / (lead.exp() + keys - 1.0);
    let lengths = || (0..=140).map(|step| 64.0 * 2f64.powf(f64::from(step) / 10.0));
    let series = [6.0, 8.0, 10.0].map(|lead| {
        let points = lengths().map(|keys| (keys, weight(lead, keys)));
        Series::line(&format!("leads by {lead}"), points)
    });
    let x = Axis::log("keys in the softmax", 64.0, 64.0 * 2f64.powi(14));
    let y = Axis::linear("weight of the leading key", 0.0, 1.0);
    kit::lines(&x, &y, &series, SeriesLabelPosition::UpperRight)
}

fn dynamic() -> Result<Drawing, FigureError> {
    let base = |rule: &Scaling, seq_len: usize| -> Result<(f64, f64), FigureError> {
        let scaled = rule.frequencies(&LLAMA_2, seq_len)?.inv_freq;
        Ok((seq_len as f64, scaled[1].powi(-(scaled.len() as i32))))
    };
    let mut series = Vec::new();
    for (name, rule) in [
        ("paper, and factor 1", Scaling::DynamicNtk),
        ("code, factor 2", Scaling::DynamicNtkWithFactor(2.0)),
        ("code, factor 4", Scaling::DynamicNtkWithFactor(4.0)),
    ] {
        let points = (1..=128).map(|step| base(&rule, 128 * step));
        series.push(Series::line(name, points.collect::<Result<Vec<_>, _>>()?));
    }
    let x = Axis::linear("current length", 0.0, 16_384.0);
    let y = Axis::linear("base", 0.0, 140_000.0);
    kit::lines(&x, &y, &series, SeriesLabelPosition::UpperLeft)
}

fn ramps() -> Result<Drawing, FigureError> {
    let factor = 16.0;
    let before = LLAMA_2.inv_freq()?;
    let mut series = Vec::new();
    for (name, ramp) in [
        ("paper: linear in turns", Ramp::Turns),
        ("code: linear in the pair", Ramp::WholePairs),
    ] {
        let after = scaling::yarn(&LLAMA_2, &yarn(factor, ramp))?.inv_freq;
        let divided = 1.0 / factor;
        let kept: Vec<f64> = after
            .iter()
            .zip(&before)
            .map(|(a, b)| (a / b - divided) / (1.0 - divided))
            .collect();
        series.push(Series::line(name, by_pair(&kept)));
    }
    let y = Axis::linear("share kept as trained", 0.0, 1.05);
    kit::lines(&pair_axis(64), &y, &series, SeriesLabelPosition::UpperRight)
}

fn longrope() -> Result<Drawing, FigureError> {
    let model = trained(8, 10_000.0, 4096);
    let lists = LongRope {
        short_factor: vec![1.0; 4],
        long_factor: vec![1.0, 2.0, 4.0, 8.0],
        attention: LongRopeAttention::FromLength(131_072),
    };
    let angle = |seq_len: usize| -> Result<(f64, f64), FigureError> {
        let slowest = scaling::longrope(&model, &lists, seq_len)?.inv_freq[3];
        Ok((seq_len as f64, (seq_len - 1) as f64 * slowest))
    };
    let short = (1..=64).map(|step| angle(64 * step));
    let long = (0..=64).map(|step| angle(4097 + 64 * step));
    let series = [
        Series::line("short list", short.collect::<Result<Vec<_>, _>>()?),
        Series::line("long list", long.collect::<Result<Vec<_>, _>>()?),
    ];
    let x = Axis::linear("current length", 0.0, 8192.0);
    let y = Axis::linear("angle of the last token (rad)", 0.0, 5.0);
    kit::lines(&x, &y, &series, SeriesLabelPosition::UpperRight)
}

fn rules() -> Result<Drawing, FigureError> {
    let before = LLAMA_2.inv_freq()?;
    let mut series = Vec::new();
    for (name, rule) in [
        ("interpolation", Scaling::PositionInterpolation(4.0)),
        ("NTK-aware", Scaling::NtkAware(4.0)),
        (
            "by parts, 1 to 32 turns",
            Scaling::NtkByParts(by_parts(4.0)),
        ),
        ("YaRN's code", Scaling::Yarn(yarn(4.0, Ramp::WholePairs))),
        (
            "Llama 3's bands, 1 to 4 turns",
            Scaling::Llama3(Llama3 {
                factor: 4.0,
                ..Llama3::default()
            }),
        ),
    ] {
        let after = rule.frequencies(&LLAMA_2, 16_384)?.inv_freq;
        let ratios: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a / b).collect();
        series.push(Series::line(name, by_pair(&ratios)));
    }
    let y = Axis::linear("frequency after / before", 0.0, 1.7);
    kit::lines(&pair_axis(64), &y, &series, SeriesLabelPosition::UpperRight)
}

/// Liu et al. 2023, table 6: accuracy in percent, 20 documents, the answer in document 1, 5,
/// 10, 15 or 20.
const LOST: [(&str, [f64; 5]); 4] = [
    ("GPT-3.5-Turbo", [75.8, 57.2, 53.8, 55.4, 63.2]),
    ("Claude-1.3", [59.9, 55.9, 56.8, 57.2, 60.1]),
    ("MPT-30B-Instruct", [53.7, 51.8, 52.2, 52.7, 56.3]),
    ("LongChat-13B (16K)", [68.6, 57.4, 55.3, 52.5, 55.0]),
];

fn lost_in_the_middle() -> Result<Drawing, FigureError> {
    let places = [1.0, 5.0, 10.0, 15.0, 20.0];
    let series = LOST.map(|(name, accuracy)| Series::line(name, places.into_iter().zip(accuracy)));
    let x = Axis::linear("document that holds the answer", 1.0, 20.0).ticks(&[
        (1.0, "1"),
        (5.0, "5"),
        (10.0, "10"),
        (15.0, "15"),
        (20.0, "20"),
    ]);
    let y = Axis::linear("accuracy (%)", 45.0, 85.0);
    kit::lines(&x, &y, &series, SeriesLabelPosition::UpperRight)
}

fn never_turning() -> Result<String, FigureError> {
    let models = [
        ("Llama 2 7B", LLAMA_2),
        ("Llama 3 8B", LLAMA_3),
        ("Qwen2.5 7B", trained(128, 1_000_000.0, 32_768)),
        ("Qwen3 8B, as declared", trained(128, 1_000_000.0, 40_960)),
        ("Phi-3 mini", trained(96, 10_000.0, 4096)),
        ("gpt-oss", trained(64, 150_000.0, 4096)),
    ];
    let mut rows = String::from(
        "| model | base | trained length | longest wavelength | pairs that never turn |\n\
         |---|--:|--:|--:|--:|\n",
    );
    for (name, model) in models {
        let inv_freq = model.inv_freq()?;
        let longest = scaling::wavelengths(&inv_freq)
            .into_iter()
            .fold(0.0, f64::max);
        rows.push_str(&format!(
            "| {name} | {} | {} | {} | {} of {} |\n",
            kit::number(model.base, 0),
            kit::number(model.length as f64, 0),
            kit::number(longest, 0),
            scaling::pairs_never_turning(&inv_freq, model.length),
            inv_freq.len(),
        ));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_solves_its_equations() {
        let matrix = vec![vec![4.0, 2.0], vec![2.0, 3.0]];
        let solution = solve(matrix, vec![8.0, 7.0]);
        assert!((solution[0] - 1.25).abs() < 1e-12 && (solution[1] - 1.5).abs() < 1e-12);
    }

    #[test]
    fn the_table_counts_the_pairs_that_never_turn() {
        let table = never_turning().expect("written");
        assert!(table.contains("| Llama 2 7B | 10,000 | 4096 |"));
        assert!(table.contains("18 of 64") && table.contains("14 of 48"));
    }
}
