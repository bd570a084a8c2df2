//! Chapter 3: query and key as arrows, and the layout debugger.

use positional_encoding::Error;
use positional_encoding::rope::{self, Layout};

use crate::{Answer, Input};

/// The pair of the chapter's example.
const ARROWS: [[f64; 2]; 2] = [[2.0, 1.0], [1.0, 2.0]];
/// Query and key of the chapter's example of the layouts.
const HEADS: [[f64; 4]; 2] = [[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 1.0]];
/// The offset, key minus query, at which the layouts are tried.
const OFFSET: usize = 2;

/// Query and key of one pair, each turned to its position.
///
/// Takes `query` and `key`, the two positions (0 to 1000), and `frequency` in radians a position.
/// Gives the rotated query (2), the rotated key (2), their dot product, the dot product of the
/// same arrows at positions 0 and `key − query` (counted from the query where the key comes
/// first), and the angle from query to key in radians, from −π to π.
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the number that does not fit.
///
/// ```
/// let here = widgets::rope::arrows(&[0.0, 3.0, 0.25])?.numbers;
/// let there = widgets::rope::arrows(&[105.0, 108.0, 0.25])?.numbers;
/// assert!((here[4] - there[4]).abs() < 1e-12);
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn arrows(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let query = input.whole("query", 0..=1000)?;
    let key = input.whole("key", 0..=1000)?;
    let frequency = input.real();
    if !(0.0..=3.2).contains(&frequency) {
        return Err(Error::Parameter {
            name: "frequency",
            given: if frequency.is_nan() {
                "not a number".into()
            } else {
                frequency.to_string()
            },
            allowed: "from 0 to 3.2 radians a position".into(),
            remedy: "take 1 for the fastest pair of a model, or less for a slower one".into(),
        });
    }
    let turned = |pair: usize, position: usize| -> Result<[f64; 2], Error> {
        let mut arrow = ARROWS[pair];
        rope::rotate(&mut arrow, position, &[frequency], Layout::Interleaved)?;
        Ok(arrow)
    };
    let (q, k) = (turned(0, query)?, turned(1, key)?);
    let nearer = query.min(key);
    let (q0, k0) = (turned(0, query - nearer)?, turned(1, key - nearer)?);
    let angle = (q[0] * k[1] - q[1] * k[0]).atan2(dot(&q, &k));
    Ok(vec![q[0], q[1], k[0], k[1], dot(&q, &k), dot(&q0, &k0), angle].into())
}

/// The score of one query and key at offset −2, as both move through the text.
///
/// Takes three layouts (0 interleaved, 1 half): that of the weights, that in which the query is
/// rotated, and that in which the key is; then 1 where the weights are first put into the query's
/// layout, and 0 where they are used as they are. Gives the score that the weights were trained
/// for; the scores with the query at positions 2 to 40; the difference of the largest and the
/// smallest of these; and, for each of the three layouts, the pair that each of the four entries
/// belongs to.
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the choice that does not exist.
///
/// ```
/// let right = widgets::rope::layouts(&[0.0, 0.0, 0.0, 0.0])?.numbers;
/// assert!(right[40] < 1e-12); // moving both tokens changes nothing
/// let mixed = widgets::rope::layouts(&[0.0, 0.0, 1.0, 0.0])?.numbers;
/// assert!(mixed[40] > 1.0);
/// # Ok::<(), widgets::Error>(())
/// ```
pub fn layouts(input: &[f64]) -> Result<Answer, Error> {
    let mut input = Input::new(input);
    let both = [Layout::Interleaved, Layout::Half];
    let weights = input.choice("weights", &both)?;
    let query = input.choice("query", &both)?;
    let key = input.choice("key", &both)?;
    let convert = input.choice("convert", &[false, true])?;
    let inv_freq = rope::inv_freq(4, 10_000.0)?;
    let score = |[q, k]: [[f64; 4]; 2], position: usize, layouts: [Layout; 2]| {
        let (mut q, mut k) = (q, k);
        rope::rotate(&mut q, position, &inv_freq, layouts[0])?;
        rope::rotate(&mut k, position - OFFSET, &inv_freq, layouts[1])?;
        Ok::<f64, Error>(dot(&q, &k))
    };
    let mut heads = HEADS;
    if convert {
        let lanes = rope::lanes(weights, query, 4)?;
        heads = heads.map(|head| std::array::from_fn(|entry| head[lanes[entry]]));
    }
    let mut numbers = vec![score(HEADS, OFFSET, [weights, weights])?];
    for position in OFFSET..=40 {
        numbers.push(score(heads, position, [query, key])?);
    }
    let largest = numbers[1..].iter().copied().fold(f64::MIN, f64::max);
    let smallest = numbers[1..].iter().copied().fold(f64::MAX, f64::min);
    numbers.push(largest - smallest);
    for layout in [weights, query, key] {
        let mut pairs = [0.0; 4];
        for pair in 0..2 {
            for entry in layout.pair(pair, 2) {
                pairs[entry] = pair as f64;
            }
        }
        numbers.extend(pairs);
    }
    Ok(numbers.into())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
