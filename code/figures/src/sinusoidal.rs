//! Figures of chapter 2, Sinusoids.

use std::f64::consts::TAU;

use ndarray::Array1;
use plotters::element::{Circle, PathElement, Text as Label};
use plotters::prelude::{Color, IntoFont, SeriesLabelPosition};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoTextStyle, TextStyle};
use positional_encoding::sinusoidal;

use crate::kit::{self, Axis, Drawing, GRID, INK, Root, SCALE, SERIES, Series, TEXT};
use crate::{Figure, FigureError, Text};

/// What this chapter draws.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "sinusoidal/raw_integer",
        title: "Similarity of two unrelated words with a raw position written into them",
        draw: raw_integer,
    },
    Figure {
        name: "sinusoidal/odometer",
        title: "Positions 0 to 31 in binary digits",
        draw: odometer,
    },
    Figure {
        name: "sinusoidal/digits_to_waves",
        title: "A binary digit and a wave of the same period",
        draw: digits_to_waves,
    },
    Figure {
        name: "sinusoidal/clock_hands",
        title: "Four clock hands at positions 0 to 3",
        draw: clock_hands,
    },
    Figure {
        name: "sinusoidal/wavelengths",
        title: "Wavelengths of the pairs for three widths",
        draw: wavelengths,
    },
    Figure {
        name: "sinusoidal/heat_map",
        title: "The sinusoidal table, position by dimension",
        draw: heat_map,
    },
    Figure {
        name: "sinusoidal/similarity",
        title: "Similarity of two encodings against a small offset",
        draw: similarity,
    },
    Figure {
        name: "sinusoidal/similarity_far",
        title: "Similarity of two encodings against offsets up to 4096",
        draw: similarity_far,
    },
];

/// What this chapter tabulates.
pub const TABLES: &[Text] = &[Text {
    name: "sinusoidal/near_collisions",
    write: near_collisions,
}];

fn raw_integer() -> Result<Drawing, FigureError> {
    // Two words at right angles, every entry of size 1, but for the one that holds the position.
    let d_model = 512;
    let alike = |position: usize| {
        let mut word = Array1::from_elem(d_model, 1.0);
        let mut other = Array1::from_shape_fn(d_model, |i| if i % 2 == 0 { 1.0 } else { -1.0 });
        word[0] = position as f64;
        other[0] = position as f64;
        let length = |vector: &Array1<f64>| vector.dot(vector).sqrt();
        (
            position as f64,
            word.dot(&other) / (length(&word) * length(&other)),
        )
    };
    kit::lines(
        &Axis::linear("position written into both words", 0.0, 500.0),
        &Axis::linear("cosine similarity", 0.0, 1.0),
        &[Series::line("", (0..=500).map(alike))],
        SeriesLabelPosition::LowerRight,
    )
}

fn odometer() -> Result<Drawing, FigureError> {
    let rows: Result<Vec<Vec<f64>>, FigureError> = (0..32)
        .map(|position| {
            let digits = sinusoidal::binary_digits(position, 5)?;
            Ok(digits.into_iter().map(f64::from).collect())
        })
        .collect();
    kit::heat_map(
        (440, 440),
        &kit::cells("binary digit", 5, 1, false),
        &kit::cells("position", 32, 4, true),
        &rows?,
        (0.0, 1.0),
    )
}

fn digits_to_waves() -> Result<Drawing, FigureError> {
    let mut digit = Vec::new();
    for position in 0..32 {
        let value = f64::from(sinusoidal::binary_digits(position, 5)?[2]);
        let middle = position as f64;
        digit.extend([(middle - 0.5, value), (middle + 0.5, value)]);
    }
    let wave = (0..=32 * 8).map(|eighth| {
        let position = f64::from(eighth) / 8.0 - 0.5;
        (position, 0.5 - 0.5 * ((position + 0.5) * TAU / 8.0).sin())
    });
    kit::lines(
        &Axis::linear("position", -0.5, 31.5).ticks(&[
            (0.0, "0"),
            (8.0, "8"),
            (16.0, "16"),
            (24.0, "24"),
            (31.0, "31"),
        ]),
        &Axis::linear("value", -0.1, 1.5).ticks(&[(0.0, "0"), (0.5, "0.5"), (1.0, "1")]),
        &[
            Series::line("third binary digit", digit),
            Series::line("a wave of the same period", wave),
        ],
        SeriesLabelPosition::UpperRight,
    )
}

