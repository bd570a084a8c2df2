//! Measuring a trained model.

use candle_core::Tensor;

use crate::error::Result;
use crate::model::Model;
use crate::position::Positions;
use crate::train::surprise;

/// Tokens measured in one forward pass; few, so that the scores stay in the processor's cache.
const TOGETHER: usize = 1024;

/// Number of sequences of `seq_len` tokens measured in one forward pass.
fn together(seq_len: usize) -> usize {
    (TOGETHER / seq_len).max(1)
}

/// Loss in nats at each position of each window of `seq_len + 1` tokens.
///
/// Shape `(windows, seq_len)`: entry `p` is the surprise at token `p + 1` after reading tokens
/// 0 to `p`. `tick` is told of each thousand tokens.
///
/// # Errors
///
/// Where a window does not have one token more than `positions`.
pub fn losses(
    model: &Model,
    positions: &Positions,
    windows: &[&[u32]],
    tick: &dyn Fn(u64),
) -> Result<Vec<Vec<f32>>> {
    let device = positions.bias.device();
    let mut rows = Vec::with_capacity(windows.len());
    for some in windows.chunks(together(positions.seq_len)) {
        let input: Vec<&[u32]> = some.iter().map(|w| &w[..w.len() - 1]).collect();
        let next: Vec<&[u32]> = some.iter().map(|w| &w[1..]).collect();
        let logits = model.forward(&rectangle(&input, device)?, positions)?;
        rows.extend(surprise(&logits, &rectangle(&next, device)?)?.to_vec2::<f32>()?);
        tick(1);
    }
    Ok(rows)
}

/// The most probable class at each position of each sequence, shape `(sequences, seq_len)`.
///
/// # Errors
///
/// Where the sequences do not have the length of `positions`.
pub fn answers(
    model: &Model,
    positions: &Positions,
    sequences: &[&[u32]],
    tick: &dyn Fn(u64),
) -> Result<Vec<Vec<u32>>> {
    let device = positions.bias.device();
    let mut rows = Vec::with_capacity(sequences.len());
    for some in sequences.chunks(together(positions.seq_len)) {
        let logits = model.forward(&rectangle(some, device)?, positions)?;
        rows.extend(logits.argmax(candle_core::D::Minus1)?.to_vec2::<u32>()?);
        tick(1);
    }
    Ok(rows)
}

/// Sequences of one length as a tensor of shape `(sequences, length)`.
///
/// # Errors
///
/// Where the lengths differ.
pub fn rectangle(sequences: &[&[u32]], device: &candle_core::Device) -> Result<Tensor> {
    let length = sequences.first().map_or(0, |sequence| sequence.len());
    Ok(Tensor::from_vec(
        sequences.concat(),
        (sequences.len(), length),
        device,
    )?)
}

/// The mean, in f64.
pub fn mean(values: impl IntoIterator<Item = f32>) -> f64 {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0_u32), |(sum, count), value| {
            (sum + f64::from(value), count + 1)
        });
    sum / f64::from(count)
}
