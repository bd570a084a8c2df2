//! A small transformer, the same for every scheme but for how position enters.

use std::collections::BTreeMap;

use candle_core::{D, DType, Device, Tensor, Var};
use positional_encoding::attention::Mask;

use crate::error::Result;
use crate::position::{Positions, Scheme, T5_BUCKETS};
use crate::random::Draws;

/// The sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Number of different input tokens.
    pub vocabulary: usize,
    /// Number of classes predicted at each position.
    pub outputs: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Width of the model.
    pub d_model: usize,
    /// Attention heads of a block; divides `d_model`.
    pub heads: usize,
    /// Length the model is trained at.
    pub seq_len: usize,
    /// Which keys a query may look at.
    pub mask: Mask,
}

impl Settings {
    /// Width of one head.
    pub fn head_dim(&self) -> usize {
        self.d_model / self.heads
    }
}

/// The trained numbers of a model by name, in the order of their names.
pub type Weights = BTreeMap<String, Var>;

/// The weights before the first step.
///
/// Each is drawn from the stream of the seed and its own name, so that two schemes share every
/// weight they both have. Deviations are one over the square root of what is summed.
///
/// # Errors
///
/// Only where the device has no memory for them.
pub fn initial_weights(
    settings: &Settings,
    scheme: Scheme,
    seed: u64,
    device: &Device,
) -> Result<Weights> {
    let d_model = settings.d_model;
    let width = 1.0 / (d_model as f64).sqrt();
    let residual = width / (2.0 * settings.layers as f64).sqrt();
    let mut weights = Weights::new();
    let mut draw = |name: String, shape: (usize, usize), deviation: f64| -> Result<()> {
        let mut draws = Draws::new(seed, &name);
        let values: Vec<f32> = (0..shape.0 * shape.1)
            .map(|_| (draws.normal() * deviation) as f32)
            .collect();
        let tensor = Tensor::from_vec(values, shape, device)?;
        weights.insert(name, Var::from_tensor(&tensor)?);
        Ok(())
    };
    draw("embedding".into(), (settings.vocabulary, d_model), width)?;
    draw("head".into(), (d_model, settings.outputs), width)?;
    for layer in 0..settings.layers {
        draw(format!("layer{layer}.qkv"), (d_model, 3 * d_model), width)?;
        draw(format!("layer{layer}.out"), (d_model, d_model), residual)?;
        draw(format!("layer{layer}.up"), (d_model, 4 * d_model), width)?;
        draw(
            format!("layer{layer}.down"),
            (4 * d_model, d_model),
            residual / 2.0,
        )?;
    }
    match scheme {
        Scheme::Learned => draw("position".into(), (settings.seq_len, d_model), 0.02)?,
        Scheme::T5 | Scheme::T5Unsigned => draw("t5".into(), (T5_BUCKETS, settings.heads), 0.02)?,
        _ => {}
    }
    for layer in 0..settings.layers {
        weights.insert(format!("layer{layer}.norm1"), gains(d_model, device)?);
        weights.insert(format!("layer{layer}.norm2"), gains(d_model, device)?);
    }
    weights.insert("norm".into(), gains(d_model, device)?);
    Ok(weights)
}

fn gains(d_model: usize, device: &Device) -> Result<Var> {
    Ok(Var::ones(d_model, DType::F32, device)?)
}

/// A model: its sizes, its scheme and its weights.
#[derive(Debug, Clone)]
pub struct Model {
    /// The sizes.
    pub settings: Settings,
    /// How position enters.
    pub scheme: Scheme,
    weights: BTreeMap<String, Tensor>,
}

impl Model {
    /// A model over `weights` whose gradients reach them.
    pub fn new(settings: Settings, scheme: Scheme, weights: &Weights) -> Self {
        let tensor = |(name, var): (&String, &Var)| (name.clone(), var.as_tensor().clone());
        Self {
            settings,
            scheme,
            weights: weights.iter().map(tensor).collect(),
        }
    }

    /// A model over `weights` that keeps no record for gradients, for measuring.
    pub fn frozen(settings: Settings, scheme: Scheme, weights: &Weights) -> Self {
        let tensor = |(name, var): (&String, &Var)| (name.clone(), var.as_tensor().detach());
        Self {
            settings,
            scheme,
            weights: weights.iter().map(tensor).collect(),
        }
    }

    /// Scores of the classes, shape `(batch, seq_len, outputs)`, for `tokens` of shape
    /// `(batch, seq_len)`.
    ///
    /// # Errors
    ///
    /// Where `tokens` and `positions` have different lengths.
    pub fn forward(&self, tokens: &Tensor, positions: &Positions) -> Result<Tensor> {
        let mut x = self.embed(tokens, positions)?;
        for layer in 0..self.settings.layers {
            let prefix = format!("layer{layer}");
            let attended = self.attend(&x, &prefix, positions)?;
            x = (x + attended)?;
            let fed = self.feed_forward(&x, &prefix)?;
            x = (x + fed)?;
        }
        linear(&normalise(&x, self.weight("norm"))?, self.weight("head"))
    }

