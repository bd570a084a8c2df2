//! What every figure is drawn with: a canvas, axes with chosen ticks, lines, and heat maps.
//!
//! The page's theme colours the figure: drawing code uses the sentinel colours [`INK`], [`GRID`],
//! [`PAPER`] and [`SERIES`], and [`Drawing::into_svg`] replaces them by `currentColor` and CSS
//! variables. A series has a dash pattern of its own, so that colour is never the only carrier.

use base64::Engine;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::Text as Label;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

use crate::FigureError;

/// Plotters rounds to whole units, so a figure is drawn ten times its size in CSS pixels.
pub const SCALE: i32 = 10;
/// Height of the text, in canvas units.
pub const TEXT: i32 = 15 * SCALE;
/// Lines and letters: the page's text colour.
pub const INK: RGBColor = RGBColor(1, 2, 3);
/// Thin lines that guide the eye.
pub const GRID: RGBColor = RGBColor(4, 5, 6);
/// What a legend or label lies on: the page's background.
pub const PAPER: RGBColor = RGBColor(7, 8, 9);
/// The colours of series, told apart without colour by their dashes.
pub const SERIES: [RGBColor; 6] = [
    RGBColor(11, 0, 1),
    RGBColor(12, 0, 1),
    RGBColor(13, 0, 1),
    RGBColor(14, 0, 1),
    RGBColor(15, 0, 1),
    RGBColor(16, 0, 1),
];
const DASHES: [&str; 6] = ["none", "80 40", "20 35", "120 35 20 35", "45 25", "140 50"];

/// The whole canvas, before it is split or given axes.
pub type Root<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A plotting area with the ticks the figure chose.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// A finished figure that still lacks its description.
pub struct Drawing {
    width: i32,
    height: i32,
    body: String,
}

/// Draws on a canvas of `width` by `height` CSS pixels.
///
/// # Errors
///
/// What `paint` returns.
pub fn draw(
    width: i32,
    height: i32,
    paint: impl FnOnce(&Root) -> Result<(), FigureError>,
) -> Result<Drawing, FigureError> {
    let mut svg = String::new();
    {
        let size = ((width * SCALE) as u32, (height * SCALE) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        paint(&root)?;
        root.present().map_err(plot)?;
    }
    let open = svg.find('>').map_or(0, |end| end + 1);
    let close = svg.rfind("</svg>").unwrap_or(svg.len());
    Ok(Drawing {
        width: width * SCALE,
        height: height * SCALE,
        body: svg[open..close].trim().to_owned(),
    })
}

impl Drawing {
    /// A drawing from SVG markup in CSS pixels, for what needs no axes.
    pub(crate) fn from_markup(width: i32, height: i32, markup: &[String]) -> Drawing {
        let size = TEXT / SCALE;
        let body = format!(
            "<g transform=\"scale({SCALE})\" font-family=\"sans-serif\" font-size=\"{size}\" \
             fill=\"currentColor\">\n{}\n</g>",
            markup.join("\n")
        );
        Drawing {
            width: width * SCALE,
            height: height * SCALE,
            body,
        }
    }

    /// The inline SVG element: named, described, coloured by the page.
    pub fn into_svg(self, name: &str, title: &str, alt: &str) -> String {
        let id = format!("figure-{}", name.replace('/', "-"));
        let mut body = self.body;
        for (color, css) in [
            (INK, "currentColor"),
            (GRID, "var(--figure-grid)"),
            (PAPER, "var(--bg)"),
        ] {
            body = body.replace(&hex(color), css);
        }
        for (index, (color, dash)) in SERIES.into_iter().zip(DASHES).enumerate() {
            let css = format!("var(--figure-{})", index + 1);
            body = body.replace(
                &format!("stroke=\"{}\"", hex(color)),
                &format!("stroke=\"{css}\" stroke-dasharray=\"{dash}\""),
            );
            body = body.replace(&hex(color), &css);
        }
        // A dollar would be taken for mathematics, a blank line would end the block of HTML.
        let body = body.replace('$', "&#36;");
        let body: Vec<&str> = body
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{id}-title\" \
             aria-describedby=\"{id}-desc\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{}\n</svg>",
            self.width,
            self.height,
            escape(title),
            escape(alt),
            body.join("\n"),
        )
    }
}

