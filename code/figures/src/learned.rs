//! Figures of learned position tables.

use std::sync::LazyLock;

use ndarray::Array2;
use plotters::prelude::SeriesLabelPosition;
use positional_encoding::{learned, sinusoidal};

use crate::kit::{Axis, Drawing, Series, cells, heat_map, lines};
use crate::{Figure, FigureError};

/// The figures of this module.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "learned/training",
        title: "Similarity of the rows of a position table before and after training",
        draw: training,
    },
    Figure {
        name: "learned/minilm-similarity",
        title: "Similarity of the rows of the position table of all-MiniLM-L6-v2",
        draw: minilm,
    },
    Figure {
        name: "learned/similarity-by-distance",
        title: "Mean similarity of two rows by their distance, learned and sinusoidal",
        draw: similarity_by_distance,
    },
];

/// The learned position table of all-MiniLM-L6-v2, an encoder of the BERT family.
///
/// Shape `(512, 384)`; origin and licence stand beside the data.
pub fn minilm_table() -> Array2<f64> {
    let bytes = include_bytes!("../data/minilm-l6-position-embeddings.f16");
    Array2::from_shape_fn((512, 384), |(row, column)| {
        let at = 2 * (row * 384 + column);
        half_precision(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    })
}

/// The similarity of every pair of rows of [`minilm_table`], computed once.
///
/// Shape `(512, 512)`; see [`learned::similarity`].
pub fn minilm_similarity() -> &'static Array2<f64> {
    static SIMILARITY: LazyLock<Array2<f64>> =
        LazyLock::new(|| learned::similarity(minilm_table().view()));
    &SIMILARITY
}

/// The value of a finite IEEE half-precision number.
fn half_precision(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023) / 1024.0;
    match exponent {
        0 => sign * fraction * 2f64.powi(-14),
        _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

/// The mean of a square matrix along each diagonal: entry `k` is the mean over all pairs `k` apart.
pub fn mean_by_distance(similarity: &Array2<f64>) -> Vec<f64> {
    let length = similarity.nrows();
    (0..length)
        .map(|distance| {
            let pairs = 0..length - distance;
            let sum: f64 = pairs
                .clone()
                .map(|row| similarity[[row, row + distance]])
                .sum();
            sum / pairs.len() as f64
        })
        .collect()
}

/// The share of the variance of the entries off the diagonal that their distance from it explains.
pub fn explained_by_distance(similarity: &Array2<f64>) -> f64 {
    let by_distance = mean_by_distance(similarity);
    let pairs = || {
        let entries = similarity.indexed_iter();
        entries
            .filter(|((row, column), _)| row != column)
            .map(|((row, column), value)| (*value, by_distance[row.abs_diff(column)]))
    };
    let count = pairs().count() as f64;
    let mean = pairs().map(|(value, _)| value).sum::<f64>() / count;
    let total: f64 = pairs().map(|(value, _)| (value - mean).powi(2)).sum();
    let left: f64 = pairs()
        .map(|(value, expected)| (value - expected).powi(2))
        .sum();
    1.0 - left / total
}

/// The table of the chapter, before its training and after it.
fn trained_table() -> Result<[Array2<f64>; 2], FigureError> {
    let before = learned::random_table(48, 16, 1);
    let mut after = before.clone();
    learned::train(&mut after, learned::neighbourhood(48, 2).view(), 4.0, 200)?;
    Ok([before, after])
}

fn training() -> Result<Drawing, FigureError> {
    const GAP: usize = 4;
    let [before, after] = trained_table()?.map(|table| learned::similarity(table.view()));
    let rows: Vec<Vec<f64>> = (0..48)
        .map(|row| {
            let gap = [0.0; GAP];
            before
                .row(row)
                .iter()
                .chain(&gap)
                .chain(after.row(row))
                .copied()
                .collect()
        })
        .collect();
    let after_zero = 48.5 + GAP as f64;
    let x = cells(
        "row: before training (left), after it (right)",
        96 + GAP,
        16,
        false,
    )
    .ticks(&[
        (0.5, "0"),
        (16.5, "16"),
        (32.5, "32"),
        (after_zero, "0"),
        (after_zero + 16.0, "16"),
        (after_zero + 32.0, "32"),
    ]);
    heat_map(
        (640, 330),
        &x,
        &cells("row", 48, 16, true),
        &rows,
        (-1.0, 1.0),
    )
}

fn minilm() -> Result<Drawing, FigureError> {
    let similarity = minilm_similarity();
    // Each cell is the mean of two rows by two columns: a quarter of the bytes, the same bands.
    let rows: Vec<Vec<f64>> = (0..256)
        .map(|row| {
            let mean = |column: usize| {
                let block = similarity.slice(ndarray::s![
                    2 * row..2 * row + 2,
                    2 * column..2 * column + 2
                ]);
                block.sum() / 4.0
            };
            (0..256).map(mean).collect()
        })
        .collect();
    let ticks = [(0.0, "0"), (64.0, "128"), (128.0, "256"), (192.0, "384")];
    let x = cells("row", 256, 64, false).ticks(&ticks);
    let y = cells("row", 256, 64, true).ticks(&ticks);
    heat_map((640, 560), &x, &y, &rows, (-1.0, 1.0))
}

fn similarity_by_distance() -> Result<Drawing, FigureError> {
    let real = mean_by_distance(minilm_similarity());
    let [_, small] = trained_table()?;
    let small = mean_by_distance(&learned::similarity(small.view()));
    let sinusoid = sinusoidal::table(512, 384)?;
    let sinusoid = mean_by_distance(&learned::similarity(sinusoid.view()));
    let x = Axis::linear("distance (positions)", 0.0, 64.0);
    let y = Axis::linear("mean cosine similarity", -0.5, 1.0);
    let points = |curve: &[f64], end: usize| -> Vec<(f64, f64)> {
        (0..=end)
            .map(|distance| (distance as f64, curve[distance]))
            .collect()
    };
    let series = [
        Series::line("learned: MiniLM", points(&real, 64)),
        Series::line("learned: our 48 rows", points(&small, 40)),
        Series::line("sinusoidal", points(&sinusoid, 64)),
    ];
    lines(&x, &y, &series, SeriesLabelPosition::UpperRight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_read_as_they_are_defined() {
        assert_eq!(half_precision(0x3c00), 1.0);
        assert_eq!(half_precision(0xc000), -2.0);
        assert_eq!(half_precision(0x3555), 0.333251953125);
        assert_eq!(half_precision(0x0001), 2f64.powi(-24)); // the smallest above zero
        assert_eq!(half_precision(0x0400), 2f64.powi(-14)); // the smallest normal one
    }

    #[test]
    fn a_matrix_of_distances_is_explained_by_distance() {
        let matrix = Array2::from_shape_fn((9, 9), |(a, b)| (a.abs_diff(b) as f64).sqrt());
        assert_eq!(mean_by_distance(&matrix)[4], 2.0);
        assert!((explained_by_distance(&matrix) - 1.0).abs() < 1e-12);
    }
}
