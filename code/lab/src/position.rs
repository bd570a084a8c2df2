//! How position enters a model: the companion crate's tables, rotations and biases as tensors.

use candle_core::{Device, Tensor};
use ndarray::{Array2, Array3};
use positional_encoding::attention::Mask;
use positional_encoding::rope::{self, Layout};
use positional_encoding::scaling::{Frequencies, Scaling, Trained};
use positional_encoding::{Direction, alibi, sinusoidal, t5};

use crate::error::Result;
use crate::model::Settings;

/// The ways the lab compares of telling a model where its tokens stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Nothing at all.
    None,
    /// The sinusoidal table, added to the embedding.
    Sinusoidal,
    /// A trained table with a row a position, added to the embedding.
    Learned,
    /// Query and key rotated in every layer.
    Rope,
    /// A fixed penalty on the score, linear in the distance. Without a mask it is symmetric.
    Alibi,
    /// A trained bias on the score, one a bucket of signed distances and head.
    T5,
    /// The same with the sign thrown away: a key before and a key after share a bucket.
    T5Unsigned,
}

impl Scheme {
    /// The six that a language model is trained with.
    pub const LANGUAGE: [Self; 6] = [
        Self::None,
        Self::Sinusoidal,
        Self::Learned,
        Self::Rope,
        Self::Alibi,
        Self::T5,
    ];

    /// The name in records and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sinusoidal => "sinusoidal",
            Self::Learned => "learned",
            Self::Rope => "rope",
            Self::Alibi => "alibi",
            Self::T5 => "t5",
            Self::T5Unsigned => "t5-unsigned",
        }
    }
}

/// Buckets of the T5 bias. Half of the published 32, as the lab's models read less.
pub const T5_BUCKETS: usize = 16;
/// Distance from which all keys share the last bucket: half of the lab's trained length, so
/// that every bucket is trained. The published 128 is a quarter of the length T5 was trained at.
pub const T5_MAX_DISTANCE: usize = 32;
/// Base of the rotary frequencies, the paper's.
pub const ROPE_BASE: f64 = 10_000.0;

/// Everything about the positions of one window that a forward pass needs.
#[derive(Debug, Clone)]
pub struct Positions {
    /// Number of positions.
    pub(crate) seq_len: usize,
    /// The sinusoidal table, shape `(seq_len, d_model)`.
    pub(crate) table: Option<Tensor>,
    /// Row of the learned table for each position, shape `(seq_len,)`.
    pub(crate) rows: Option<Tensor>,
    /// Cosine and sine of the rotation, each of shape `(seq_len, head_dim / 2)`.
    pub(crate) rotation: Option<(Tensor, Tensor)>,
    /// Row of the T5 table for each query and key, shape `(seq_len * seq_len,)`.
    pub(crate) buckets: Option<Tensor>,
    /// Mask and fixed bias, shape `(1 or heads, seq_len, seq_len)`; added to the scores.
    pub(crate) bias: Tensor,
}

impl Positions {
    /// Number of positions.
    pub fn seq_len(&self) -> usize {
        self.seq_len
    }

    /// The sinusoidal table, shape `(seq_len, d_model)`, where there is one.
    pub fn table(&self) -> Option<&Tensor> {
        self.table.as_ref()
    }

    /// Positions `start` to `start + seq_len - 1` as `scheme` presents them.
    ///
    /// `scaling` is the rule a rotation is extended by; the other schemes ignore it. Past its
    /// end the learned table repeats its last row.
    ///
    /// # Errors
    ///
    /// What the companion crate refuses, such as an odd `head_dim` for a rotation.
    pub fn new(
        settings: &Settings,
        scheme: Scheme,
        scaling: &Scaling,
        start: usize,
        seq_len: usize,
        device: &Device,
    ) -> Result<Self> {
        let places: Vec<usize> = (start..start + seq_len).collect();
        let mut positions = Self {
            seq_len,
            table: None,
            rows: None,
            rotation: None,
            buckets: None,
            bias: tensor3(&mask(settings.mask, seq_len), device)?,
        };
        match scheme {
            Scheme::None => {}
            Scheme::Sinusoidal => {
                positions.table = Some(sinusoidal_rows(&places, settings.d_model, device)?);
            }
            Scheme::Learned => positions.rows = Some(learned_rows(&places, settings, device)?),
            Scheme::Rope => {
                let frequencies = scaling.frequencies(&trained(settings), start + seq_len)?;
                positions.rotation = Some(rotation(&places, &frequencies, device)?);
            }
            Scheme::Alibi => {
                let slopes = alibi::slopes(settings.heads)?;
                let bias = alibi::bias(&slopes, &places, &places, direction(settings.mask));
                positions.bias = tensor3(&bias, device)?;
            }
            Scheme::T5 | Scheme::T5Unsigned => {
                positions.buckets = Some(buckets(&places, scheme, settings.mask, device)?);
            }
        }
        Ok(positions)
    }
}