/// One axis: what it measures, from where to where, and where it is ticked.
#[derive(Debug, Clone)]
pub struct Axis {
    label: String,
    from: f64,
    to: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis with about five round ticks. The label names the quantity and its unit.
    pub fn linear(label: &str, from: f64, to: f64) -> Axis {
        let step = round_step((to - from) / 5.0);
        let first = (from / step).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let ticks = (first..=last).map(|n| {
            let value = n as f64 * step;
            (value, number(value, decimals))
        });
        Axis {
            label: label.into(),
            from,
            to,
            logarithmic: false,
            ticks: ticks.collect(),
        }
    }

    /// A logarithmic axis ticked at the powers of ten. Both ends are above zero.
    pub fn log(label: &str, from: f64, to: f64) -> Axis {
        let (first, last) = (from.log10().ceil() as i32, to.log10().floor() as i32);
        let every = ((last - first) / 6 + 1).max(1);
        let ticks = (first..=last)
            .step_by(every as usize)
            .map(|power| (10f64.powi(power), power_of_ten(power)));
        Axis {
            label: label.into(),
            from,
            to,
            logarithmic: true,
            ticks: ticks.collect(),
        }
    }

    /// The same axis with ticks of the figure's own choosing.
    pub fn ticks(mut self, ticks: &[(f64, &str)]) -> Axis {
        self.ticks = ticks
            .iter()
            .map(|(value, label)| (*value, label.to_string()))
            .collect();
        self
    }

    /// Where a value lies in the chart's own coordinates.
    pub fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.log10()
        } else {
            value
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (start, end): (i32, i32)) -> i32 {
        let range = Ranged::range(self);
        let part = (place - range.start) / (range.end - range.start);
        start + (part * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks
            .iter()
            .map(|(value, _)| self.place(*value))
            .collect()
    }

    fn range(&self) -> Range<f64> {
        self.place(self.from)..self.place(self.to)
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, place: &f64) -> String {
        let tick = self
            .ticks
            .iter()
            .find(|(value, _)| self.place(*value) == *place);
        tick.map_or(String::new(), |(_, label)| label.clone())
    }
}

/// Gives the area axes with a grid, their labels and their ticks.
///
/// # Errors
///
/// [`FigureError::Plot`] where plotters refuses.
pub fn chart<'a, 'b>(area: &'a Root<'b>, x: &Axis, y: &Axis) -> Result<Chart<'a, 'b>, FigureError> {
    let widest = y
        .ticks
        .iter()
        .map(|(_, label)| label.chars().count())
        .max()
        .unwrap_or(1);
    let mut chart = ChartBuilder::on(area)
        .margin(10 * SCALE)
        .margin_right(16 * SCALE)
        .x_label_area_size(44 * SCALE)
        .y_label_area_size((34 + 8 * widest as i32) * SCALE)
        .build_cartesian_2d(x.clone(), y.clone())
        .map_err(plot)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(SCALE as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(INK.stroke_width(SCALE as u32))
        .label_style(("sans-serif", TEXT).into_font().color(&INK))
        .axis_desc_style(("sans-serif", TEXT).into_font().color(&INK))
        .x_desc(&x.label)
        .y_desc(&y.label)
        .set_all_tick_mark_size(4 * SCALE)
        .draw()
        .map_err(plot)?;
    Ok(chart)
}

/// A curve and the name it has in the legend.
#[derive(Debug, Clone)]
pub struct Series {
    /// The name in the legend; an empty one is left out of it.
    pub label: String,
    /// `(x, y)` in the axes' own units.
    pub points: Vec<(f64, f64)>,
    /// Dots at the points instead of a line through them.
    pub dots: bool,
}

impl Series {
    /// A line through the points.
    pub fn line(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series {
            label: label.into(),
            points: points.into_iter().collect(),
            dots: false,
        }
    }

    /// A dot at each point.
    pub fn dots(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series {
            dots: true,
            ..Series::line(label, points)
        }
    }
}

/// Draws the series onto the chart, each in its colour and dashes, and a legend in the corner
/// where there are names to tell apart.
///
/// # Errors
///
/// [`FigureError::Plot`] where plotters refuses.
pub fn plot_series<'a, 'b: 'a>(
    chart: &mut Chart<'a, 'b>,
    x: &Axis,
    y: &Axis,
    series: &[Series],
    legend: SeriesLabelPosition,
) -> Result<(), FigureError> {
    for (index, one) in series.iter().enumerate() {
        let color = SERIES[index % SERIES.len()];
        let points = one.points.iter().map(|(a, b)| (x.place(*a), y.place(*b)));
        let drawn = if one.dots {
            let dots = points.map(|point| Circle::new(point, 3 * SCALE, color.filled()));
            chart.draw_series(dots).map_err(plot)?
        } else {
            let style = color.stroke_width(2 * SCALE as u32);
            chart
                .draw_series(LineSeries::new(points, style))
                .map_err(plot)?
        };
        if one.label.is_empty() {
            continue;
        }
        let drawn = drawn.label(&one.label);
        if one.dots {
            drawn.legend(move |(left, middle)| {
                Circle::new((left + 12 * SCALE, middle), 3 * SCALE, color.filled())
            });
        } else {
            drawn.legend(move |(left, middle)| {
                let ends = vec![(left, middle), (left + 26 * SCALE, middle)];
                PathElement::new(ends, color.stroke_width(2 * SCALE as u32))
            });
        }
    }
    if series.iter().any(|one| !one.label.is_empty()) {
        chart
            .configure_series_labels()
            .position(legend)
            .margin(6 * SCALE)
            .legend_area_size(32 * SCALE)
            .background_style(PAPER.mix(0.85))
            .border_style(GRID)
            .label_font(("sans-serif", TEXT).into_font().color(&INK))
            .draw()
            .map_err(plot)?;
    }
    Ok(())
}

