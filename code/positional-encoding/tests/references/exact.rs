//! How far the functions are from arithmetic of 100 digits: each test holds the bound that the
//! function's documentation states.

use ndarray::{Array2, Array3};
use positional_encoding::attention::{Mask, attention_with_bias, softmax};
use positional_encoding::rope::{self, Layout};
use positional_encoding::scaling::{
    self, ByParts, Frequencies, Llama3, LongRope, LongRopeAttention, Ramp, Trained, Yarn,
};
use positional_encoding::{Direction, alibi, sinusoidal, t5};
use serde_json::Value;

use crate::values::{Largest, error, exact, list, matrix, number, numbers, whole, wholes};

/// Half a unit in the last place of a number from 1/2 to 1, and the relative error of one rounding.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// Pairs of a case: the index, and the values of 32 digits beside it.
fn pairs<'v>(case: &'v Value, name: &str) -> impl Iterator<Item = (usize, &'v Value)> {
    wholes(&case["pairs"]).into_iter().zip(list(&case[name]))
}

/// The largest error of sines and cosines of `case`, where `entry` reads ours.
fn see_waves(found: &mut Largest, case: &Value, entry: impl Fn(usize, &str) -> Option<f64>) {
    for name in ["sin", "cos"] {
        for (pair, exact) in pairs(case, name) {
            if let Some(ours) = entry(pair, name) {
                found.see(error(ours, exact));
            }
        }
    }
}

/// Entry of a pair in the paper's layout; the last cosine of an odd width is not there.
fn interleaved(pair: usize, name: &str) -> usize {
    2 * pair + usize::from(name == "cos")
}

#[test]
fn frequencies_are_within_their_bound() {
    let mut largest = Largest::default();
    for case in list(&exact("inv_freq")) {
        let (base, width) = (number(&case["base"]), whole(&case["width"]));
        // One rounding of the exponent, which ln(base) magnifies, and one of the power.
        let bound = (1.0 + base.ln()) * ROUNDING * 1.1;
        let mut check = |ours: &[f64]| {
            for (pair, exact) in pairs(case, "values") {
                let error = error(ours[pair], exact) / ours[pair];
                assert!(
                    error <= bound,
                    "base {base}, width {width}, pair {pair}: {error}"
                );
                largest.see(error);
            }
        };
        if width % 2 == 0 {
            check(&rope::inv_freq(width, base).unwrap());
        }
        if base == sinusoidal::BASE {
            check(&sinusoidal::inv_freq(width).unwrap());
        }
    }
    println!("inv_freq: {largest:?}");
    assert!(largest.count > 100);
}

/// What an angle is off by: one rounding of the frequency, at most 1, and one of the product.
fn angle_bound(position: usize) -> f64 {
    2.3e-16 * position as f64 + 2.3e-16
}

#[test]
fn encodings_are_within_their_bound() {
    let mut largest = Largest::default();
    for case in list(&exact("encoding")) {
        let (position, d_model) = (whole(&case["position"]), whole(&case["d_model"]));
        let ours = sinusoidal::encoding(position, d_model).unwrap();
        let mut here = Largest::default();
        see_waves(&mut here, case, |pair, name| {
            ours.get(interleaved(pair, name)).copied()
        });
        assert!(
            here.value <= angle_bound(position),
            "{position}, {d_model}: {here:?}"
        );
        largest.see(here.value);
    }
    println!("encoding: {largest:?}");
    assert!(largest.count > 20);
    assert!(largest.value <= 1.4e-10);
}

#[test]
fn tensor2tensor_encodings_are_within_their_bound() {
    let mut largest = Largest::default();
    for case in list(&exact("tensor2tensor")) {
        let (position, d_model) = (whole(&case["position"]), whole(&case["d_model"]));
        let ours = sinusoidal::tensor2tensor_encoding(position, d_model).unwrap();
        let mut here = Largest::default();
        see_waves(&mut here, case, |pair, name| {
            Some(ours[pair + if name == "cos" { d_model / 2 } else { 0 }])
        });
        assert!(
            here.value <= angle_bound(position),
            "{position}, {d_model}: {here:?}"
        );
        largest.see(here.value);
    }
    println!("tensor2tensor_encoding: {largest:?}");
    assert!(largest.count > 10);
}

#[test]
fn long_tables_are_within_their_bounds() {
    let cases = exact("table");
    for (seq_len, d_model) in [(131_072, 64), (1_000_001, 6)] {
        let direct = sinusoidal::table(seq_len, d_model).unwrap();
        let turned = sinusoidal::table_by_rotation(seq_len, d_model).unwrap();
        let [mut by_sine, mut by_rotation] = [Largest::default(), Largest::default()];
        let of_this_length = |case: &&Value| whole(&case["seq_len"]) == seq_len;
        for case in list(&cases).iter().filter(of_this_length) {
            let position = whole(&case["position"]);
            let check = |largest: &mut Largest, table: &Array2<f64>, bound: f64| {
                let mut here = Largest::default();
                see_waves(&mut here, case, |pair, name| {
                    Some(table[[position, interleaved(pair, name)]])
                });
                assert!(here.value <= bound, "{position}: {here:?}");
                largest.see(here.value);
            };
            check(&mut by_sine, &direct, angle_bound(position));
            // One rounding of the frequency, the error of the first block, at most 255 positions
            // long, and the roundings of the turn.
            check(&mut by_rotation, &turned, 1.2e-16 * position as f64 + 3e-14);
        }
        println!("table {seq_len}: {by_sine:?}, by rotation {by_rotation:?}");
        assert!(by_sine.count >= 15);
    }
}