fn clock_hands() -> Result<Drawing, FigureError> {
    let d_model = 8;
    let rows: Result<Vec<Array1<f64>>, _> = (0..4)
        .map(|position| sinusoidal::encoding(position, d_model))
        .collect();
    let rows = rows?;
    kit::draw(640, 230, |root| {
        for pair in 0..d_model / 2 {
            let middle = (160 * pair as i32 + 80, 110);
            let tips: Vec<(f64, f64)> = rows
                .iter()
                .map(|row| (row[2 * pair], row[2 * pair + 1]))
                .collect();
            dial(root, middle, &tips)?;
            let name = format!("pair {pair}");
            write(root, &name, (middle.0, 212))?;
        }
        Ok(())
    })
}

/// A clock face around `middle`, in CSS pixels, with a hand to each tip `(sine, cosine)`.
fn dial(root: &Root, middle: (i32, i32), tips: &[(f64, f64)]) -> Result<(), FigureError> {
    const RADIUS: f64 = 58.0;
    let at = |(sine, cosine): (f64, f64), radius: f64| {
        (
            ((f64::from(middle.0) + radius * sine) * f64::from(SCALE)).round() as i32,
            ((f64::from(middle.1) - radius * cosine) * f64::from(SCALE)).round() as i32,
        )
    };
    let center = (middle.0 * SCALE, middle.1 * SCALE);
    let rim = Circle::new(
        center,
        RADIUS * f64::from(SCALE),
        GRID.stroke_width(2 * SCALE as u32),
    );
    root.draw(&rim).map_err(kit::plot)?;
    let mut written: Vec<(f64, f64)> = Vec::new();
    for (position, tip) in tips.iter().enumerate() {
        let hand = PathElement::new(
            vec![center, at(*tip, RADIUS)],
            SERIES[0].stroke_width(2 * SCALE as u32),
        );
        root.draw(&hand).map_err(kit::plot)?;
        let end = Circle::new(at(*tip, RADIUS), 4 * SCALE, SERIES[0].filled());
        root.draw(&end).map_err(kit::plot)?;
        // A number only where it does not cover the one before.
        let free = |other: &(f64, f64)| (tip.0 - other.0).hypot(tip.1 - other.1) > 0.25;
        if written.iter().all(free) {
            let (x, y) = at(*tip, RADIUS + 14.0);
            write(root, &position.to_string(), (x / SCALE, y / SCALE))?;
            written.push(*tip);
        }
    }
    Ok(())
}

fn write(root: &Root, text: &str, (x, y): (i32, i32)) -> Result<(), FigureError> {
    let style: TextStyle = ("sans-serif", TEXT).into_font().color(&INK);
    let style = style
        .pos(Pos::new(HPos::Center, VPos::Center))
        .into_text_style(root);
    let label = Label::new(text.to_owned(), (x * SCALE, y * SCALE), style);
    root.draw(&label).map_err(kit::plot)
}

fn wavelengths() -> Result<Drawing, FigureError> {
    let mut series = Vec::new();
    for (label, d_model) in [("d = 8", 8), ("d = 64", 64), ("d = 512", 512)] {
        let wavelengths = sinusoidal::wavelengths(d_model)?;
        let points = wavelengths.into_iter().enumerate();
        let points = points.map(|(i, length)| (2.0 * i as f64 / d_model as f64, length));
        series.push(if d_model == 512 {
            Series::line(label, points)
        } else {
            Series::dots(label, points)
        });
    }
    series.reverse();
    let limit = sinusoidal::BASE * TAU;
    series.push(Series::line(
        "10000 · 2π, never reached",
        [(0.0, limit), (1.0, limit)],
    ));
    kit::lines(
        &Axis::linear("place of the pair in the stamp, 2i / d", 0.0, 1.0),
        &Axis::log("wavelength (positions)", 1.0, 1e6),
        &series,
        SeriesLabelPosition::UpperLeft,
    )
}

fn heat_map() -> Result<Drawing, FigureError> {
    let table = sinusoidal::table(128, 128)?;
    let rows: Vec<Vec<f64>> = table.rows().into_iter().map(|row| row.to_vec()).collect();
    kit::heat_map(
        (640, 560),
        &kit::cells("entry of the stamp", 128, 16, false),
        &kit::cells("position", 128, 16, true),
        &rows,
        (-1.0, 1.0),
    )
}

