//! What is often said of rotary embedding, held against what it does.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use positional_encoding::rope::{self, Layout};
use proptest::prelude::*;

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

proptest! {
    #[test]
    fn at_one_offset_a_rotary_score_still_depends_on_the_words(
        word in prop::array::uniform8(-2.0..2.0f64),
        other in prop::array::uniform8(-2.0..2.0f64),
        m in 0usize..5000,
        n in 0usize..5000,
    ) {
        let inv_freq = rope::inv_freq(8, 10_000.0).unwrap();
        let sum: Vec<f64> = word.iter().zip(&other).map(|(a, b)| a + b).collect();
        let both = score(&sum, m, &word, n, &inv_freq);
        let apart = score(&word, m, &word, n, &inv_freq) + score(&other, m, &word, n, &inv_freq);
        // Linear in the words, so no score is a function of the offset alone. Each of the few
        // dozen products is below 50 and rounded by 1e-14.
        prop_assert!((both - apart).abs() < 1e-11);
        prop_assert!((score(&[0.0; 8], m, &word, n, &inv_freq)).abs() == 0.0);
    }
}

#[test]
fn scores_that_are_equal_on_paper_differ_in_their_last_digits() {
    let one_turn = [1.0];
    let (q, k) = ([1.0, 0.5], [0.3, -0.8]);
    let scores = [(0, 3), (5, 8), (105, 108)].map(|(m, n)| score(&q, m, &k, n, &one_turn));
    assert_ne!(scores[0], scores[1]);
    assert_ne!(scores[1], scores[2]);
    for score in scores {
        // An angle of 108 radians is rounded by 1e-14.
        assert_abs_diff_eq!(score, scores[0], epsilon = 1e-13);
    }
}
