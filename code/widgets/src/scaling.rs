//! Chapter 5: which pairs leave the trained range, for a model, a scaling and a length.

use positional_encoding::scaling::{
    ByParts, Frequencies, Llama3, Scaling, Trained, Yarn, pairs_never_turning, turns,
};
use positional_encoding::{Error, config};

use crate::{Answer, Input};

/// Name, entries rotated, base and trained length of the models on offer.
pub const MODELS: [(&str, usize, f64, usize); 6] = [
    ("Llama 2 7B", 128, 10_000.0, 4096),
    ("Llama 3 8B", 128, 500_000.0, 8192),
    ("Mistral 7B v0.1", 128, 10_000.0, 32_768),
    ("Qwen2.5 7B", 128, 1_000_000.0, 32_768),
    ("Phi-3 mini", 96, 10_000.0, 4096),
    ("gpt-oss", 64, 150_000.0, 4096),
];

/// The longest text that can be asked for.
const LONGEST: u32 = 100_000_000;

/// The pairs of a model under a scaling, at a length.
///
/// Takes `model` (a place in [`MODELS`]), `scaling` (0 none, 1 position interpolation, 2
/// NTK-aware, 3 dynamic NTK, 4 NTK-by-parts, 5 YaRN, 6 Llama 3), `factor` and `length`.
///
/// Gives six numbers: how many pairs there are, the trained length, the length, the attention
/// factor, how many pairs never complete a turn within the trained length, and how many leave the
/// trained range. Then, for each pair: the frequency before and after, in radians a position;
/// turns within the trained length; turns at the length, unscaled and scaled; and 1 where the pair
/// leaves the trained range, which one that has completed a turn never does.
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the number that does not fit, whichever function of
/// [`scaling`](positional_encoding::scaling) refuses it.
///
/// ```
/// let unscaled = widgets::scaling::scaling(&[0.0, 0.0, 1.0, 8192.0])?.numbers;
/// assert_eq!(unscaled[..6], [64.0, 4096.0, 8192.0, 1.0, 18.0, 18.0]);
/// let yarn = widgets::scaling::scaling(&[0.0, 5.0, 2.0, 8192.0])?.numbers;
/// assert_eq!(yarn[5], 0.0); // every pair is back where it has been
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn scaling(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let (_, rotary_dim, base, trained_length) = input.choice("model", &MODELS)?;
    let rule = input.whole("scaling", 0..=6)?;
    let factor = input.real();
    let length = input.whole("length", 1..=LONGEST)?;
    let trained = Trained {
        rotary_dim,
        base,
        length: trained_length,
    };
    let rule = match rule {
        0 => Scaling::None,
        1 => Scaling::PositionInterpolation(factor),
        2 => Scaling::NtkAware(factor),
        3 => Scaling::DynamicNtk,
        4 => Scaling::NtkByParts(ByParts {
            factor,
            ..ByParts::default()
        }),
        5 => Scaling::Yarn(Yarn {
            factor,
            ..Yarn::default()
        }),
        _ => Scaling::Llama3(Llama3 {
            factor,
            ..Llama3::default()
        }),
    };
    let scaled = rule.frequencies(&trained, length)?;
    Ok(pairs(&trained.inv_freq()?, &scaled, trained.length, length).into())
}

/// The pairs of the model that a pasted `config.json` describes, at a length.
///
/// Takes `length`, `table` (which of the model's tables, from 0) and the bytes of the file. Gives
/// the numbers of [`scaling`], the trained length being the file's, and as text a line for the
/// model, a line for every table, and a line for each of the reader's notes.
///
/// # Errors
///
/// The reader's own, where the file is no config; [`Error::Parameter`] with the name of the number
/// that does not fit, or where the model rotates nothing.
///
/// ```
/// let file = br#"{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
///     "rope_theta": 10000.0, "max_position_embeddings": 4096}"#;
/// let bytes = file.iter().map(|&byte| f64::from(byte));
/// let input: Vec<f64> = [8192.0, 0.0].into_iter().chain(bytes).collect();
/// let answer = widgets::scaling::config(&input)?;
/// assert_eq!(answer.numbers[..6], [64.0, 4096.0, 8192.0, 1.0, 18.0, 18.0]);
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn config(input: &[f64]) -> Result<Answer, Error> {
    let (settings, file) = input.split_at(input.len().min(2));
    let mut input = Input::new(settings);
    let length = input.whole("length", 1..=LONGEST)?;
    let place = input.whole("table", 0..=u32::MAX)?;
    let bytes: Vec<u8> = file.iter().map(|&byte| byte as u8).collect();
    let model = config::read(&bytes, Some(length))?;
    let rotating: Vec<&config::Table> = model
        .tables
        .iter()
        .filter(|table| !table.inv_freq.is_empty())
        .collect();
    let Some(table) = rotating.get(place) else {
        return Err(Error::Parameter {
            name: "table",
            given: place.to_string(),
            allowed: format!("one of the {} that this model rotates by", rotating.len()),
            remedy: format!("its scheme is {}", model.scheme.name()),
        });
    };
    let scaled = Frequencies {
        inv_freq: table.inv_freq.clone(),
        attention_factor: table.attention_factor,
    };
    let trained_length = table.trained_length.unwrap_or(length);
    let mut lines = vec![model.model_type.clone().unwrap_or_default()];
    lines.extend(
        rotating
            .iter()
            .map(|table| format!("{} layers: {}", table.layers, table.rope_type.name())),
    );
    lines.extend(model.notes);
    Ok(Answer {
        numbers: pairs(&table.unscaled, &scaled, trained_length, length),
        text: lines.join("\n"),
    })
}

fn pairs(before: &[f64], scaled: &Frequencies, trained_length: usize, length: usize) -> Vec<f64> {
    let after = &scaled.inv_freq;
    let trained = turns(before, trained_length);
    let unscaled = turns(before, length);
    let now = turns(after, length);
    let leaves: Vec<f64> = trained
        .iter()
        .zip(&now)
        // The last digits of a division are no new angle.
        .map(|(&seen, &now)| f64::from(u8::from(seen < 1.0 && now > seen * (1.0 + 1e-9))))
        .collect();
    let mut numbers = vec![
        before.len() as f64,
        trained_length as f64,
        length as f64,
        scaled.attention_factor,
        pairs_never_turning(before, trained_length) as f64,
        leaves.iter().sum(),
    ];
    for list in [before, after, &trained, &unscaled, &now, &leaves] {
        numbers.extend(list);
    }
    numbers
}
