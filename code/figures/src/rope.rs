//! Figures of chapter 3, Rotary position embedding.

use std::f64::consts::PI;

use ndarray::Array1;
use plotters::element::PathElement;
use plotters::prelude::{Color, RGBColor, SeriesLabelPosition};
use positional_encoding::precision::{Format, angle_error};
use positional_encoding::rope::{self, Layout};
use positional_encoding::{Error, sinusoidal};

use crate::kit::{self, Axis, Drawing, GRID, Root, SCALE, SERIES, Series};
use crate::{Figure, FigureError, Text};

/// What this chapter draws.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "rope/score_moves",
        title: "The score of two words one place apart, at every place",
        draw: score_moves,
    },
    Figure {
        name: "rope/arrows",
        title: "Query and key of one pair at three places",
        draw: arrows,
    },
    Figure {
        name: "rope/layouts",
        title: "The pairs of the interleaved and the half layout",
        draw: layouts,
    },
    Figure {
        name: "rope/mix",
        title: "The score at one offset in both layouts and in a mix of them",
        draw: mix,
    },
    Figure {
        name: "rope/decay",
        title: "The paper's bound and the score of equal vectors, by offset",
        draw: decay,
    },
    Figure {
        name: "rope/peaks",
        title: "Scores of keys made to peak at chosen distances",
        draw: peaks,
    },
    Figure {
        name: "rope/fast_slow",
        title: "Scores by distance with the energy in fast, in all, in slow pairs",
        draw: fast_slow,
    },
    Figure {
        name: "rope/precision",
        title: "Error of the angles when the frequencies were rounded",
        draw: precision,
    },
    Figure {
        name: "rope/image",
        title: "Axial RoPE: score by offset in rows and columns",
        draw: image,
    },
];

/// What this chapter tabulates.
pub const TABLES: &[Text] = &[Text {
    name: "rope/mean_cosine",
    write: mean_cosine,
}];

const QUERY: [f64; 8] = [0.9, -0.4, 1.2, 0.3, -0.7, 0.5, 0.1, 1.1];
const KEY: [f64; 8] = [1.1, 0.2, 0.6, -0.5, -0.3, 0.8, 0.4, 0.9];

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn rotated(
    x: &[f64],
    position: usize,
    inv_freq: &[f64],
    layout: Layout,
) -> Result<Vec<f64>, Error> {
    let mut x = x.to_vec();
    rope::rotate(&mut x, position, inv_freq, layout)?;
    Ok(x)
}

fn shifted(x: &[f64], offset: i64, inv_freq: &[f64]) -> Result<Vec<f64>, Error> {
    let mut x = x.to_vec();
    rope::shift(&mut x, offset, inv_freq, Layout::Half)?;
    Ok(x)
}

fn score_moves() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(8, 10_000.0)?;
    let (mut added, mut turned) = (Vec::new(), Vec::new());
    for start in 0..=200 {
        let q = Array1::from(QUERY.to_vec()) + sinusoidal::encoding(start + 1, 8)?;
        let k = Array1::from(KEY.to_vec()) + sinusoidal::encoding(start, 8)?;
        added.push((start as f64, q.dot(&k)));
        let q = rotated(&QUERY, start + 1, &inv_freq, Layout::Interleaved)?;
        let k = rotated(&KEY, start, &inv_freq, Layout::Interleaved)?;
        turned.push((start as f64, dot(&q, &k)));
    }
    kit::lines(
        &Axis::linear(
            "position of the key; the query stands one further",
            0.0,
            200.0,
        ),
        &Axis::linear("score", 0.0, 16.0),
        &[
            Series::line("stamps added", added),
            Series::line("both rotated", turned),
        ],
        SeriesLabelPosition::UpperRight,
    )
}

fn arrows() -> Result<Drawing, FigureError> {
    kit::draw(640, 250, |root| {
        for (panel, (m, n)) in [(0, 3), (5, 8), (105, 108)].into_iter().enumerate() {
            let middle = (107 + 213 * panel as i32, 108);
            cross(root, middle, 95)?;
            let query = rope::rotate_pair([2.0, 1.0], f64::from(m) * 0.25);
            let key = rope::rotate_pair([1.0, 2.0], f64::from(n) * 0.25);
            arrow(root, middle, query, "q", SERIES[0])?;
            arrow(root, middle, key, "k", SERIES[1])?;
            kit::write(root, &format!("q at {m}, k at {n}"), (middle.0, 230))?;
        }
        Ok(())
    })
}