/// One chart, one pair of axes, some series: most figures are this.
///
/// # Errors
///
/// [`FigureError::Plot`] where plotters refuses.
pub fn lines(
    x: &Axis,
    y: &Axis,
    series: &[Series],
    legend: SeriesLabelPosition,
) -> Result<Drawing, FigureError> {
    draw(640, 400, |root| {
        let mut chart = chart(root, x, y)?;
        plot_series(&mut chart, x, y, series, legend)
    })
}

/// Writes a text in the page's colour, its middle at `(x, y)` CSS pixels.
///
/// # Errors
///
/// [`FigureError::Plot`] where plotters refuses.
pub fn write(root: &Root, text: &str, (x, y): (i32, i32)) -> Result<(), FigureError> {
    let style: TextStyle = ("sans-serif", TEXT).into_font().color(&INK);
    let style = style
        .pos(Pos::new(HPos::Center, VPos::Center))
        .into_text_style(root);
    let label = Label::new(text.to_owned(), (x * SCALE, y * SCALE), style);
    root.draw(&label).map_err(plot)
}

/// A matrix as an image, with axes. `rows[r][c]` lies between `low` and `high`; row 0 is on top.
///
/// The colours run from blue (`low`) over near-white to red (`high`) in every theme, and their
/// lightness alone tells the middle from the ends. A scale stands on the right.
///
/// # Errors
///
/// [`FigureError::Plot`] where plotters or the image encoder refuses, or the rows are ragged.
pub fn heat_map(
    size: (i32, i32),
    x: &Axis,
    y: &Axis,
    rows: &[Vec<f64>],
    (low, high): (f64, f64),
) -> Result<Drawing, FigureError> {
    let image = image_uri(rows, (low, high))?;
    let ramp: Vec<Vec<f64>> = (0..256)
        .map(|step| vec![high + (low - high) * f64::from(step) / 255.0])
        .collect();
    let ramp = image_uri(&ramp, (low, high))?;
    let mut images = String::new();
    let mut drawing = draw(size.0, size.1, |root| {
        let (left, right) = root.split_horizontally((size.0 - 116) * SCALE);
        let nothing = Axis::linear("", 0.0, 1.0).ticks(&[]);
        let value = Axis::linear("", low, high);
        for (area, x, y, uri) in [(&left, x, y, &image), (&right, &nothing, &value, &ramp)] {
            let chart = chart(area, x, y)?;
            let (across, down) = chart.plotting_area().get_pixel_range();
            images.push_str(&format!(
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                 style=\"image-rendering:pixelated\" href=\"{uri}\"/>\n",
                across.start,
                down.start,
                across.end - across.start,
                down.end - down.start,
            ));
        }
        Ok(())
    })?;
    drawing.body.push('\n');
    drawing.body.push_str(images.trim_end());
    Ok(drawing)
}

/// An axis for the rows or columns of a heat map: from the first edge to the last, with row 0 on
/// top when `downward`.
pub fn cells(label: &str, count: usize, every: usize, downward: bool) -> Axis {
    let ticks: Vec<(f64, String)> = (0..count)
        .step_by(every.max(1))
        .map(|cell| (cell as f64 + 0.5, cell.to_string()))
        .collect();
    let (from, to) = if downward {
        (count as f64, 0.0)
    } else {
        (0.0, count as f64)
    };
    Axis {
        label: label.into(),
        from,
        to,
        logarithmic: false,
        ticks,
    }
}

