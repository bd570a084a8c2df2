//! Chapter 2: the wave and the grid, and the similarity of two stamps.

use positional_encoding::{Error, rope, sinusoidal};

use crate::{Answer, Input};

/// How many positions the similarity curve covers.
pub const POSITIONS: usize = 128;

/// The stamps of all positions up to one, and which earlier stamp comes closest to it.
///
/// Takes `position` (0 to 127) and `d_model` (1 to 128). Gives the table, `(position + 1, d_model)`
/// row by row, then the earlier position whose stamp is nearest and its distance (both NaN at
/// position 0, which has none before it).
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the number that does not fit.
///
/// ```
/// let answer = widgets::sinusoidal::waves(&[2.0, 4.0])?;
/// assert_eq!(answer.numbers.len(), 3 * 4 + 2);
/// assert_eq!(&answer.numbers[..4], [0.0, 1.0, 0.0, 1.0]);
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn waves(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let position = input.whole("position", 0..=127)?;
    let d_model = input.whole("d_model", 1..=128)?;
    let table = sinusoidal::table(position + 1, d_model)?;
    let last = table.row(position);
    let distances = table.rows().into_iter().take(position).map(|row| {
        let difference = &row - &last;
        difference.dot(&difference).sqrt()
    });
    let nearest = distances
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or([f64::NAN; 2], |(row, distance)| [row as f64, distance]);
    let mut numbers = table.into_raw_vec_and_offset().0;
    numbers.extend(nearest);
    Ok(numbers.into())
}

/// The stamp of one position, and its similarity to the stamps of positions 0 to 127.
///
/// Takes `position` (0 to 127), `d_model` (2 to 512, even) and `base`. Gives the stamp, `d_model`
/// entries, then 128 dot products, each divided by `d_model / 2` so that a stamp has similarity 1
/// with itself.
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the number that does not fit.
///
/// ```
/// let answer = widgets::sinusoidal::similarity(&[40.0, 64.0, 10_000.0])?;
/// let curve = &answer.numbers[64..];
/// assert_eq!(curve[40], 1.0);
/// assert_eq!(curve[39], curve[41]); // before and after look the same
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn similarity(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let position = input.whole("position", 0..=POSITIONS as u32 - 1)?;
    let d_model = input.whole("d_model", 0..=512)?;
    let base = input.real();
    let inv_freq = rope::inv_freq(d_model, base).map_err(rename)?;
    let mut numbers = stamp(position, &inv_freq)?;
    let pairs = inv_freq.len() as f64;
    numbers.extend((0..POSITIONS).map(|other| {
        let offset = other as i64 - position as i64;
        sinusoidal::dot_product(offset, &inv_freq) / pairs
    }));
    Ok(numbers.into())
}

/// A stamp for any base: every pair starts at sine 0, cosine 1, and turns with the position.
fn stamp(position: usize, inv_freq: &[f64]) -> Result<Vec<f64>, Error> {
    let mut hands: Vec<f64> = inv_freq.iter().flat_map(|_| [1.0, 0.0]).collect();
    rope::rotate(&mut hands, position, inv_freq, rope::Layout::Interleaved)?;
    for pair in hands.chunks_exact_mut(2) {
        pair.swap(0, 1);
    }
    Ok(hands)
}

/// Rotary embedding calls the width `rotary_dim`; the page's field is `d_model`.
fn rename(error: Error) -> Error {
    match error {
        Error::Parameter {
            name: "rotary_dim",
            given,
            allowed,
            ..
        } => Error::Parameter {
            name: "d_model",
            given,
            allowed,
            remedy: "choose an even width, so that every sine has its cosine".into(),
        },
        other => other,
    }
}