fn cross(root: &Root, (x, y): (i32, i32), reach: i32) -> Result<(), FigureError> {
    for ends in [
        [(x - reach, y), (x + reach, y)],
        [(x, y - reach), (x, y + reach)],
    ] {
        path(root, &ends, GRID, 1)?;
    }
    Ok(())
}

/// An arrow from `middle` to `tip`, which is in the vector's own units.
fn arrow(
    root: &Root,
    middle: (i32, i32),
    tip: [f64; 2],
    name: &str,
    color: RGBColor,
) -> Result<(), FigureError> {
    const UNIT: f64 = 33.0;
    let at = |[x, y]: [f64; 2]| {
        (
            f64::from(middle.0) + UNIT * x,
            f64::from(middle.1) - UNIT * y,
        )
    };
    let scaled = |(x, y): (f64, f64)| {
        (
            (x * f64::from(SCALE)).round() as i32,
            (y * f64::from(SCALE)).round() as i32,
        )
    };
    let style = color.stroke_width(2 * SCALE as u32);
    let line = vec![(middle.0 * SCALE, middle.1 * SCALE), scaled(at(tip))];
    root.draw(&PathElement::new(line, style))
        .map_err(kit::plot)?;
    let length = f64::hypot(tip[0], tip[1]);
    let back = |angle: f64| {
        let [x, y] = rope::rotate_pair([-tip[0] / length, -tip[1] / length], angle);
        scaled(at([tip[0] + 0.28 * x, tip[1] + 0.28 * y]))
    };
    let head = vec![back(0.42), scaled(at(tip)), back(-0.42)];
    root.draw(&plotters::element::Polygon::new(head, color.filled()))
        .map_err(kit::plot)?;
    let (x, y) = at(tip.map(|entry| entry * (1.0 + 0.4 / length)));
    kit::write(root, name, (x.round() as i32, y.round() as i32))
}

fn layouts() -> Result<Drawing, FigureError> {
    kit::draw(640, 330, |root| {
        for (name, layout, top) in [
            ("interleaved", Layout::Interleaved, 70),
            ("half", Layout::Half, 240),
        ] {
            kit::write(root, name, (66, top + 22))?;
            for (pair, color) in SERIES.into_iter().take(4).enumerate() {
                let [a, b] = layout.pair(pair, 4).map(|entry| 150 + 58 * entry as i32);
                let roof = top
                    - 12
                    - if layout == Layout::Half {
                        10 * pair as i32
                    } else {
                        0
                    };
                path(root, &[(a, top), (a, roof), (b, roof), (b, top)], color, 2)?;
                for (x, entry) in [a, b].into_iter().zip(layout.pair(pair, 4)) {
                    boxed(root, (x, top + 22), color)?;
                    kit::write(root, &pair.to_string(), (x, top + 22))?;
                    kit::write(root, &entry.to_string(), (x, top + 62))?;
                }
            }
            kit::write(root, "entry", (66, top + 62))?;
        }
        Ok(())
    })
}

fn boxed(root: &Root, (x, y): (i32, i32), color: RGBColor) -> Result<(), FigureError> {
    let corners = [(-22, -22), (22, -22), (22, 22), (-22, 22), (-22, -22)];
    path(root, &corners.map(|(a, b)| (x + a, y + b)), color, 2)
}

fn path(
    root: &Root,
    points: &[(i32, i32)],
    color: RGBColor,
    width: i32,
) -> Result<(), FigureError> {
    let points: Vec<(i32, i32)> = points.iter().map(|(x, y)| (x * SCALE, y * SCALE)).collect();
    let style = color.stroke_width((width * SCALE) as u32);
    root.draw(&PathElement::new(points, style))
        .map_err(kit::plot)
}

