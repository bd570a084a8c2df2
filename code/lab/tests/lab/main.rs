//! What the lab promises: the companion crate's attention, right gradients, repeatable results.

mod attention;
mod checkpoints;
mod gradients;
mod repetition;
mod shifts;
mod stretch;

use candle_core::{Device, Tensor};
use lab::language::{self, Course};
use lab::model::{Settings, Weights};
use lab::position::Scheme;
use lab::random::Draws;
use lab::text::Text;
use lab::train::Plan;
use positional_encoding::attention::Mask;
use positional_encoding::scaling::Scaling;

/// A model small enough for an unoptimised build.
pub fn small(text: &Text) -> Settings {
    Settings {
        layers: 1,
        d_model: 16,
        heads: 2,
        seq_len: 16,
        mask: Mask::Causal,
        ..language::settings(text)
    }
}

/// A training of `steps` steps for such a model.
pub fn course(text: &Text, steps: usize) -> Course<'_> {
    Course {
        part: &text.train,
        seq_len: 16,
        plan: Plan {
            steps,
            rate: 1e-2,
            batch: 4,
        },
        scaling: Scaling::None,
        seed: 7,
    }
}

/// Such a model of `scheme` after `steps` steps.
pub fn trained(text: &Text, scheme: Scheme, steps: usize) -> lab::Result<Weights> {
    course(text, steps).begin(small(text), scheme, None, &Device::Cpu, &|_| ())
}

/// Random numbers of deviation one.
pub fn random(purpose: &str, shape: &[usize]) -> lab::Result<Tensor> {
    let mut draws = Draws::new(3, purpose);
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| draws.normal() as f32)
        .collect();
    Ok(Tensor::from_vec(values, shape, &Device::Cpu)?)
}

/// Every number of every weight.
pub fn bits(weights: &Weights) -> lab::Result<Vec<u32>> {
    let mut bits = Vec::new();
    for weight in weights.values() {
        let values = weight.flatten_all()?.to_vec1::<f32>()?;
        bits.extend(values.into_iter().map(f32::to_bits));
    }
    Ok(bits)
}
