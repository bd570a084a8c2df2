//! Figures of chapter 2, Sinusoids.

use std::f64::consts::TAU;

use ndarray::Array1;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::prelude::{Color, SeriesLabelPosition};
use positional_encoding::sinusoidal;

use crate::kit::{self, Axis, Drawing, GRID, INK, Root, SCALE, SERIES, Series};
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
        title: "Positions 0 to 15 in binary digits",
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

/// What this chapter quotes.
pub const VALUES: &[Text] = &[
    Text {
        name: "sinusoidal/speed_machine",
        write: speed_machine,
    },
    Text {
        name: "sinusoidal/speed_direct",
        write: || milliseconds("direct_ms"),
    },
    Text {
        name: "sinusoidal/speed_rotation",
        write: || milliseconds("rotation_ms"),
    },
    Text {
        name: "sinusoidal/speed_ones",
        write: || milliseconds("ones_ms"),
    },
    Text {
        name: "sinusoidal/speed_in_place",
        write: || milliseconds("in_place_ms"),
    },
];

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
    const CELL: (i32, i32) = (130, 20);
    let corner = |wheel: usize, position: usize| {
        let (left, top) = (80 + CELL.0 * wheel as i32, 30 + CELL.1 * position as i32);
        (left, top)
    };
    kit::draw(640, 360, |root| {
        kit::write(root, "position", (40, 15))?;
        for wheel in 0..4 {
            let (left, _) = corner(wheel, 0);
            kit::write(root, &format!("digit {wheel}"), (left + CELL.0 / 2, 15))?;
        }
        for position in 0..16 {
            let (_, top) = corner(0, position);
            kit::write(root, &position.to_string(), (40, top + CELL.1 / 2))?;
            let digits = sinusoidal::binary_digits(position, 4)?;
            for (wheel, digit) in digits.into_iter().enumerate() {
                let (left, top) = corner(wheel, position);
                if digit == 1 {
                    let corners = [(left, top), (left + CELL.0, top + CELL.1)];
                    let corners = corners.map(|(x, y)| (x * SCALE, y * SCALE));
                    let cell = Rectangle::new(corners, SERIES[0].mix(0.3).filled());
                    root.draw(&cell).map_err(kit::plot)?;
                }
                let middle = (left + CELL.0 / 2, top + CELL.1 / 2);
                kit::write(root, &digit.to_string(), middle)?;
            }
        }
        Ok(())
    })
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
    let (rows, inv_freq) = (rows?, sinusoidal::inv_freq(d_model)?);
    kit::draw(640, 250, |root| {
        for (pair, frequency) in inv_freq.iter().enumerate() {
            let middle = (160 * pair as i32 + 80, 105);
            let tips: Vec<(f64, f64)> = rows
                .iter()
                .map(|row| (row[2 * pair], row[2 * pair + 1]))
                .collect();
            dial(root, middle, &tips)?;
            kit::write(root, &format!("pair {pair}"), (middle.0, 205))?;
            let step = format!("{} rad a step", kit::number(*frequency, pair));
            kit::write(root, &step, (middle.0, 227))?;
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
    for tip in tips {
        let hand = PathElement::new(
            vec![center, at(*tip, RADIUS)],
            SERIES[0].stroke_width(2 * SCALE as u32),
        );
        root.draw(&hand).map_err(kit::plot)?;
        let end = Circle::new(at(*tip, RADIUS), 4 * SCALE, SERIES[0].filled());
        root.draw(&end).map_err(kit::plot)?;
    }
    // Hands too close for a number each share one label.
    let close = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0).hypot(a.1 - b.1) < 0.2;
    let mut position = 0;
    for group in tips.chunk_by(close) {
        let last = position + group.len() - 1;
        let label = if last > position {
            format!("{position} to {last}")
        } else {
            position.to_string()
        };
        let (first, end) = (group[0], group[group.len() - 1]);
        let between = ((first.0 + end.0) / 2.0, (first.1 + end.1) / 2.0);
        let (x, y) = at(between, RADIUS + 17.0);
        kit::write(root, &label, (x / SCALE, y / SCALE))?;
        position = last + 1;
    }
    Ok(())
}

fn wavelengths() -> Result<Drawing, FigureError> {
    let x = Axis::linear("place of the pair in the stamp, 2i / d", 0.0, 1.0);
    let y = Axis::log("wavelength (positions)", 1.0, 1e6);
    let ladder = |d_model: usize| -> Result<Vec<(f64, f64)>, FigureError> {
        let rungs = sinusoidal::wavelengths(d_model)?.into_iter().enumerate();
        Ok(rungs
            .map(|(i, length)| (2.0 * i as f64 / d_model as f64, length))
            .collect())
    };
    let limit = sinusoidal::BASE * TAU;
    let series = [
        Series::line("d = 512, 256 rungs", ladder(512)?),
        Series::line("10,000 · 2π", [(0.0, limit), (1.0, limit)]),
        Series::dots("d = 64, 32 rungs", ladder(64)?),
    ];
    kit::draw(640, 400, |root| {
        let mut chart = kit::chart(root, &x, &y)?;
        let rings = ladder(8)?.into_iter().map(|(place, length)| {
            let style = INK.stroke_width(2 * SCALE as u32);
            Circle::new((place, y.place(length)), 8 * SCALE, style)
        });
        chart
            .draw_series(rings)
            .map_err(kit::plot)?
            .label("d = 8, 4 rungs")
            .legend(|(left, middle)| {
                let style = INK.stroke_width(2 * SCALE as u32);
                Circle::new((left + 12 * SCALE, middle), 6 * SCALE, style)
            });
        kit::plot_series(&mut chart, &x, &y, &series, SeriesLabelPosition::LowerRight)
    })
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

/// One curve for each of the widths, at the given offsets.
fn similarity_curves(widths: &[usize], offsets: &[i64]) -> Result<Vec<Series>, FigureError> {
    let mut series = Vec::new();
    for &d_model in widths {
        let inv_freq = sinusoidal::inv_freq(d_model)?;
        let pairs = inv_freq.len() as f64;
        let points = offsets.iter().map(|offset| {
            let similarity = sinusoidal::dot_product(*offset, &inv_freq) / pairs;
            (*offset as f64, similarity)
        });
        series.push(Series::line(&format!("d = {d_model}"), points));
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
        &similarity_curves(&[512, 128, 64], &offsets)?,
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
        &similarity_curves(&[512, 64], &offsets)?,
        SeriesLabelPosition::UpperRight,
    )
}

/// The nearest two stamps among 400,001 positions, and the distance of neighbours, by width.
fn near_collisions() -> Result<String, FigureError> {
    let mut table = String::from(
        "| width $d$ | nearest two stamps | at offset | neighbours |\n|--:|--:|--:|--:|\n",
    );
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

/// What `rotation_speed -- --record` wrote on one machine: a header and one row.
const SPEED: &str = include_str!("../data/rotation_speed.csv");

fn recorded(column: &str) -> Result<&'static str, FigureError> {
    let mut lines = SPEED.lines().map(|line| line.split(','));
    let (header, row) = (lines.next(), lines.next());
    let mut cells = header.into_iter().flatten().zip(row.into_iter().flatten());
    let cell = cells.find(|(name, _)| *name == column);
    cell.map(|(_, value)| value)
        .ok_or_else(|| FigureError::Plot(format!("rotation_speed.csv has no column `{column}`")))
}

fn milliseconds(column: &str) -> Result<String, FigureError> {
    let value = recorded(column)?;
    let time = value
        .parse()
        .map_err(|_| FigureError::Plot(format!("`{value}` in rotation_speed.csv is no number")))?;
    Ok(format!("{} ms", kit::number(time, 0)))
}

fn speed_machine() -> Result<String, FigureError> {
    Ok(format!(
        "{}, {} with {} cores, Rust {}, best of {} runs",
        recorded("date")?,
        recorded("instructions")?,
        recorded("cores")?,
        recorded("rust")?,
        recorded("runs")?
    ))
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
            table.contains("| 4 | 0.001088 | 325,469 | 0.959 |"),
            "{table}"
        );
        assert!(
            table.contains("| 8 | 0.003310 | 169,646 | 0.964 |"),
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

    #[test]
    fn the_recorded_measurement_is_that_of_the_chapter() {
        assert_eq!(recorded("positions").expect("a column"), "131072");
        assert_eq!(recorded("width").expect("a column"), "512");
        let [direct, rotation, in_place] =
            ["direct_ms", "rotation_ms", "in_place_ms"].map(|column| {
                let value = recorded(column).expect("a column");
                value.parse::<f64>().expect("a number")
            });
        assert!(in_place < rotation && rotation < direct);
        assert!(speed_machine().expect("a row").contains("Rust 1."));
        assert!(recorded("colour").is_err());
    }
}