fn mix() -> Result<Drawing, FigureError> {
    let (query, key) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
    let inv_freq = rope::inv_freq(4, 10_000.0)?;
    // Angles laid out for neighbours, entries paired by halves.
    let mixed = |x: [f64; 4], position: usize| -> [f64; 4] {
        let partners = [-x[2], -x[3], x[0], x[1]];
        std::array::from_fn(|j| {
            let (sin, cos) = (position as f64 * inv_freq[j / 2]).sin_cos();
            x[j] * cos + partners[j] * sin
        })
    };
    let positions = 2..=40;
    let level = |layout| -> Result<Vec<(f64, f64)>, Error> {
        let score = |m: usize| {
            let q = rotated(&query, m, &inv_freq, layout)?;
            let k = rotated(&key, m - 2, &inv_freq, layout)?;
            Ok((m as f64, dot(&q, &k)))
        };
        positions.clone().map(score).collect()
    };
    let drift = positions
        .clone()
        .map(|m| (m as f64, dot(&mixed(query, m), &mixed(key, m - 2))));
    kit::lines(
        &Axis::linear("position of the query; the key stands two back", 2.0, 40.0),
        &Axis::linear("score", -2.0, 26.0),
        &[
            Series::line("a mix of the layouts", drift),
            Series::line("interleaved", level(Layout::Interleaved)?),
            Series::line("half", level(Layout::Half)?),
        ],
        SeriesLabelPosition::UpperRight,
    )
}

/// Whole numbers evenly spread over a logarithmic axis, and no more than the eye can use.
fn spread(last: f64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..=720)
        .map(|step| last.powf(f64::from(step) / 720.0).round() as usize)
        .collect();
    places.dedup();
    places
}

fn decay() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(128, 10_000.0)?;
    let curve = |height: &dyn Fn(i64) -> f64| -> Vec<(f64, f64)> {
        let offsets = spread(4096.0).into_iter();
        offsets
            .map(|offset| (offset as f64, height(offset as i64)))
            .collect()
    };
    kit::lines(
        &Axis::log("offset (positions)", 1.0, 4096.0).ticks(&[
            (1.0, "1"),
            (8.0, "8"),
            (64.0, "64"),
            (512.0, "512"),
            (4096.0, "4096"),
        ]),
        &Axis::linear("multiples of the product of the norms", -2.0, 34.0),
        &[
            Series::line(
                "the bound",
                curve(&|offset| rope::decay_bound(offset, &inv_freq)),
            ),
            Series::line(
                "the score",
                curve(&|offset| rope::mean_cosine(offset, &inv_freq)),
            ),
        ],
        SeriesLabelPosition::UpperRight,
    )
}

/// The score of `query` against `key` at distances 0 to `last`, as a part of the norms' product.
fn by_distance(
    query: &[f64],
    key: &[f64],
    inv_freq: &[f64],
    last: i64,
) -> Result<Vec<(f64, f64)>, Error> {
    let norms = (dot(query, query) * dot(key, key)).sqrt();
    let score = |distance| {
        let turned = shifted(query, distance, inv_freq)?;
        Ok((distance as f64, dot(&turned, key) / norms))
    };
    (0..=last).map(score).collect()
}

fn peaks() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(64, 10_000.0)?;
    let query = [1.0; 64];
    let mut series = Vec::new();
    for wanted in [0, 50, 300] {
        let key = shifted(&query, wanted, &inv_freq)?;
        let curve = by_distance(&query, &key, &inv_freq, 400)?;
        series.push(Series::line(&format!("made for {wanted}"), curve));
    }
    // Signs without a pattern: the bits of a number whose digits have none.
    let bits = PI.to_bits() ^ (1f64.exp().to_bits() << 7);
    let random: Vec<f64> = (0..64)
        .map(|j| if bits >> j & 1 == 1 { 1.0 } else { -1.0 })
        .collect();
    let curve = by_distance(&query, &random, &inv_freq, 400)?;
    series.push(Series::line("random signs", curve));
    kit::lines(
        &Axis::linear("distance (positions)", 0.0, 400.0),
        &Axis::linear("score, as a part of the largest possible", -0.6, 1.6).ticks(&[
            (-0.5, "−0.5"),
            (0.0, "0"),
            (0.5, "0.5"),
            (1.0, "1"),
        ]),
        &series,
        SeriesLabelPosition::UpperRight,
    )
}

