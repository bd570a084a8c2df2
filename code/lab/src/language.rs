//! Language models of characters: what is common to training and measuring them.

use candle_core::Device;
use positional_encoding::attention::Mask;
use positional_encoding::scaling::Scaling;

use crate::error::Result;
use crate::measure::{losses, mean, rectangle};
use crate::model::{Model, Settings, Weights, initial_weights};
use crate::position::{Positions, Scheme};
use crate::text::{Text, windows};
use crate::train::{Batch, Keep, Plan, Training};

/// The length every language model is trained at.
pub const TRAINED: usize = 64;
/// The longest length measured: eight times the trained one.
pub const LONGEST: usize = 512;
/// The lengths measured.
pub const LENGTHS: [usize; 5] = [64, 96, 128, 256, 512];
/// Targets are compared in blocks of this many characters.
pub const BLOCK: usize = 32;

/// The sizes of the language models.
pub fn settings(text: &Text) -> Settings {
    Settings {
        vocabulary: text.characters.len(),
        outputs: text.characters.len(),
        layers: 2,
        d_model: 64,
        heads: 4,
        seq_len: TRAINED,
        mask: Mask::Causal,
    }
}

/// One training of a language model.
#[derive(Debug, Clone)]
pub struct Course<'a> {
    /// What is read.
    pub part: &'a [u32],
    /// Length of the windows.
    pub seq_len: usize,
    /// How long and how fast.
    pub plan: Plan,
    /// How a rotation is extended meanwhile.
    pub scaling: Scaling,
    /// Which windows, and in which order.
    pub seed: u64,
}

impl Course<'_> {
    /// What this training is, for its checkpoint.
    pub fn identity(&self, settings: &Settings, scheme: Scheme) -> String {
        let Self {
            seq_len,
            plan,
            scaling,
            seed,
            ..
        } = self;
        format!("{scheme:?} {settings:?} {plan:?} {scaling:?} length {seq_len} seed {seed}")
    }

    /// Trains from `weights` on.
    ///
    /// # Errors
    ///
    /// Those of [`Training::run`].
    pub fn train(
        &self,
        settings: Settings,
        scheme: Scheme,
        weights: Weights,
        keep: Option<&Keep>,
        tick: &dyn Fn(u64),
    ) -> Result<Weights> {
        let device = weights["head"].device().clone();
        let model = Model::new(settings, scheme, &weights);
        let scaling = &self.scaling;
        let positions = Positions::new(&settings, scheme, scaling, 0, self.seq_len, &device)?;
        let batch = |step| self.batch(step, &device);
        let thousands = (self.plan.batch * self.seq_len).div_ceil(1024) as u64;
        let tick = |steps: usize| tick(steps as u64 * thousands);
        Training::new(model, weights)?.run(&self.plan, &positions, &batch, keep, &tick)
    }

    /// Trains a new model of the seed.
    ///
    /// # Errors
    ///
    /// Those of [`Training::run`].
    pub fn begin(
        &self,
        settings: Settings,
        scheme: Scheme,
        keep: Option<&Keep>,
        device: &Device,
        tick: &dyn Fn(u64),
    ) -> Result<Weights> {
        let weights = initial_weights(&settings, scheme, self.seed, device)?;
        self.train(settings, scheme, weights, keep, tick)
    }

    /// The windows of `step`.
    ///
    /// # Errors
    ///
    /// Only where the device has no memory.
    pub fn batch(&self, step: usize, device: &Device) -> Result<Batch> {
        let seq_len = self.seq_len;
        let windows = windows(self.part, self.seed, step, self.plan.batch, seq_len);
        let tokens: Vec<&[u32]> = windows.iter().map(|window| &window[..seq_len]).collect();
        let targets: Vec<&[u32]> = windows.iter().map(|window| &window[1..]).collect();
        Ok(Batch {
            tokens: rectangle(&tokens, device)?,
            targets: rectangle(&targets, device)?,
            read_from: 0,
        })
    }
}

/// The losses of one model on one stretch of text, from windows of one length that begin a
/// block apart.
///
/// Every block of the stretch is met once at every place of the window: the same characters are
/// predicted at each length and at each position, with only the characters before them fewer or
/// more. A causal model's loss at a position does not depend on what follows, so the windows of
/// the longest length hold the losses of all shorter ones.
#[derive(Debug, Clone)]
pub struct Stretch {
    rows: Vec<Vec<f32>>,
    blocks: usize,
    before: usize,
}

impl Stretch {
    /// Measures `blocks` blocks of `part`, from the first that has a full window before it.
    ///
    /// # Errors
    ///
    /// Where a tensor operation fails.
    pub fn measure(
        model: &Model,
        positions: &Positions,
        part: &[u32],
        blocks: usize,
        tick: &dyn Fn(u64),
    ) -> Result<Self> {
        let seq_len = positions.seq_len();
        let before = seq_len / BLOCK - 1;
        let first = LONGEST - seq_len;
        let windows: Vec<&[u32]> = (0..before + blocks)
            .map(|window| first + window * BLOCK)
            .map(|start| &part[start..=start + seq_len])
            .collect();
        let rows = losses(model, positions, &windows, tick)?;
        Ok(Self {
            rows,
            blocks,
            before,
        })
    }

    /// Thousands of tokens that measuring reads.
    pub fn work(blocks: usize) -> u64 {
        ((blocks + LONGEST / BLOCK) / 2) as u64
    }

    /// Mean loss of the whole stretch where every block is the last of a window of `seq_len`:
    /// each character is predicted from at least `seq_len - 32` others.
    pub fn sliding(&self, seq_len: usize) -> f64 {
        let back = seq_len / BLOCK - 1;
        self.of_blocks(back, seq_len - BLOCK..seq_len)
    }

    /// Mean loss at the positions of `range`, which must lie within one block of the window.
    pub fn at(&self, range: std::ops::Range<usize>) -> f64 {
        self.of_blocks(range.start / BLOCK, range)
    }

    fn of_blocks(&self, back: usize, range: std::ops::Range<usize>) -> f64 {
        let rows = (0..self.blocks).map(|block| &self.rows[self.before + block - back]);
        mean(rows.flat_map(|row| row[range.clone()].iter().copied()))
    }

    /// Mean loss of the whole stretch cut into windows of `seq_len` that do not overlap: the
    /// first characters of each window are predicted from hardly any others.
    pub fn separate(&self, seq_len: usize) -> f64 {
        let step = seq_len / BLOCK;
        let rows = (0..self.blocks / step).map(|window| &self.rows[self.before + window * step]);
        mean(rows.flat_map(|row| row[..seq_len].iter().copied()))
    }
}

/// Largest difference between the outputs for one text at two places: what a model that sees
/// offsets alone would make zero.
///
/// The text is half the trained length long and stands once at the beginning and once in the
/// second half, so that a learned table has a row for each of its positions.
///
/// # Errors
///
/// Where a tensor operation fails.
pub fn shift_difference(model: &Model, part: &[u32], device: &Device) -> Result<f64> {
    let half = model.settings.seq_len / 2;
    let text = rectangle(&[&part[..half]], device)?;
    let logits = |start| {
        let scaling = Scaling::None;
        let settings = &model.settings;
        let positions = Positions::new(settings, model.scheme, &scaling, start, half, device)?;
        model.forward(&text, &positions)
    };
    let difference = (logits(0)? - logits(half)?)?.abs()?.max_all()?;
    Ok(f64::from(difference.to_scalar::<f32>()?))
}