/// One curve for each of three widths, at the offsets that `offsets` gives.
fn similarity_curves(offsets: &[i64]) -> Result<Vec<Series>, FigureError> {
    let mut series = Vec::new();
    for (label, d_model) in [("d = 512", 512), ("d = 128", 128), ("d = 64", 64)] {
        let inv_freq = sinusoidal::inv_freq(d_model)?;
        let pairs = inv_freq.len() as f64;
        let points = offsets.iter().map(|offset| {
            let similarity = sinusoidal::dot_product(*offset, &inv_freq) / pairs;
            (*offset as f64, similarity)
        });
        series.push(Series::line(label, points));
    }
    Ok(series)
}

fn similarity() -> Result<Drawing, FigureError> {
    let offsets: Vec<i64> = (-64..=64).collect();
    kit::lines(
        &Axis::linear("offset (positions)", -64.0, 64.0).ticks(&[
            (-64.0, "−64"),
            (-32.0, "−32"),
            (0.0, "0"),
            (32.0, "32"),
            (64.0, "64"),
        ]),
        &Axis::linear("similarity", 0.3, 1.0),
        &similarity_curves(&offsets)?,
        SeriesLabelPosition::UpperRight,
    )
}

fn similarity_far() -> Result<Drawing, FigureError> {
    // Evenly spread over the logarithmic axis, and no more of them than the eye can use.
    let mut offsets: Vec<i64> = (0..=720)
        .map(|step| 4096f64.powf(f64::from(step) / 720.0).round() as i64)
        .collect();
    offsets.dedup();
    kit::lines(
        &Axis::log("offset (positions)", 1.0, 4096.0).ticks(&[
            (1.0, "1"),
            (8.0, "8"),
            (64.0, "64"),
            (512.0, "512"),
            (4096.0, "4096"),
        ]),
        &Axis::linear("similarity", -0.2, 1.0),
        &similarity_curves(&offsets)?,
        SeriesLabelPosition::UpperRight,
    )
}

/// The nearest two stamps among 400,001 positions, and the distance of neighbours, by width.
fn near_collisions() -> Result<String, FigureError> {
    let mut table =
        String::from("| $d$ | nearest two stamps | at offset | neighbours |\n|--:|--:|--:|--:|\n");
    for d_model in [2, 4, 8, 12, 16, 24] {
        let (offset, distance) = nearest(d_model, 400_000)?;
        let (_, neighbours) = nearest(d_model, 1)?;
        table.push_str(&format!(
            "| {d_model} | {distance:.6} | {} | {neighbours:.3} |\n",
            kit::number(offset as f64, 0),
        ));
    }
    Ok(table)
}

/// The offset from 1 to `last` at which two stamps are nearest, and their distance.
fn nearest(d_model: usize, last: i64) -> Result<(i64, f64), FigureError> {
    let inv_freq = sinusoidal::inv_freq(d_model)?;
    let mut best = (0, f64::INFINITY);
    for offset in 1..=last {
        // The first pair alone keeps most offsets too far apart to be worth the others.
        if 2.0 - 2.0 * sinusoidal::dot_product(offset, &inv_freq[..1]) >= best.1 {
            continue;
        }
        let product = sinusoidal::dot_product(offset, &inv_freq);
        let squared = 2.0 * (inv_freq.len() as f64 - product);
        if squared < best.1 {
            best = (offset, squared);
        }
    }
    Ok((best.0, best.1.max(0.0).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_early_exit_finds_what_a_full_search_finds() {
        for d_model in [2, 4, 8, 12, 16] {
            let inv_freq = sinusoidal::inv_freq(d_model).expect("frequencies");
            let product = |offset: &i64| sinusoidal::dot_product(*offset, &inv_freq);
            let full = (1..=20_000).max_by(|a, b| product(a).total_cmp(&product(b)));
            let (found, _) = nearest(d_model, 20_000).expect("nearest");
            assert_eq!(Some(found), full);
        }
    }

    #[test]
    fn the_table_of_near_collisions_holds_the_known_ones() {
        let table = near_collisions().expect("table");
        assert!(
            table.contains("| 4 | 0.001088 | 325\u{202f}469 | 0.959 |"),
            "{table}"
        );
        assert!(
            table.contains("| 8 | 0.003310 | 169\u{202f}646 | 0.964 |"),
            "{table}"
        );
        assert!(table.contains("| 16 | 1.014725 | 1 | 1.015 |"), "{table}");
    }

    #[test]
    fn every_figure_of_the_chapter_is_drawn() {
        for figure in FIGURES {
            let svg = (figure.draw)()
                .expect(figure.name)
                .into_svg(figure.name, "t", "a");
            assert!(svg.len() > 1_000, "{}", figure.name);
        }
    }
}
