//! Figures that the page brings to life, in the state in which it finds them.
//!
//! They are laid out as the scripts in `code/widgets/page` lay out theirs.

use std::fmt::Display;

use positional_encoding::rope::{self, Layout};
use positional_encoding::{Direction, alibi, sinusoidal};

use crate::kit::{Drawing, image_uri, number};
use crate::{Figure, FigureError};

/// What the live pages show at first.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "live/waves",
        title: "The stamp of position 20, and the stamps of all positions up to it",
        draw: waves,
    },
    Figure {
        name: "live/similarity",
        title: "The stamp of position 40, and its similarity with positions 0 to 127",
        draw: similarity,
    },
    Figure {
        name: "live/arrows",
        title: "Query at position 5 and key at position 8",
        draw: arrows,
    },
    Figure {
        name: "live/layouts",
        title: "The score of a query and a key that are rotated in different layouts",
        draw: layouts,
    },
    Figure {
        name: "live/bias",
        title: "The bias of head 3 of 8 of ALiBi",
        draw: bias,
    },
];

const WIDTH: i32 = 640;

fn waves() -> Result<Drawing, FigureError> {
    let (position, d_model) = (20, 32);
    let table = sinusoidal::table(position + 1, d_model)?;
    let (left, right, grid, bottom) = (52.0, 632.0, 150.0, 400.0);
    let x = scale([0.0, d_model as f64], [left, right]);
    let y = scale([1.0, -1.0], [12.0, 112.0]);
    let mut markup = Vec::new();
    for tick in [1.0, 0.0, -1.0] {
        markup.push(level(left, right, y(tick)));
        markup.push(text(left - 8.0, y(tick) + 5.0, "end", number(tick, 0)));
    }
    let last = table.row(position);
    let points = last
        .iter()
        .enumerate()
        .map(|(i, &entry)| (x(i as f64 + 0.5), y(entry)));
    let points: Vec<(f64, f64)> = points.collect();
    markup.push(curve(&points, 1));
    markup.extend(points.iter().map(|&point| dot(point, 3, 1)));
    let rows: Vec<Vec<f64>> = table.rows().into_iter().map(|row| row.to_vec()).collect();
    let height = (bottom - grid) / rows.len() as f64;
    let image = image_uri(&rows, (-1.0, 1.0))?;
    markup.push(picture(&image, [left, grid, right - left, bottom - grid]));
    markup.push(outline([left, bottom - height, right - left, height], 2));
    for row in [0, 4, 8, 12, 16, position] {
        let place = grid + height * (row as f64 + 0.5) + 5.0;
        markup.push(text(left - 8.0, place, "end", row));
    }
    let middle = (left + right) / 2.0;
    let caption = "entries of position 20, above; all positions so far, below";
    markup.push(text(middle, 136.0, "middle", caption));
    markup.push(text(x(0.5), bottom + 20.0, "start", 0));
    markup.push(text(
        x(d_model as f64 - 0.5),
        bottom + 20.0,
        "end",
        d_model - 1,
    ));
    markup.push(text(middle, bottom + 20.0, "middle", "entry"));
    Ok(Drawing::from_markup(WIDTH, 440, &markup))
}

fn similarity() -> Result<Drawing, FigureError> {
    let (position, d_model, positions) = (40, 64, 128);
    let inv_freq = sinusoidal::inv_freq(d_model)?;
    let (left, right) = (52.0, 632.0);
    let entry = scale([0.0, d_model as f64], [left, right]);
    let value = scale([1.0, -1.0], [12.0, 112.0]);
    let x = scale([0.0, 127.0], [left + 4.0, right - 4.0]);
    let y = scale([1.0, -0.5], [160.0, 330.0]);
    let mut markup = vec![level(left, right, value(0.0))];
    for tick in [1.0, 0.0, -1.0] {
        markup.push(text(left - 8.0, value(tick) + 5.0, "end", number(tick, 0)));
    }
    for (i, &bar) in sinusoidal::encoding(position, d_model)?.iter().enumerate() {
        let (top, height) = (value(bar.max(0.0)), (value(bar) - value(0.0)).abs());
        let width = (right - left) / d_model as f64 - 1.0;
        markup.push(format!(
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"var(--figure-{})\"/>",
            entry(i as f64),
            i % 2 + 1
        ));
    }
    let middle = (left + right) / 2.0;
    let caption = "the 64 entries of position 40: sines blue, cosines orange";
    markup.push(text(middle, 134.0, "middle", caption));
    for tick in [1.0, 0.5, 0.0, -0.5] {
        markup.push(level(left, right, y(tick)));
        markup.push(text(left - 8.0, y(tick) + 5.0, "end", number(tick, 1)));
    }
    let points: Vec<(f64, f64)> = (0..positions)
        .map(|other| {
            let product = sinusoidal::dot_product(other - position as i64, &inv_freq);
            (x(other as f64), y(product / inv_freq.len() as f64))
        })
        .collect();
    markup.push(curve(&points, 1));
    markup.push(dot(points[position], 5, 2));
    for tick in [0, 32, 64, 96, 127] {
        markup.push(text(x(f64::from(tick)), 350.0, "middle", tick));
    }
    markup.push(text(
        middle,
        372.0,
        "middle",
        "similarity with every position",
    ));
    Ok(Drawing::from_markup(WIDTH, 380, &markup))
}