/// Values between `low` and `high` as a picture, one pixel a cell, in the colours of [`heat_map`].
pub(crate) fn image_uri(rows: &[Vec<f64>], (low, high): (f64, f64)) -> Result<String, FigureError> {
    let width = rows.first().map_or(0, Vec::len);
    if width == 0 || rows.iter().any(|row| row.len() != width) {
        return Err(FigureError::Plot(
            "a heat map needs rows of one length".into(),
        ));
    }
    let level = |value: &f64| {
        ((value - low) / (high - low) * 255.0)
            .round()
            .clamp(0.0, 255.0) as u8
    };
    let pixels: Vec<u8> = rows.iter().flatten().map(level).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, rows.len() as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette((0..=255u8).flat_map(diverging).collect::<Vec<u8>>());
    let mut writer = encoder.write_header().map_err(plot)?;
    writer.write_image_data(&pixels).map_err(plot)?;
    writer.finish().map_err(plot)?;
    let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(format!("data:image/png;base64,{text}"))
}

/// Blue over near-white to red, dark at both ends.
fn diverging(level: u8) -> [u8; 3] {
    const STOPS: [[f64; 3]; 5] = [
        [16.0, 48.0, 110.0],
        [92.0, 150.0, 205.0],
        [246.0, 246.0, 242.0],
        [226.0, 132.0, 88.0],
        [128.0, 22.0, 30.0],
    ];
    let place = f64::from(level) / 255.0 * 4.0;
    let stop = (place as usize).min(3);
    let part = place - stop as f64;
    std::array::from_fn(|channel| {
        let (from, to) = (STOPS[stop][channel], STOPS[stop + 1][channel]);
        (from + (to - from) * part).round() as u8
    })
}

fn round_step(rough: f64) -> f64 {
    let unit = 10f64.powf(rough.abs().log10().floor());
    let times = rough.abs() / unit;
    unit * [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|step| times <= step * 1.0001)
        .unwrap_or(10.0)
}

/// A number for a label: a true minus, no minus zero, and a comma at the thousands from five digits on.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && whole.len() > 4 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let minus = value < 0.0 && text.chars().any(|c| c.is_ascii_digit() && c != '0');
    let sign = if minus { "−" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

fn power_of_ten(power: i32) -> String {
    match power {
        0..=3 => number(10f64.powi(power), 0),
        _ => {
            let digits: String = power.to_string().chars().map(superscript).collect();
            format!("10{digits}")
        }
    }
}

fn superscript(character: char) -> char {
    match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit @ '4'..='9' => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
        _ => '⁰',
    }
}

fn hex(color: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
}

/// Text made safe to stand between tags or inside a quoted attribute, and from being taken for
/// mathematics.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('$', "&#36;")
}

/// Plotters' errors, which have many types, as ours.
pub fn plot(error: impl std::fmt::Display) -> FigureError {
    FigureError::Plot(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_true_minus_and_no_negative_zero() {
        assert_eq!(number(-0.04, 1), "0.0");
        assert_eq!(number(-1.5, 1), "−1.5");
        assert_eq!(number(131072.0, 0), "131,072");
    }

    #[test]
    fn powers_of_ten_are_set_as_powers() {
        assert_eq!(power_of_ten(2), "100");
        assert_eq!(power_of_ten(-7), "10⁻⁷");
        assert_eq!(power_of_ten(6), "10⁶");
    }

    #[test]
    fn a_drawing_keeps_no_sentinel_colour() {
        let x = Axis::linear("position", 0.0, 10.0);
        let y = Axis::log("wavelength (positions)", 1.0, 1e6);
        let line = Series::line("one", [(0.0, 1.0), (10.0, 1e5)]);
        let dots = Series::dots("two", [(5.0, 10.0)]);
        let drawing = lines(&x, &y, &[line, dots], SeriesLabelPosition::UpperLeft);
        let svg = drawing
            .expect("drawn")
            .into_svg("kit/test", "a & b", "one < two");
        for color in SERIES.into_iter().chain([INK, GRID, PAPER]) {
            assert!(!svg.contains(&hex(color)), "{} is left", hex(color));
        }
        assert!(svg.contains("a &amp; b") && svg.contains("one &lt; two"));
        assert!(!svg.contains("\n\n") && !svg.contains("-0.0"));
    }

    #[test]
    fn a_heat_map_of_ragged_rows_is_refused() {
        let axis = cells("row", 2, 1, false);
        let rows = [vec![0.0, 1.0], vec![0.0]];
        assert!(heat_map((300, 300), &axis, &axis, &rows, (0.0, 1.0)).is_err());
    }
}