fn fast_slow() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(128, 10_000.0)?;
    let energy_in = |pairs: std::ops::Range<usize>| {
        let mut x = vec![0.0; 128];
        x[pairs].fill(1.0);
        x
    };
    let mut series = Vec::new();
    for (label, pairs, turned) in [
        ("8 fastest pairs, key turned by 1", 0..8, 1),
        ("all pairs", 0..64, 0),
        ("8 slowest pairs", 56..64, 0),
    ] {
        let query = energy_in(pairs);
        let key = shifted(&query, turned, &inv_freq)?;
        let curve = by_distance(&query, &key, &inv_freq, 64)?;
        series.push(Series::line(label, curve));
    }
    kit::lines(
        &Axis::linear("distance (positions)", 0.0, 64.0),
        &Axis::linear("score, as a part of the largest possible", -1.0, 1.8).ticks(&[
            (-1.0, "−1"),
            (-0.5, "−0.5"),
            (0.0, "0"),
            (0.5, "0.5"),
            (1.0, "1"),
        ]),
        &series,
        SeriesLabelPosition::UpperRight,
    )
}

fn precision() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(128, 10_000.0)?;
    let curve = |format| {
        // The largest error so far. Beyond 8192 the shown positions alone are looked at.
        let shown = (1..8192).chain(spread(131_072.0).into_iter().filter(|place| *place >= 8192));
        let mut worst = 0.0f64;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for place in shown {
            worst = worst.max(angle_error(place, &inv_freq, format));
            if points
                .last()
                .is_none_or(|last| place as f64 > last.0 * 1.02)
            {
                points.push((place as f64, worst));
            }
        }
        points
    };
    kit::lines(
        &Axis::log("position", 1.0, 131_072.0),
        &Axis::log("largest error so far (radians)", 1e-8, 1e2),
        &[
            Series::line("bf16", curve(Format::Bf16)),
            Series::line("f16", curve(Format::F16)),
            Series::line("f32", curve(Format::F32)),
            Series::line("half a turn", [(1.0, PI), (131_072.0, PI)]),
        ],
        SeriesLabelPosition::LowerRight,
    )
}

fn image() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(32, 100.0)?;
    let along: Vec<f64> = (-16..=16)
        .map(|offset| rope::mean_cosine(offset, &inv_freq))
        .collect();
    let rows: Vec<Vec<f64>> = along
        .iter()
        .map(|row| along.iter().map(|column| (row + column) / 2.0).collect())
        .collect();
    let ticks = [
        (0.5, "−16"),
        (8.5, "−8"),
        (16.5, "0"),
        (24.5, "8"),
        (32.5, "16"),
    ];
    kit::heat_map(
        (560, 460),
        &kit::cells("offset in columns", 33, 8, false).ticks(&ticks),
        &kit::cells("offset in rows", 33, 8, true).ticks(&ticks),
        &rows,
        (-1.0, 1.0),
    )
}

/// The mean cosine at a dozen offsets, for three widths.
fn mean_cosine() -> Result<String, FigureError> {
    let widths = [64, 128, 512];
    let mut table = String::from("| offset |");
    for width in widths {
        table.push_str(&format!(" $d$ = {width} |"));
    }
    table.push_str("\n|--:|--:|--:|--:|\n");
    for offset in [1, 2, 8, 16, 32, 128, 256, 512, 1024, 2048, 4096] {
        table.push_str(&format!("| {} |", kit::number(offset as f64, 0)));
        for width in widths {
            let inv_freq = rope::inv_freq(width, 10_000.0)?;
            let value = rope::mean_cosine(offset, &inv_freq);
            table.push_str(&format!(" {} |", kit::number(value, 4)));
        }
        table.push('\n');
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_prints_the_known_values() {
        let table = mean_cosine().expect("a table");
        assert!(
            table.contains("| 1 | 0.9662 | 0.9702 | 0.9731 |"),
            "{table}"
        );
        assert!(
            table.contains("| 2048 | −0.0397 | 0.1193 | 0.0961 |"),
            "{table}"
        );
    }

    #[test]
    fn a_score_is_a_part_of_the_product_of_the_norms() {
        let inv_freq = rope::inv_freq(8, 10_000.0).expect("frequencies");
        let key = shifted(&QUERY, 5, &inv_freq).expect("a key");
        let curve = by_distance(&QUERY, &key, &inv_freq, 9).expect("a curve");
        assert!((curve[5].1 - 1.0).abs() < 1e-12);
        assert!(curve.iter().all(|(_, score)| score.abs() <= 1.0 + 1e-12));
    }
}