fn arrows() -> Result<Drawing, FigureError> {
    let (middle, unit) = ((320.0, 130.0), 48.0);
    let mut markup = vec![
        level(middle.0 - 130.0, middle.0 + 130.0, middle.1),
        format!(
            "<path d=\"M{0} 4V256\" stroke=\"var(--figure-grid)\"/>\
             <circle cx=\"{0}\" cy=\"{1}\" r=\"{2:.1}\" fill=\"none\" stroke=\"var(--figure-grid)\"/>",
            middle.0,
            middle.1,
            unit * 5f64.sqrt()
        ),
    ];
    let x = scale([0.0, 120.0], [28.0, 612.0]);
    let arrows = [
        ([2.0, 1.0], 5, "q", "none", 1),
        ([1.0, 2.0], 8, "k", "8 4", 2),
    ];
    markup.push("<path d=\"M28 290H612\" stroke=\"currentColor\"/>".into());
    for (vector, position, name, dashes, color) in arrows {
        let [right, up] = rope::rotate_pair(vector, f64::from(position) * 0.25);
        let tip = (middle.0 + unit * right, middle.1 - unit * up);
        let angle = up.atan2(right);
        let back = |turn: f64| {
            let (sin, cos) = (angle + turn).sin_cos();
            (tip.0 - 10.0 * cos, tip.1 + 10.0 * sin)
        };
        let (one, other) = (back(0.42), back(-0.42));
        markup.push(format!(
            "<path d=\"M{} {}L{:.1} {:.1}\" stroke=\"var(--figure-{color})\" stroke-width=\"2\" \
             stroke-dasharray=\"{dashes}\"/><path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z\" \
             fill=\"var(--figure-{color})\"/>",
            middle.0, middle.1, tip.0, tip.1, tip.0, tip.1, one.0, one.1, other.0, other.1
        ));
        let (sin, cos) = angle.sin_cos();
        let place = (tip.0 + 14.0 * cos, tip.1 - 14.0 * sin + 5.0);
        markup.push(text(place.0, place.1, "middle", name));
        markup.push(dot((x(f64::from(position)), 290.0), 9, color));
        markup.push(text(x(f64::from(position)), 276.0, "middle", name));
    }
    for tick in [0, 30, 60, 90, 120] {
        markup.push(text(x(f64::from(tick)), 320.0, "middle", tick));
    }
    Ok(Drawing::from_markup(WIDTH, 336, &markup))
}

fn layouts() -> Result<Drawing, FigureError> {
    let inv_freq = rope::inv_freq(4, 10_000.0)?;
    let score = |position: usize, key_layout: Layout| -> Result<f64, FigureError> {
        let (mut q, mut k) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]);
        rope::rotate(&mut q, position, &inv_freq, Layout::Interleaved)?;
        rope::rotate(&mut k, position - 2, &inv_freq, key_layout)?;
        Ok(q.iter().zip(&k).map(|(a, b)| a * b).sum())
    };
    let mut markup = Vec::new();
    let rows = [
        ("weights", Layout::Interleaved, 4.0),
        ("query", Layout::Interleaved, 40.0),
        ("key", Layout::Half, 76.0),
    ];
    for (name, layout, top) in rows {
        markup.push(text(0.0, top + 21.0, "start", name));
        for pair in 0..2 {
            for entry in layout.pair(pair, 2) {
                let left = 200.0 + 44.0 * entry as f64;
                markup.push(format!(
                    "<rect x=\"{left}\" y=\"{top}\" width=\"40\" height=\"30\" \
                     stroke=\"currentColor\" fill=\"var(--figure-{})\" fill-opacity=\"0.25\"/>",
                    pair + 1
                ));
                markup.push(text(left + 20.0, top + 21.0, "middle", pair));
            }
        }
    }
    markup.push(text(
        0.0,
        132.0,
        "start",
        "score of the two tokens at offset −2",
    ));
    let (left, right) = (52.0, 630.0);
    let trained = score(2, Layout::Interleaved)?;
    let mut scores = Vec::new();
    for position in 2..=40 {
        scores.push(score(position, Layout::Half)?);
    }
    let all = || scores.iter().copied().chain([trained, 0.0]);
    let low = (all().fold(f64::MAX, f64::min) / 5.0).floor() * 5.0;
    let high = ((all().fold(f64::MIN, f64::max) + 0.01) / 5.0).ceil() * 5.0;
    let x = scale([2.0, 40.0], [left, right]);
    let y = scale([low, high], [330.0, 150.0]);
    let mut tick = low;
    while tick <= high {
        markup.push(level(left, right, y(tick)));
        markup.push(text(left - 8.0, y(tick) + 5.0, "end", number(tick, 0)));
        tick += 5.0;
    }
    markup.push(format!(
        "<path d=\"M{left} {0:.1}H{right}\" stroke=\"var(--figure-3)\" stroke-width=\"2\" \
         stroke-dasharray=\"8 4\"/>",
        y(trained)
    ));
    markup.push(text(right, y(trained) - 6.0, "end", "as in training"));
    let points = scores
        .iter()
        .enumerate()
        .map(|(i, &score)| (x(i as f64 + 2.0), y(score)));
    markup.push(curve(&points.collect::<Vec<_>>(), 1));
    for tick in [2, 10, 20, 30, 40] {
        markup.push(text(x(f64::from(tick)), 352.0, "middle", tick));
    }
    let middle = (left + right) / 2.0;
    markup.push(text(middle, 374.0, "middle", "position of the query"));
    Ok(Drawing::from_markup(WIDTH, 384, &markup))
}

