//! Figures of chapter 1: who looks at whom, what a causal mask leaks, and where a position can go.

use ndarray::{Array2, array};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use positional_encoding::attention::{Mask, attention, scores, weights};

use crate::kit::{
    self, Axis, Drawing, INK, Root, SCALE, SERIES, Series, TEXT, lines, number, plot,
};
use crate::{Figure, FigureError};

pub(crate) const FIGURES: &[Figure] = &[
    Figure {
        name: "attention/weights",
        title: "Attention weights of the two sentences",
        draw: weights_of_both,
    },
    Figure {
        name: "attention/early-tokens",
        title: "Share of each token after one, two and three causal layers",
        draw: early_tokens,
    },
    Figure {
        name: "attention/counting",
        title: "What uniform attention onto a start token reads",
        draw: counting,
    },
    Figure {
        name: "attention/three-places",
        title: "Three places to put a position",
        draw: three_places,
    },
];

const THE: [f64; 4] = [0.1, 0.2, 0.1, 0.0];
const DOG: [f64; 4] = [0.9, 0.1, 0.0, 0.3];
const BIT: [f64; 4] = [0.0, 0.8, 0.5, 0.1];
const MAN: [f64; 4] = [0.8, 0.0, 0.2, 0.7];

fn weights_of_both() -> Result<Drawing, FigureError> {
    let first = array![THE, DOG, BIT, THE, MAN];
    let second = array![THE, MAN, BIT, THE, DOG];
    kit::draw(640, 266, |root| {
        let (left, right) = root.split_horizontally(320 * SCALE);
        weight_matrix(&left, &["the", "dog", "bit", "the", "man"], &first)?;
        weight_matrix(&right, &["the", "man", "bit", "the", "dog"], &second)
    })
}

fn weight_matrix(area: &Root, words: &[&str], x: &Array2<f64>) -> Result<(), FigureError> {
    let scores = scores(x.view(), x.view())?;
    let weights = weights(scores.view(), Mask::None);
    let outputs = weights.dot(x);
    let (left, top, side, strip) = (46, 50, 41, 14);
    let beside = left + 5 * side + 6;
    let heading = (left + 5 * side / 2, 12);
    text(area, &words.join(" "), heading, HPos::Center)?;
    text(area, "output", (beside + 2 * strip, top - 12), HPos::Center)?;
    for (row, query) in words.iter().enumerate() {
        let middle = top + side * row as i32 + side / 2;
        let roof = middle - side / 2;
        text(area, query, (left - 6, middle), HPos::Right)?;
        for (column, key) in words.iter().enumerate() {
            let centre = left + side * column as i32 + side / 2;
            if row == 0 {
                text(area, key, (centre, top - 12), HPos::Center)?;
            }
            let weight = weights[[row, column]];
            // At most 40 % of the colour, so that the number on top stays readable.
            let shade = SERIES[0].mix(((weight - 0.14) * 3.0).clamp(0.0, 0.4));
            let corner = (centre - side / 2, roof);
            rectangle(area, corner, (side - 2, side - 2), shade.filled())?;
            let centre = (centre - 1, middle - 1);
            text(area, &number(weight, 2), centre, HPos::Center)?;
        }
        for (entry, output) in outputs.row(row).iter().enumerate() {
            let shade = SERIES[1].mix((output * 1.8).clamp(0.0, 1.0));
            let corner = (beside + strip * entry as i32, roof);
            rectangle(area, corner, (strip - 2, side - 2), shade.filled())?;
        }
    }
    Ok(())
}

fn early_tokens() -> Result<Drawing, FigureError> {
    let seq_len = 12;
    let nothing = Array2::zeros((seq_len, 1));
    let mut shares = Array2::eye(seq_len);
    let mut series = Vec::new();
    for label in ["one layer", "two layers", "three layers"] {
        shares = attention(nothing.view(), nothing.view(), shares.view(), Mask::Causal)?;
        let last = shares.row(seq_len - 1);
        let points = last
            .iter()
            .enumerate()
            .map(|(token, share)| (token as f64 + 1.0, *share));
        series.push(Series::line(label, points));
    }
    let ticks: Vec<String> = (1..=seq_len).map(|token| token.to_string()).collect();
    let ticks: Vec<(f64, &str)> = (1..=seq_len)
        .map(|t| (t as f64, ticks[t - 1].as_str()))
        .collect();
    let x = Axis::linear("token, counted from 1", 1.0, seq_len as f64).ticks(&ticks);
    let y = Axis::linear("share in the last output", 0.0, 0.5);
    lines(&x, &y, &series, SeriesLabelPosition::UpperRight)
}

