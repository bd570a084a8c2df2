//! Solutions of the chapter "Long context".

use approx::{assert_abs_diff_eq, assert_relative_eq};
use positional_encoding::Error;
use positional_encoding::scaling::{self, KvCache, Ramp, Trained, Yarn};

const LLAMA_2: Trained = Trained {
    rotary_dim: 128,
    base: 10_000.0,
    length: 4096,
};

// ANCHOR: slow_pairs
#[test]
fn a_larger_base_has_more_slow_pairs() -> Result<(), Error> {
    let never = |base| -> Result<usize, Error> {
        let trained = Trained {
            rotary_dim: 128,
            base,
            length: 2048,
        };
        let inv_freq = trained.inv_freq()?;
        Ok(scaling::pairs_never_turning(&inv_freq, 2048))
    };
    assert_eq!(never(10_000.0)?, 23);
    assert_eq!(never(500_000.0)?, 35);
    Ok(())
}
// ANCHOR_END: slow_pairs

// ANCHOR: factor
/// The stretch up to which every pair that never turned stays in its trained range.
fn reach(factor: f64) -> Result<f64, Error> {
    let before = LLAMA_2.inv_freq()?;
    let after = scaling::ntk_aware(&LLAMA_2, factor)?.inv_freq;
    let never = scaling::pairs_never_turning(&before, LLAMA_2.length);
    let first = before.len() - never;
    Ok(before[first] / after[first])
}

#[test]
fn a_factor_of_6_68_reaches_four_lengths() -> Result<(), Error> {
    let factor = 4f64.powf(126.0 / 92.0);
    assert_abs_diff_eq!(factor, 6.68, epsilon = 0.005);
    assert_relative_eq!(reach(factor)?, 4.0, max_relative = 1e-12);
    assert!(reach(6.6)? < 4.0);
    Ok(())
}
// ANCHOR_END: factor

// ANCHOR: cache
/// The key or query turned by `position`, with pairs of neighbours.
fn rotated(x: &[f64], position: usize, inv_freq: &[f64]) -> Vec<f64> {
    let pairs = x.chunks_exact(2).zip(inv_freq);
    pairs
        .flat_map(|(pair, w)| {
            let (sin, cos) = (position as f64 * w).sin_cos();
            [pair[0] * cos - pair[1] * sin, pair[0] * sin + pair[1] * cos]
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Keys as they came, without a position.
struct UnrotatedCache {
    trained: Trained,
    keys: Vec<Vec<f64>>,
}

impl UnrotatedCache {
    /// Adds the key of the next token and scores its query against all keys.
    fn step(&mut self, query: &[f64], key: &[f64]) -> Result<Vec<f64>, Error> {
        let position = self.keys.len();
        self.keys.push(key.to_vec());
        let seq_len = self.keys.len();
        let now = scaling::dynamic_ntk(&self.trained, seq_len)?.inv_freq;
        let query = rotated(query, position, &now);
        let keys = self.keys.iter().enumerate();
        Ok(keys
            .map(|(n, key)| dot(&query, &rotated(key, n, &now)))
            .collect())
    }
}
// ANCHOR_END: cache

/// Some tokens' queries or keys: eight entries each, all different.
fn tokens(count: usize, phase: f64) -> Vec<Vec<f64>> {
    let entry = |token: usize, i: usize| ((token * 8 + i) as f64 * 0.7 + phase).sin();
    (0..count)
        .map(|token| (0..8).map(|i| entry(token, i)).collect())
        .collect()
}

// ANCHOR: cache_test
#[test]
fn unrotated_keys_give_the_scores_of_computing_afresh() -> Result<(), Error> {
    let trained = Trained {
        rotary_dim: 8,
        base: 10_000.0,
        length: 16,
    };
    let (queries, keys) = (tokens(64, 0.0), tokens(64, 2.0));
    let mut cache = UnrotatedCache {
        trained,
        keys: Vec::new(),
    };
    let mut rotated_once = Vec::new();
    let mut largest_error: f64 = 0.0;
    let mut largest_score: f64 = 0.0;
    for position in 0..64 {
        let now = scaling::dynamic_ntk(&trained, position + 1)?.inv_freq;
        let query = rotated(&queries[position], position, &now);
        let afresh: Vec<f64> = (0..=position)
            .map(|n| dot(&query, &rotated(&keys[n], n, &now)))
            .collect();
        let cached = cache.step(&queries[position], &keys[position])?;
        assert_eq!(cached, afresh);
        largest_score = cached.iter().fold(largest_score, |a, b| a.max(b.abs()));

        rotated_once.push(rotated(&keys[position], position, &now));
        for (key, right) in rotated_once.iter().zip(&afresh) {
            largest_error = largest_error.max((dot(&query, key) - right).abs());
        }
        if position < 16 {
            assert_eq!(largest_error, 0.0);
        }
    }
    assert_abs_diff_eq!(largest_error, 0.84, epsilon = 0.005);
    assert_abs_diff_eq!(largest_score, 4.32, epsilon = 0.005);
    Ok(())
}
// ANCHOR_END: cache_test

// ANCHOR: log_ramp
/// The share kept at `turns` turns: linear in the logarithm between the two bounds.
fn kept(turns: f64, beta_slow: f64, beta_fast: f64) -> f64 {
    let share = (turns / beta_slow).ln() / (beta_fast / beta_slow).ln();
    share.clamp(0.0, 1.0)
}

#[test]
fn the_ramp_over_pairs_is_linear_in_the_logarithm_of_turns() -> Result<(), Error> {
    let factor = 16.0;
    let yarn = Yarn {
        factor,
        ramp: Ramp::Pairs,
        ..Yarn::default()
    };
    let code = scaling::yarn(&LLAMA_2, &yarn)?.inv_freq;
    let before = LLAMA_2.inv_freq()?;
    let turns = scaling::turns(&before, LLAMA_2.length);
    for ((w, turns), code) in before.iter().zip(turns).zip(code) {
        let kept = kept(turns, 1.0, 32.0);
        let ours = (1.0 - kept) * w / factor + kept * w;
        assert_relative_eq!(ours, code, max_relative = 1e-12);
    }
    Ok(())
}
// ANCHOR_END: log_ramp

// ANCHOR: card
#[test]
fn eight_gibibytes_hold_65536_tokens() -> Result<(), Error> {
    let cache = KvCache {
        layers: 32,
        kv_heads: 8,
        head_dim: 128,
        bytes_per_number: 2,
    };
    let room = (24 - 15 - 1) * (1u64 << 30);
    assert_eq!(room / cache.bytes(1)?, 65_536);
    let half = KvCache {
        bytes_per_number: 1,
        ..cache
    };
    assert_eq!(room / half.bytes(1)?, 131_072);
    Ok(())
}
// ANCHOR_END: card