    /// The input of the first block, shape `(batch, seq_len, d_model)`.
    fn embed(&self, tokens: &Tensor, positions: &Positions) -> Result<Tensor> {
        let (batch, seq_len) = tokens.dims2()?;
        let d_model = self.settings.d_model;
        let rows = self
            .weight("embedding")
            .index_select(&tokens.flatten_all()?, 0)?;
        let x = (rows.reshape((batch, seq_len, d_model))? * (d_model as f64).sqrt())?;
        if let Some(table) = &positions.table {
            return Ok(x.broadcast_add(table)?);
        }
        if let Some(rows) = &positions.rows {
            let rows = self.weight("position").index_select(rows, 0)?;
            return Ok(x.broadcast_add(&(rows * (d_model as f64).sqrt())?)?);
        }
        Ok(x)
    }

    /// The attention of one block, shape `(batch, seq_len, d_model)`.
    fn attend(&self, x: &Tensor, prefix: &str, positions: &Positions) -> Result<Tensor> {
        let Settings { heads, d_model, .. } = self.settings;
        let (batch, seq_len, _) = x.dims3()?;
        let x = normalise(x, self.weight(&format!("{prefix}.norm1")))?;
        let qkv = linear(&x, self.weight(&format!("{prefix}.qkv")))?;
        let split = |part: usize| -> Result<Tensor> {
            let one = qkv.narrow(D::Minus1, part * d_model, d_model)?;
            let by_head = one.reshape((batch, seq_len, heads, d_model / heads))?;
            Ok(by_head.transpose(1, 2)?.contiguous()?)
        };
        let attended = self.heads(&split(0)?, &split(1)?, &split(2)?, positions)?;
        let joined = attended
            .transpose(1, 2)?
            .reshape((batch, seq_len, d_model))?;
        linear(&joined, self.weight(&format!("{prefix}.out")))
    }

    /// Attention of every head, all of shape `(batch, heads, seq_len, head_dim)`.
    ///
    /// # Errors
    ///
    /// Where the shapes do not fit each other or `positions`.
    pub fn heads(
        &self,
        queries: &Tensor,
        keys: &Tensor,
        values: &Tensor,
        positions: &Positions,
    ) -> Result<Tensor> {
        let scale = 1.0 / (self.settings.head_dim() as f64).sqrt();
        let queries = rotate(&(queries * scale)?, positions)?;
        let keys = rotate(keys, positions)?;
        let scores = queries
            .matmul(&keys.t()?)?
            .broadcast_add(&self.bias(positions)?)?;
        Ok(softmax(&scores)?.matmul(values)?)
    }

    /// What is added to the scores, shape `(1 or heads, seq_len, seq_len)`.
    fn bias(&self, positions: &Positions) -> Result<Tensor> {
        let Some(buckets) = &positions.buckets else {
            return Ok(positions.bias.clone());
        };
        let seq_len = positions.seq_len;
        let by_pair = self.weight("t5").index_select(buckets, 0)?;
        let by_head = by_pair
            .t()?
            .reshape((self.settings.heads, seq_len, seq_len))?;
        Ok(by_head.broadcast_add(&positions.bias)?)
    }

    fn feed_forward(&self, x: &Tensor, prefix: &str) -> Result<Tensor> {
        let x = normalise(x, self.weight(&format!("{prefix}.norm2")))?;
        let hidden = linear(&x, self.weight(&format!("{prefix}.up")))?.relu()?;
        linear(&hidden, self.weight(&format!("{prefix}.down")))
    }

    fn weight(&self, name: &str) -> &Tensor {
        &self.weights[name]
    }
}

/// `x` times a matrix, over the last axis.
fn linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let (batch, seq_len, width) = x.dims3()?;
    let flat = x.reshape((batch * seq_len, width))?.matmul(weight)?;
    Ok(flat.reshape((batch, seq_len, weight.dim(1)?))?)
}

/// Root-mean-square normalisation with a gain, over the last axis.
fn normalise(x: &Tensor, gain: &Tensor) -> Result<Tensor> {
    let scale = (x.sqr()?.mean_keepdim(D::Minus1)? + 1e-6)?.sqrt()?;
    Ok(x.broadcast_div(&scale)?.broadcast_mul(gain)?)
}

/// Softmax over the last axis, of operations that all have a gradient.
fn softmax(scores: &Tensor) -> Result<Tensor> {
    let highest = scores.max_keepdim(D::Minus1)?.detach();
    let powers = scores.broadcast_sub(&highest)?.exp()?;
    Ok(powers.broadcast_div(&powers.sum_keepdim(D::Minus1)?)?)
}

/// Queries or keys turned by their positions, in the half-split layout.
fn rotate(x: &Tensor, positions: &Positions) -> Result<Tensor> {
    let Some((cosine, sine)) = &positions.rotation else {
        return Ok(x.clone());
    };
    let pairs = x.dim(D::Minus1)? / 2;
    let first = x.narrow(D::Minus1, 0, pairs)?;
    let second = x.narrow(D::Minus1, pairs, pairs)?;
    let turned_first = (first.broadcast_mul(cosine)? - second.broadcast_mul(sine)?)?;
    let turned_second = (second.broadcast_mul(cosine)? + first.broadcast_mul(sine)?)?;
    Ok(Tensor::cat(&[turned_first, turned_second], D::Minus1)?)
}