fn counting() -> Result<Drawing, FigureError> {
    let seq_len = 32;
    let nothing = Array2::zeros((seq_len, 1));
    let mut is_start = Array2::zeros((seq_len, 1));
    is_start[[0, 0]] = 1.0;
    let read = attention(
        nothing.view(),
        nothing.view(),
        is_start.view(),
        Mask::Causal,
    )?;
    let points = read
        .iter()
        .enumerate()
        .map(|(row, read)| (row as f64 + 1.0, *read));
    let x = Axis::linear("tokens so far", 0.0, 33.0).ticks(&[
        (1.0, "1"),
        (8.0, "8"),
        (16.0, "16"),
        (24.0, "24"),
        (32.0, "32"),
    ]);
    let y = Axis::linear("value read", 0.0, 1.05);
    lines(
        &x,
        &y,
        &[Series::dots("", points)],
        SeriesLabelPosition::UpperRight,
    )
}

fn three_places() -> Result<Drawing, FigureError> {
    kit::draw(640, 300, |root| {
        let boxes = [
            ("embedding", (24, 138), 96),
            ("query, key", (164, 138), 100),
            ("value", (164, 238), 100),
            ("score", (308, 138), 72),
            ("softmax", (424, 138), 82),
            ("output", (550, 238), 82),
        ];
        let height = 44;
        for (label, (left, top), width) in boxes {
            let (right, bottom) = (left + width, top + height);
            let corners = [
                (left, top),
                (right, top),
                (right, bottom),
                (left, bottom),
                (left, top),
            ];
            line(root, &corners, INK)?;
            let middle = (left + width / 2, top + height / 2);
            text(root, label, middle, HPos::Center)?;
        }
        for path in [
            &[(120, 160), (164, 160)][..],
            &[(140, 160), (140, 260), (164, 260)],
            &[(264, 160), (308, 160)],
            &[(380, 160), (424, 160)],
            &[(506, 160), (591, 160), (591, 238)],
            &[(264, 260), (550, 260)],
        ] {
            arrow(root, path, INK)?;
        }
        for (index, (place, schemes, chapter, centre)) in [
            ("1  input", "sinusoidal, learned", "chapters 2 and 4", 72),
            ("2  query and key", "RoPE", "chapter 3", 214),
            ("3  score", "T5, ALiBi", "chapter 4", 344),
        ]
        .into_iter()
        .enumerate()
        {
            let color = SERIES[index];
            text_in(root, place, (centre, 14), HPos::Center, color)?;
            text_in(root, schemes, (centre, 38), HPos::Center, color)?;
            text_in(root, chapter, (centre, 62), HPos::Center, color)?;
            arrow(root, &[(centre, 80), (centre, 136)], color)?;
        }
        Ok(())
    })
}

fn arrow(area: &Root, path: &[(i32, i32)], color: RGBColor) -> Result<(), FigureError> {
    line(area, path, color)?;
    let [.., from, tip] = path[..] else {
        return Ok(());
    };
    let step = ((tip.0 - from.0).signum(), (tip.1 - from.1).signum());
    let back = (tip.0 - step.0 * 8, tip.1 - step.1 * 8);
    let head = [
        tip,
        (back.0 + step.1 * 4, back.1 + step.0 * 4),
        (back.0 - step.1 * 4, back.1 - step.0 * 4),
    ];
    area.draw(&Polygon::new(scaled(&head), color.filled()))
        .map_err(plot)
}

fn line(area: &Root, path: &[(i32, i32)], color: RGBColor) -> Result<(), FigureError> {
    let style = color.stroke_width(SCALE as u32 * 3 / 2);
    area.draw(&PathElement::new(scaled(path), style))
        .map_err(plot)
}

fn scaled(path: &[(i32, i32)]) -> Vec<(i32, i32)> {
    path.iter().map(|(x, y)| (x * SCALE, y * SCALE)).collect()
}

fn rectangle(
    area: &Root,
    (left, top): (i32, i32),
    (width, height): (i32, i32),
    style: ShapeStyle,
) -> Result<(), FigureError> {
    let from = (left * SCALE, top * SCALE);
    let to = ((left + width) * SCALE, (top + height) * SCALE);
    area.draw(&Rectangle::new([from, to], style)).map_err(plot)
}

fn text(area: &Root, text: &str, at: (i32, i32), align: HPos) -> Result<(), FigureError> {
    text_in(area, text, at, align, INK)
}

fn text_in(
    area: &Root,
    text: &str,
    (x, y): (i32, i32),
    align: HPos,
    color: RGBColor,
) -> Result<(), FigureError> {
    let style = ("sans-serif", TEXT)
        .into_font()
        .color(&color)
        .pos(Pos::new(align, VPos::Center));
    let place = (x * SCALE, y * SCALE);
    area.draw(&Text::new(text, place, style)).map_err(plot)
}
