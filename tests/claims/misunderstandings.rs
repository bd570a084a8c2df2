//! What is often said of rotary embedding, held against what it does.

use approx::assert_relative_eq;
use positional_encoding::rope::{self, Layout};

fn rotated(x: &[f64], position: usize, inv_freq: &[f64]) -> Vec<f64> {
    let mut x = x.to_vec();
    rope::rotate(&mut x, position, inv_freq, Layout::Interleaved).unwrap();
    x
}

fn score(q: &[f64], m: usize, k: &[f64], n: usize, inv_freq: &[f64]) -> f64 {
    let (q, k) = (rotated(q, m, inv_freq), rotated(k, n, inv_freq));
    q.iter().zip(&k).map(|(q, k)| q * k).sum()
}

#[test]
fn each_rotated_vector_tells_its_absolute_position() {
    let inv_freq = rope::inv_freq(8, 10_000.0).unwrap();
    let word = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    // The slowest pair takes 6283 positions for a turn: read off as an angle, it is the position.
    for position in [0, 3, 300, 3000] {
        let turned = rotated(&word, position, &inv_freq);
        let angle = turned[7].atan2(turned[6]);
        assert_relative_eq!(angle / inv_freq[3], position as f64, epsilon = 1e-9);
    }
}

#[test]
fn against_a_start_token_a_rotary_score_counts_the_tokens() {
    // The slowest pair of Llama 3's 64 over its 8192 trained positions.
    let slowest = [rope::inv_freq(128, 500_000.0).unwrap()[63]];
    let arrow = [1.0, 0.0];
    let scores: Vec<f64> = (0..8192)
        .map(|m| score(&arrow, m, &arrow, 0, &slowest))
        .collect();
    assert!(scores.is_sorted_by(|nearer, further| nearer > further));
}