/// What the rotation of a model with these settings is trained with.
pub fn trained(settings: &Settings) -> Trained {
    Trained {
        rotary_dim: settings.head_dim(),
        base: ROPE_BASE,
        length: settings.seq_len,
    }
}

fn direction(mask: Mask) -> Direction {
    match mask {
        Mask::Causal => Direction::Causal,
        Mask::None => Direction::Bidirectional,
    }
}

fn mask(mask: Mask, seq_len: usize) -> Array3<f64> {
    Array3::from_shape_fn((1, seq_len, seq_len), |(_, query, key)| match mask {
        Mask::Causal if key > query => f64::NEG_INFINITY,
        _ => 0.0,
    })
}

fn sinusoidal_rows(places: &[usize], d_model: usize, device: &Device) -> Result<Tensor> {
    let mut table = Array2::zeros((places.len(), d_model));
    for (mut row, place) in table.rows_mut().into_iter().zip(places) {
        row.assign(&sinusoidal::encoding(*place, d_model)?);
    }
    tensor2(&table, device)
}

fn learned_rows(places: &[usize], settings: &Settings, device: &Device) -> Result<Tensor> {
    let last = settings.seq_len - 1;
    let rows: Vec<u32> = places
        .iter()
        .map(|place| *place.min(&last) as u32)
        .collect();
    Ok(Tensor::new(rows, device)?)
}

/// Rotating the unit vector of each pair leaves the cosine in its first entry and the sine in
/// its second.
fn rotation(
    places: &[usize],
    frequencies: &Frequencies,
    device: &Device,
) -> Result<(Tensor, Tensor)> {
    let pairs = frequencies.inv_freq.len();
    let mut units = Array3::from_shape_fn((places.len(), 1, 2 * pairs), |(_, _, entry)| {
        if entry < pairs { 1.0 } else { 0.0 }
    });
    rope::apply(&mut units, places, &frequencies.inv_freq, Layout::Half)?;
    let scaled = units * frequencies.attention_factor;
    let part = |from: usize| {
        let half = Array2::from_shape_fn((places.len(), pairs), |(place, pair)| {
            scaled[[place, 0, from + pair]]
        });
        tensor2(&half, device)
    };
    Ok((part(0)?, part(pairs)?))
}

fn buckets(places: &[usize], scheme: Scheme, mask: Mask, device: &Device) -> Result<Tensor> {
    let mut rows = Vec::with_capacity(places.len() * places.len());
    for query in places {
        for key in places {
            let relative = *key as i64 - *query as i64;
            let bucket = match scheme {
                Scheme::T5Unsigned => t5::bucket(
                    -relative.abs(),
                    T5_BUCKETS,
                    T5_MAX_DISTANCE,
                    Direction::Causal,
                ),
                _ => t5::bucket(relative, T5_BUCKETS, T5_MAX_DISTANCE, direction(mask)),
            }?;
            rows.push(bucket as u32);
        }
    }
    Ok(Tensor::new(rows, device)?)
}

fn tensor2(array: &Array2<f64>, device: &Device) -> Result<Tensor> {
    let values: Vec<f32> = array.iter().map(|value| *value as f32).collect();
    Ok(Tensor::from_vec(values, array.dim(), device)?)
}

fn tensor3(array: &Array3<f64>, device: &Device) -> Result<Tensor> {
    let values: Vec<f32> = array.iter().map(|value| *value as f32).collect();
    Ok(Tensor::from_vec(values, array.dim(), device)?)
}
