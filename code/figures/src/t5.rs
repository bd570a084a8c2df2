//! Figures of T5's relative bias.

use plotters::prelude::SeriesLabelPosition;
use positional_encoding::{Direction, t5};

use crate::kit::{Axis, Drawing, Series, cells, heat_map, lines};
use crate::{Figure, FigureError};

/// The figures of this module.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "t5/buckets",
        title: "The bucket of every distance, causal and bidirectional",
        draw: buckets,
    },
    Figure {
        name: "t5/matrix",
        title: "The bucket of every pair of positions in an encoder",
        draw: matrix,
    },
];

fn buckets() -> Result<Drawing, FigureError> {
    let staircase = |direction| -> Result<Vec<(f64, f64)>, FigureError> {
        let mut points = Vec::new();
        for distance in 0..=140 {
            let bucket = t5::bucket(-distance, 32, 128, direction)? as f64;
            // Two points a distance, so that the line runs along each step and straight up.
            points.extend([
                (distance as f64 - 0.5, bucket),
                (distance as f64 + 0.5, bucket),
            ]);
        }
        points[0].0 = 0.0;
        Ok(points)
    };
    let x = Axis::linear("distance back to the key (positions)", 0.0, 140.0);
    let y = Axis::linear("bucket", 0.0, 32.0).ticks(&[
        (0.0, "0"),
        (8.0, "8"),
        (15.0, "15"),
        (24.0, "24"),
        (31.0, "31"),
    ]);
    let series = [
        Series::line("causal: 32 buckets", staircase(Direction::Causal)?),
        Series::line("bidirectional: 16", staircase(Direction::Bidirectional)?),
    ];
    lines(&x, &y, &series, SeriesLabelPosition::UpperLeft)
}

fn matrix() -> Result<Drawing, FigureError> {
    const LENGTH: usize = 120;
    let mut rows = Vec::with_capacity(LENGTH);
    for query in 0..LENGTH as i64 {
        let mut row = Vec::with_capacity(LENGTH);
        for key in 0..LENGTH as i64 {
            let bucket = t5::bucket(key - query, 32, 128, Direction::Bidirectional)? as f64;
            // Later keys have the buckets from 16 on; earlier ones are drawn below zero.
            row.push(if key > query { bucket - 16.0 } else { -bucket });
        }
        rows.push(row);
    }
    let x = cells("key position", LENGTH, 20, false);
    let y = cells("query position", LENGTH, 20, true);
    heat_map((560, 480), &x, &y, &rows, (-15.0, 15.0))
}
