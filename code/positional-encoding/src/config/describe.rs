//! A model said for a person who reads a terminal, at most 72 columns wide.

use std::fmt;

use super::{Model, RopeType, Scheme, Table, layout_name};
use crate::error::number;
use crate::scaling::wavelengths;

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model_type = self.model_type.as_deref().unwrap_or("(not given)");
        line(f, "model type", printable(model_type))?;
        line(f, "scheme", scheme(&self.scheme))?;
        for table in &self.tables {
            writeln!(f)?;
            settings(f, table)?;
            if table.rope_type != RopeType::None {
                writeln!(f)?;
                pairs(f, table)?;
            }
        }
        if !self.notes.is_empty() {
            writeln!(f, "\nnotes")?;
        }
        for note in &self.notes {
            wrapped(f, &printable(note))?;
        }
        Ok(())
    }
}

/// Control characters that a file may hold would move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .collect()
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "{name:<22}{value}")
}

fn wrapped(f: &mut fmt::Formatter<'_>, note: &str) -> fmt::Result {
    let mut start = "- ";
    let mut width = 0;
    for word in note.split(' ') {
        let len = word.chars().count();
        if width > 0 && width + 1 + len > 70 {
            writeln!(f)?;
            (start, width) = ("  ", 0);
        }
        match width {
            0 => write!(f, "{start}{word}")?,
            _ => write!(f, " {word}")?,
        }
        width += len + usize::from(width > 0);
    }
    writeln!(f)
}

fn scheme(scheme: &Scheme) -> String {
    let or = |number: &Option<usize>| number.map_or("?".into(), |number| number.to_string());
    match scheme {
        Scheme::Rope => "rope: query and key are rotated".into(),
        Scheme::Learned {
            rows,
            offset,
            usable,
        } => format!(
            "learned: a table of {} rows\n{:22}the first token takes row {offset}, {} positions \
             in all",
            or(rows),
            "",
            or(usable)
        ),
        Scheme::Alibi { slopes, bias_max } => {
            let ends = slopes.as_ref().map_or(String::new(), |slopes| {
                let first = slopes.first().copied().unwrap_or_default();
                format!("{} heads, first slope {first:.6}, ", slopes.len())
            });
            format!(
                "alibi: a bias that falls with distance\n{:22}{ends}bias_max {bias_max}",
                ""
            )
        }
        Scheme::T5 {
            buckets,
            max_distance,
        } => format!(
            "t5: a learned bias for each of {buckets} buckets of distance\n{:22}one bucket from \
             distance {max_distance} on at the latest",
            ""
        ),
        Scheme::Sinusoidal { d_model, length } => format!(
            "sinusoidal: sines and cosines are added to the input\n{:22}width {}, {} positions \
             declared",
            "",
            or(d_model),
            or(length)
        ),
        Scheme::Relative(words) => format!("relative: {words}"),
        Scheme::None => "none: no positions enter; order comes from the mask".into(),
    }
}

fn settings(f: &mut fmt::Formatter<'_>, table: &Table) -> fmt::Result {
    let or = |number: Option<usize>| number.map_or("not given".into(), |n| n.to_string());
    line(f, "layers", layers(table))?;
    if table.rope_type == RopeType::None {
        return line(f, "kind", "none: these layers are not rotated");
    }
    line(f, "kind", table.rope_type.name())?;
    if let Some(source) = &table.source {
        line(f, "set by", printable(source))?;
    }
    let base = table.base.unwrap_or_default();
    line(f, "base", number(base))?;
    let dims = format!("{}, of which {} rotated", table.head_dim, table.rotary_dim);
    line(f, "head_dim", dims)?;
    line(f, "layout", table.layout.map_or("none", layout_name))?;
    line(f, "attention factor", number(table.attention_factor))?;
    if table.softmax_scale_factor != 1.0 {
        line(f, "softmax scale times", table.softmax_scale_factor)?;
    }
    line(f, "trained length", or(table.trained_length))?;
    line(f, "declared length", or(table.max_length))?;
    line(f, "current length", or(table.length))?;
    let pairs = table.inv_freq.len();
    match table.pairs_never_turning {
        Some(never) => line(
            f,
            "pairs never turning",
            format!("{never} of {pairs} in training"),
        ),
        None => line(f, "pairs", pairs),
    }
}

fn layers(table: &Table) -> String {
    const SHOWN: usize = 9;
    let Some(indices) = &table.layer_indices else {
        return printable(&table.layers);
    };
    if table.layers == "all" {
        return format!("all {}", indices.len());
    }
    let mut list: Vec<_> = indices.iter().take(SHOWN).map(usize::to_string).collect();
    if indices.len() > SHOWN {
        list.push("...".into());
    }
    let kind = printable(&table.layers);
    format!("{kind}: {} of them, {}", indices.len(), list.join(", "))
}

/// Wavelengths of the pairs that say most: the ends, the borders of the bands, and some
/// between.
fn pairs(f: &mut fmt::Formatter<'_>, table: &Table) -> fmt::Result {
    let before = wavelengths(&table.unscaled);
    let after = wavelengths(&table.inv_freq);
    let bands = bands(table);
    writeln!(
        f,
        "{:>5} {:>14} {:>14}  band",
        "pair", "wavelength", "after scaling"
    )?;
    for i in shown(&bands) {
        let turns = match table.trained_length {
            Some(trained) if before[i] > trained as f64 => "; never turns",
            _ => "",
        };
        writeln!(
            f,
            "{i:>5} {:>14} {:>14}  {}{turns}",
            positions(before[i]),
            positions(after[i]),
            bands[i]
        )?;
    }
    Ok(())
}

fn positions(wavelength: f64) -> String {
    if wavelength.is_infinite() {
        return "still".into();
    }
    match wavelength {
        w if w < 1e9 => format!("{w:.2}"),
        w => format!("{w:.3e}"),
    }
}

/// What scaling does to each pair.
fn bands(table: &Table) -> Vec<&'static str> {
    let ratio = |(before, after): (&f64, &f64)| match before {
        0.0 => 1.0,
        _ => after / before,
    };
    let ratios: Vec<f64> = table
        .unscaled
        .iter()
        .zip(&table.inv_freq)
        .map(ratio)
        .collect();
    let least = ratios.iter().copied().fold(1.0, f64::min);
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other;
    ratios
        .iter()
        .map(|ratio| match ratio {
            r if close(*r, 1.0) => "as trained",
            r if *r > 1.0 => "faster",
            r if table.rope_type == RopeType::LongRope || !close(*r, least) => "slower",
            _ => "slowed most",
        })
        .collect()
}

fn shown(bands: &[&str]) -> Vec<usize> {
    let last = bands.len().saturating_sub(1);
    let step = bands.len().div_ceil(8).max(1);
    let border =
        |i: usize| (i > 0 && bands[i - 1] != bands[i]) || (i < last && bands[i + 1] != bands[i]);
    let borders = (0..bands.len()).filter(|i| border(*i)).count();
    (0..bands.len())
        .filter(|i| i % step == 0 || *i == last || (borders <= 16 && border(*i)))
        .collect()
}
