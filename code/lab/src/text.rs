//! The text the language models read: *Moby-Dick*, one character a token.

use std::collections::BTreeSet;

use crate::random::Draws;

const MOBY_DICK: &str = include_str!("../data/moby-dick.txt");

/// The text as token ids, cut into three parts that share no character position.
#[derive(Debug, Clone)]
pub struct Text {
    /// Every character that occurs, in order of its code point; a token id is an index into it.
    pub characters: Vec<char>,
    /// The first eight tenths: what the models are trained on.
    pub train: Vec<u32>,
    /// The ninth tenth: what choices are made on.
    pub validation: Vec<u32>,
    /// The last tenth: what is reported.
    pub test: Vec<u32>,
}

impl Text {
    /// *Moby-Dick*, all 135 chapters.
    pub fn moby_dick() -> Self {
        let characters: Vec<char> = MOBY_DICK
            .chars()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let id = |c: char| {
            characters
                .binary_search(&c)
                .expect("drawn from the same text") as u32
        };
        let tokens: Vec<u32> = MOBY_DICK.chars().map(id).collect();
        let tenth = tokens.len() / 10;
        Self {
            train: tokens[..8 * tenth].to_vec(),
            validation: tokens[8 * tenth..9 * tenth].to_vec(),
            test: tokens[9 * tenth..].to_vec(),
            characters,
        }
    }
}

/// `count` windows of `seq_len + 1` tokens from random places of `part`.
///
/// The places depend on the seed and the step alone, so every scheme reads the same windows in
/// the same order, and a resumed training reads on where the interrupted one stopped.
pub fn windows(part: &[u32], seed: u64, step: usize, count: usize, seq_len: usize) -> Vec<&[u32]> {
    let mut draws = Draws::new(seed, &format!("windows of step {step}"));
    (0..count)
        .map(|_| draws.below(part.len() - seq_len))
        .map(|start| &part[start..=start + seq_len])
        .collect()
}
