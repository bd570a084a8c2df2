//! Figures of attention with linear biases.

use ndarray::Axis as Dimension;
use plotters::prelude::SeriesLabelPosition;
use positional_encoding::{Direction, alibi};

use crate::kit::{Axis, Drawing, Series, cells, heat_map, lines};
use crate::{Figure, FigureError};

/// The figures of this module.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "alibi/slopes",
        title: "The slopes of eight and of twelve heads",
        draw: slopes,
    },
    Figure {
        name: "alibi/matrices",
        title: "The causal bias of three heads",
        draw: matrices,
    },
    Figure {
        name: "alibi/reach",
        title: "How much of the attention the nearest tokens get from the bias alone",
        draw: reach,
    },
];

fn slopes() -> Result<Drawing, FigureError> {
    let points = |heads| -> Result<Vec<(f64, f64)>, FigureError> {
        let slopes = alibi::slopes(heads)?.into_iter().enumerate();
        Ok(slopes.map(|(head, slope)| (head as f64, slope)).collect())
    };
    let heads: Vec<(f64, String)> = (0..12)
        .map(|head| (head.into(), head.to_string()))
        .collect();
    let heads: Vec<(f64, &str)> = heads
        .iter()
        .map(|(at, label)| (*at, label.as_str()))
        .collect();
    let x = Axis::linear("head", -0.5, 11.5).ticks(&heads);
    let y = Axis::log("slope (score per position)", 0.003, 1.3).ticks(&[
        (1.0, "1"),
        (0.25, "1/4"),
        (0.0625, "1/16"),
        (0.015625, "1/64"),
        (0.00390625, "1/256"),
    ]);
    let series = [
        Series::line("12 heads", points(12)?),
        Series::dots("8 heads", points(8)?),
    ];
    lines(&x, &y, &series, SeriesLabelPosition::LowerRight)
}

fn matrices() -> Result<Drawing, FigureError> {
    const LENGTH: usize = 32;
    const GAP: usize = 3;
    let positions: Vec<usize> = (0..LENGTH).collect();
    let heads = [0.5, 0.125, 0.03125];
    let bias = alibi::bias(&heads, &positions, &positions, Direction::Causal);
    let rows: Vec<Vec<f64>> = (0..LENGTH)
        .map(|query| {
            let mut row = Vec::new();
            for head in bias.axis_iter(Dimension(0)) {
                if !row.is_empty() {
                    row.extend([0.0; GAP]);
                }
                row.extend(head.row(query));
            }
            row
        })
        .collect();
    let width = 3 * LENGTH + 2 * GAP;
    let starts = [
        0.5,
        0.5 + (LENGTH + GAP) as f64,
        0.5 + (2 * (LENGTH + GAP)) as f64,
    ];
    let ticks = starts
        .map(|start| [(start, "0"), (start + 16.0, "16")])
        .concat();
    let x = cells("key position: slopes 1/2, 1/8, 1/32", width, 16, false).ticks(&ticks);
    heat_map(
        (680, 270),
        &x,
        &cells("query", LENGTH, 16, true),
        &rows,
        (-16.0, 16.0),
    )
}

fn reach() -> Result<Drawing, FigureError> {
    let x = Axis::log("nearest tokens, the query's own included", 1.0, 4096.0).ticks(&[
        (1.0, "1"),
        (4.0, "4"),
        (16.0, "16"),
        (64.0, "64"),
        (256.0, "256"),
        (1024.0, "1024"),
        (4096.0, "4096"),
    ]);
    let y = Axis::linear("share of the attention weight", 0.0, 1.0);
    // A geometric series: the first n of the weights exp(-slope · distance), over all of them.
    let share = |slope: f64, tokens: f64| 1.0 - (-slope * tokens).exp();
    let curve = |label: &str, slope: f64| {
        let tokens = (0..=120).map(|step| 2f64.powf(f64::from(step) / 10.0));
        Series::line(label, tokens.map(|tokens| (tokens, share(slope, tokens))))
    };
    let series = [
        curve("1/2", 0.5),
        curve("1/4", 0.25),
        curve("1/16", 0.0625),
        curve("1/64", 0.015625),
        curve("1/256", 0.00390625),
    ];
    lines(&x, &y, &series, SeriesLabelPosition::LowerRight)
}