#[test]
fn rotations_are_within_their_bound() {
    let mut largest = Largest::default();
    for case in list(&exact("rotate")) {
        let (width, position) = (whole(&case["rotary_dim"]), whole(&case["position"]));
        let inv_freq = rope::inv_freq(width, number(&case["base"])).unwrap();
        for layout in [Layout::Interleaved, Layout::Half] {
            for turned in list(&case["turned"]) {
                let from = numbers(&turned["from"]);
                let length = f64::hypot(from[0], from[1]);
                let [a, b] = layout.pair(whole(&turned["pair"]), width / 2);
                let mut x = vec![0.0; width];
                (x[a], x[b]) = (from[0], from[1]);
                let mut batch = Array3::from_shape_vec((1, 1, width), x.clone()).unwrap();
                rope::rotate(&mut x, position, &inv_freq, layout).unwrap();
                rope::apply(&mut batch, &[position], &inv_freq, layout).unwrap();
                for (entry, exact) in [a, b].into_iter().zip(list(&turned["to"])) {
                    // The turn itself rounds two products and a sum, besides sine and cosine.
                    let bound = (angle_bound(position) + 6.0 * ROUNDING) * length;
                    let error = error(x[entry], exact);
                    assert!(error <= bound, "{width} at {position}: {error}");
                    assert_eq!(x[entry], batch[[0, 0, entry]]);
                    if length > 0.0 {
                        largest.see(error / length);
                    }
                }
            }
        }
    }
    println!("rotate: {largest:?}");
    assert!(largest.count > 100);
    assert!(largest.value <= 1.4e-10);
}

#[test]
fn slopes_are_within_their_bound() {
    let mut largest = Largest::default();
    for case in list(&exact("slopes")) {
        let ours = alibi::slopes(whole(&case["heads"])).unwrap();
        assert_eq!(ours.len(), list(&case["slopes"]).len());
        for (ours, exact) in ours.iter().zip(list(&case["slopes"])) {
            largest.see(error(*ours, exact) / ours);
        }
    }
    println!("slopes: {largest:?}");
    // The number of heads is a power of two, so the exponent is exact; the power is rounded once.
    assert!(largest.value <= 1.3e-16);
    assert!(largest.count > 100);
}

#[test]
fn bucket_edges_are_exact_for_t5_and_at_most_one_low_elsewhere() {
    let mut low = Vec::new();
    for case in list(&exact("t5")) {
        let (buckets, max_distance) = (whole(&case["buckets"]), whole(&case["max_distance"]));
        let bucket = |distance: usize| {
            let relative = -(distance as i64);
            t5::bucket(relative, buckets, max_distance, Direction::Causal).unwrap()
        };
        let both = |distance: usize| {
            let relative = distance as i64;
            let all = 2 * buckets;
            t5::bucket(relative, all, max_distance, Direction::Bidirectional).unwrap() - buckets
        };
        let edges: Vec<_> = list(&case["first"]).iter().map(wholes).collect();
        for (at, edge) in edges.iter().enumerate() {
            let (first, number) = (edge[0], edge[1]);
            let next = edges.get(at + 1).map_or(1_000_001, |edge| edge[0]);
            if bucket(first) + 1 == number {
                low.push((buckets, max_distance, first));
            } else {
                assert_eq!(bucket(first), number, "{buckets}, {max_distance}, {first}");
            }
            if next > first + 1 {
                assert_eq!(
                    bucket(first + 1),
                    number,
                    "{buckets}, {max_distance}, {first}"
                );
            }
            assert_eq!(
                bucket(next - 1),
                if next == first + 1 {
                    bucket(first)
                } else {
                    number
                }
            );
            if first > 0 {
                assert_eq!(both(first), bucket(first));
            }
        }
    }
    println!("t5, one low: {low:?}");
    assert!(
        low.iter()
            .all(|(buckets, _, _)| ![16, 32].contains(buckets))
    );
    assert!(!low.is_empty());
}

