//! Random numbers that are the same on every machine and in every run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::checksum::fnv1a;

/// A stream of draws that belongs to one seed and one purpose.
///
/// Two models of one seed draw the weight `layer0.up` from the same stream, whatever else they
/// contain, so that schemes start from the same weights wherever their shapes agree.
///
/// ```
/// use lab::random::Draws;
/// let first = Draws::new(1, "layer0.up").below(1000);
/// assert_eq!(first, Draws::new(1, "layer0.up").below(1000));
/// assert_ne!(first, Draws::new(2, "layer0.up").below(1000));
/// ```
#[derive(Debug, Clone)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&fnv1a(purpose.as_bytes()).to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A whole number from 0 up to, but not including, `bound`; 0 where `bound` is 0.
    ///
    /// The bias of this reduction is below `bound / 2⁶⁴`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A number above 0 and at most 1.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A number from the normal distribution with mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
