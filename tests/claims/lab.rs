//! Claims on what the lab recorded: who is flat, who breaks, and where.

use figures::lab;
use figures::record::Record;

const SEEDS: [&str; 2] = ["1", "2"];

fn loss(record: &Record, scheme: &str, seed: &str, evaluation: &str, length: &str) -> f64 {
    let row = [
        ("scheme", scheme),
        ("seed", seed),
        ("evaluation", evaluation),
        ("length", length),
    ];
    record.number("loss", &row).unwrap()
}

/// Loss with sliding windows: each character has its full context.
fn sliding(scheme: &str, seed: &str, length: &str) -> f64 {
    loss(&lab::length().unwrap(), scheme, seed, "sliding", length)
}

/// Loss with windows that do not overlap.
fn separate(scheme: &str, seed: &str, length: &str) -> f64 {
    loss(&lab::length().unwrap(), scheme, seed, "separate", length)
}

/// Accuracy and largest difference of logits of one classifier, for each seed.
fn order(mask: &str, scheme: &str, layers: &str, read: &str) -> Vec<(f64, f64)> {
    let record = lab::order().unwrap();
    let row = [
        ("mask", mask),
        ("scheme", scheme),
        ("layers", layers),
        ("read", read),
    ];
    let accuracies = record.numbers("accuracy", &row).unwrap();
    let differences = record.numbers("difference", &row).unwrap();
    assert_eq!(accuracies.len(), SEEDS.len());
    accuracies.into_iter().zip(differences).collect()
}

/// Half the sentences right, with logits equal but for rounding in single precision.
fn is_blind((accuracy, difference): &(f64, f64)) -> bool {
    *accuracy == 0.5 && *difference < 1e-4
}

fn extended(method: &str, factor: &str, tuned: &str, seed: &str, length: &str) -> f64 {
    let row = [
        ("method", method),
        ("factor", factor),
        ("tuned", tuned),
        ("seed", seed),
        ("length", length),
    ];
    lab::extend().unwrap().number("loss", &row).unwrap()
}

fn previous(scheme: &str, rule: &str, seed: &str) -> Vec<f64> {
    let row = [("scheme", scheme), ("rule", rule), ("seed", seed)];
    lab::previous().unwrap().numbers("accuracy", &row).unwrap()
}

#[test]
fn without_positions_a_trained_classifier_names_the_doer_half_the_time() {
    for read in ["end", "verb"] {
        assert!(order("none", "none", "2", read).iter().all(is_blind), "{read}");
    }
}

#[test]
fn every_scheme_tells_who_did_it_at_the_end_of_the_sentence() {
    for scheme in ["sinusoidal", "learned", "rope", "t5", "t5-unsigned"] {
        for (accuracy, _) in order("none", scheme, "2", "end") {
            assert!(accuracy > 0.99, "{scheme}: {accuracy}");
        }
    }
    for (accuracy, _) in order("none", "alibi", "2", "end") {
        assert!(accuracy > 0.85, "{accuracy}");
    }
}

#[test]
fn at_the_verb_a_bias_in_the_unsigned_distance_is_blind_still() {
    for scheme in ["alibi", "t5-unsigned"] {
        assert!(order("none", scheme, "2", "verb").iter().all(is_blind), "{scheme}");
    }
    for scheme in ["sinusoidal", "learned", "rope", "t5"] {
        for (accuracy, _) in order("none", scheme, "2", "verb") {
            assert!(accuracy > 0.99, "{scheme}: {accuracy}");
        }
    }
}

#[test]
fn a_trained_causal_model_without_positions_tells_order_with_two_layers_but_not_with_one() {
    assert!(order("causal", "none", "1", "end").iter().all(is_blind));
    let second = order("causal", "none", "2", "end");
    let at_the_verb = order("causal", "none", "1", "verb");
    for (accuracy, _) in second.into_iter().chain(at_the_verb) {
        assert!(accuracy > 0.99, "{accuracy}");
    }
}