#[test]
fn weights_are_within_their_bound() {
    let exact = exact("softmax");
    let mut largest = Largest::default();
    for case in list(&exact["rows"]) {
        let scores = numbers(&case["scores"]);
        let row = Array2::from_shape_vec((1, scores.len()), scores.clone()).unwrap();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let ours = softmax(row.view());
        for (key, exact) in list(&case["weights"]).iter().enumerate() {
            let ours = ours[[0, key]];
            // A weight that underflows is off by what it is, next to nothing.
            let relative = error(ours, exact) / ours.max(f64::MIN_POSITIVE);
            // The difference to the largest score is rounded, then the exponential, the sum of
            // as many terms as there are keys, and the quotient.
            let bound = ((most - scores[key]) + scores.len() as f64 + 3.0) * ROUNDING;
            assert!(relative <= bound, "{relative} of {ours}");
            largest.see(relative);
        }
    }
    let mut long = Largest::default();
    let keys = whole(&exact["long"]["keys"]);
    let score = |key: usize| ((key * 37 % 1024) as f64 - 512.0) / 64.0;
    let row = Array2::from_shape_fn((1, keys), |(_, key)| score(key));
    let ours = softmax(row.view());
    let kept = wholes(&exact["long"]["kept"]);
    for (key, exact) in kept.into_iter().zip(list(&exact["long"]["weights"])) {
        long.see(error(ours[[0, key]], exact) / ours[[0, key]]);
    }
    println!("softmax: {largest:?}, long {long:?}");
    // The sum is taken in lanes, so that fewer roundings follow each other than there are keys.
    assert!(long.value <= 4e-15);
    assert!(largest.count > 40);
}

#[test]
fn outputs_of_attention_are_within_their_bound() {
    let mut largest = Largest::default();
    for case in list(&exact("attention")) {
        let [queries, keys, values, bias] =
            ["queries", "keys", "values", "bias"].map(|name| matrix(&case[name]));
        let ours = attention_with_bias(
            queries.view(),
            keys.view(),
            values.view(),
            bias.view(),
            Mask::Causal,
        )
        .unwrap();
        for (row, exact) in ours.rows().into_iter().zip(list(&case["out"])) {
            for (ours, exact) in row.iter().zip(list(exact)) {
                largest.see(error(*ours, exact));
            }
        }
    }
    println!("attention: {largest:?}");
    // Values up to 2 and scores of a few units: some tens of roundings at the most.
    assert!(largest.value <= 4e-15);
    assert!(largest.count > 30);
}

fn scaled(case: &Value) -> Frequencies {
    let (factor, seq_len) = (number(&case["factor"]), whole(&case["seq_len"]));
    let trained = Trained {
        rotary_dim: whole(&case["rotary_dim"]),
        base: number(&case["base"]),
        length: whole(&case["length"]),
    };
    let yarn = |ramp| {
        let parameters = Yarn {
            factor,
            ramp,
            ..Yarn::default()
        };
        scaling::yarn(&trained, &parameters)
    };
    let pairs = trained.rotary_dim / 2;
    let lists = || LongRope {
        short_factor: vec![1.0; pairs],
        long_factor: (0..pairs).map(|i| 1.0 + i as f64 / 8.0).collect(),
        attention: LongRopeAttention::FromFactor(factor),
    };
    match case["rule"].as_str().unwrap() {
        "position_interpolation" => scaling::position_interpolation(&trained, factor),
        "ntk_aware" => scaling::ntk_aware(&trained, factor),
        "dynamic_ntk" => scaling::dynamic_ntk(&trained, seq_len),
        "dynamic_ntk_with_factor" => scaling::dynamic_ntk_with_factor(&trained, factor, seq_len),
        "ntk_by_parts" => scaling::ntk_by_parts(
            &trained,
            &ByParts {
                factor,
                ..ByParts::default()
            },
        ),
        "yarn_turns" => yarn(Ramp::Turns),
        "yarn_pairs" => yarn(Ramp::Pairs),
        "yarn_whole_pairs" => yarn(Ramp::WholePairs),
        "llama3" => scaling::llama3(
            &trained,
            &Llama3 {
                factor,
                ..Llama3::default()
            },
        ),
        "longrope" => scaling::longrope(&trained, &lists(), seq_len),
        rule => panic!("no rule {rule}"),
    }
    .unwrap()
}

#[test]
fn scaled_frequencies_are_within_their_bound() {
    let mut by_rule = std::collections::BTreeMap::<String, Largest>::new();
    let mut factors = Largest::default();
    for case in list(&exact("scaling")) {
        let ours = scaled(case);
        let rule = case["rule"].as_str().unwrap();
        for (pair, exact) in pairs(case, "inv_freq") {
            let ours = ours.inv_freq[pair];
            by_rule
                .entry(rule.into())
                .or_default()
                .see(error(ours, exact) / ours);
        }
        factors.see(error(ours.attention_factor, &case["attention_factor"]));
    }
    println!("{by_rule:#?} {factors:?}");
    assert_eq!(by_rule.len(), 10);
    for (rule, largest) in by_rule {
        // One rounding of the exponent, which ln(base) magnifies. A blend magnifies the error of a
        // small part kept by the factor; the bounds of the ramp over pairs add two logarithms.
        let bound = match rule.as_str() {
            "position_interpolation" | "longrope" => 2e-15,
            "ntk_aware" | "dynamic_ntk" | "dynamic_ntk_with_factor" => 4e-15,
            "llama3" => 2e-14,
            "yarn_pairs" => 3e-14,
            _ => 5e-15,
        };
        assert!(largest.value <= bound, "{rule}: {largest:?}");
        assert!(largest.count > 10);
    }
    assert!(factors.value <= 4.0 * ROUNDING);
}