fn bias() -> Result<Drawing, FigureError> {
    let (query, key, positions) = (40, 33, (0..64).collect::<Vec<usize>>());
    let slopes = alibi::slopes(8)?;
    let bias = alibi::bias(&slopes[2..3], &positions, &positions, Direction::Causal);
    let matrix = bias.index_axis(ndarray::Axis(0), 0);
    let lowest = matrix
        .iter()
        .copied()
        .filter(|b| b.is_finite())
        .fold(0.0, f64::min);
    let rows: Vec<Vec<f64>> = matrix.rows().into_iter().map(|row| row.to_vec()).collect();
    let image = image_uri(&rows, (lowest, -lowest))?;
    let (left, top, side) = (36.0, 8.0, 300.0);
    let cell = side / 64.0;
    let [down, across] = [query, key].map(|place| place as f64 * cell);
    let mut markup = vec![
        picture(&image, [left, top, side, side]),
        // What the mask hides is no bias, so the picture leaves it out.
        format!(
            "<path d=\"M{} {top}H{}V{}z\" fill=\"var(--figure-background)\"/>",
            left + cell,
            left + side,
            top + side - cell
        ),
        outline([left, top, side, side], 1),
        outline([left, top + down, side, cell], 1),
        outline(
            [
                left + across - 2.0,
                top + down - 2.0,
                cell + 4.0,
                cell + 4.0,
            ],
            2,
        ),
    ];
    for tick in [0, 32, 63] {
        let place = f64::from(tick) * cell;
        markup.push(text(left - 6.0, top + place + 9.0, "end", tick));
        markup.push(text(
            left + place + cell / 2.0,
            top + side + 18.0,
            "middle",
            tick,
        ));
    }
    let caption = "key across, query down";
    markup.push(text(
        left + side / 2.0,
        top + side + 36.0,
        "middle",
        caption,
    ));
    let (from, to, high, low) = (406.0, 632.0, 20.0, 280.0);
    let x = scale([0.0, 63.0], [from, to]);
    let y = scale([0.0, lowest], [high, low]);
    for (place, value) in [(high, 0.0), (low, lowest)] {
        markup.push(level(from, to, place));
        markup.push(text(from - 6.0, place + 5.0, "end", number(value, 1)));
    }
    let visible = matrix.row(query).to_vec();
    let points = visible
        .iter()
        .enumerate()
        .filter(|(_, bias)| bias.is_finite());
    let points: Vec<(f64, f64)> = points.map(|(i, &bias)| (x(i as f64), y(bias))).collect();
    markup.push(curve(&points, 1));
    markup.push(dot(points[key], 5, 2));
    let caption = "bias of query 40, by key";
    markup.push(text((from + to) / 2.0, 304.0, "middle", caption));
    Ok(Drawing::from_markup(WIDTH, 352, &markup))
}

fn scale([from, to]: [f64; 2], [start, end]: [f64; 2]) -> impl Fn(f64) -> f64 {
    move |value| start + (value - from) / (to - from) * (end - start)
}

fn text(x: f64, y: f64, anchor: &str, words: impl Display) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>")
}

fn level(from: f64, to: f64, y: f64) -> String {
    format!("<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"var(--figure-grid)\"/>")
}

fn curve(points: &[(f64, f64)], color: usize) -> String {
    let path: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1} {y:.1}"))
        .collect();
    format!(
        "<path d=\"M{}\" fill=\"none\" stroke=\"var(--figure-{color})\" stroke-width=\"2\"/>",
        path.join("L")
    )
}

fn dot((x, y): (f64, f64), radius: usize, color: usize) -> String {
    format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"var(--figure-{color})\"/>")
}

fn outline([x, y, width, height]: [f64; 4], line: usize) -> String {
    format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" \
         stroke=\"currentColor\" stroke-width=\"{line}\"/>"
    )
}

fn picture(uri: &str, [x, y, width, height]: [f64; 4]) -> String {
    format!(
        "<image x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"{uri}\"/>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_live_figure_draws() {
        for figure in FIGURES {
            let drawing = (figure.draw)().expect(figure.name);
            let svg = drawing.into_svg(figure.name, figure.title, "alt");
            assert!(
                !svg.contains("NaN") && !svg.contains("inf"),
                "{}",
                figure.name
            );
        }
    }
}
