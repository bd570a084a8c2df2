//! Every function of every committed module, over random inputs, beside the same function here.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use widgets::EXPORTS;

use crate::door;

/// Standard libraries differ in the last digit of a sine; a changed formula differs in more.
const TOLERANCE: f64 = 1e-12;

/// A whole number that fits, most of the time, and otherwise whatever a field may hold.
fn whole(range: std::ops::RangeInclusive<u32>) -> BoxedStrategy<f64> {
    prop_oneof![
        12 => range.prop_map(f64::from),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(0.5), Just(1e300)],
    ]
    .boxed()
}

fn real(range: std::ops::Range<f64>) -> BoxedStrategy<f64> {
    prop_oneof![
        12 => range,
        1 => prop_oneof![Just(f64::NAN), Just(f64::NEG_INFINITY), Just(0.0), Just(-2.5)],
    ]
    .boxed()
}

fn orders() -> BoxedStrategy<Vec<f64>> {
    let own = vec![0.0, 1.0, 2.0, 3.0, 4.0];
    prop_oneof![8 => Just(own).prop_shuffle(), 1 => prop::collection::vec(whole(0..=5), 0..6)]
        .boxed()
}

/// Files that are configs, and files that are none.
fn files() -> BoxedStrategy<String> {
    let rotary = (1usize..=64, 1u32..=9, 1usize..=4, prop::option::of(1.0..64.0f64)).prop_map(
        |(heads, digits, kind, factor)| {
            let kind = ["linear", "dynamic", "yarn", "llama3"][kind - 1];
            let scaling = factor.map_or("null".into(), |factor| {
                format!(
                    "{{\"rope_type\": \"{kind}\", \"factor\": {factor}, \
                     \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \
                     \"original_max_position_embeddings\": 4096}}"
                )
            });
            format!(
                "{{\"model_type\": \"llama\", \"hidden_size\": {}, \"num_attention_heads\": {heads}, \
                 \"rope_theta\": 1{}.0, \"max_position_embeddings\": 8192, \"rope_scaling\": {scaling}}}",
                heads * 64,
                "0".repeat(digits as usize),
            )
        },
    );
    prop_oneof![
        6 => rotary,
        1 => ".{0,40}",
        1 => Just("{\"model_type\": \"bloom\", \"n_head\": 16}".to_owned()),
        1 => Just("{\"rope_theta\": \"large\"}".to_owned()),
    ]
    .boxed()
}

fn inputs(function: &str) -> BoxedStrategy<Vec<f64>> {
    let list = match function {
        "attention" => {
            let choices = (whole(0..=1), whole(0..=3), orders());
            return choices
                .prop_map(|(mask, signal, order)| [vec![mask, signal], order].concat())
                .boxed();
        }
        "config" => {
            return (whole(1..=100_000), whole(0..=1), files())
                .prop_map(|(length, table, file)| {
                    let bytes = file.bytes().map(f64::from);
                    [length, table].into_iter().chain(bytes).collect()
                })
                .boxed();
        }
        "waves" => vec![whole(0..=127), whole(0..=128)],
        "similarity" => vec![whole(0..=127), whole(0..=512), real(1.0..1e6)],
        "arrows" => vec![whole(0..=1000), whole(0..=1000), real(0.0..3.2)],
        "layouts" => vec![whole(0..=1), whole(0..=1), whole(0..=1), whole(0..=1)],
        "bias" => vec![
            whole(0..=1),
            whole(0..=1),
            whole(1..=64),
            whole(1..=64),
            whole(0..=63),
            whole(0..=63),
        ],
        "scaling" => vec![
            whole(0..=5),
            whole(0..=6),
            real(1.0..64.0),
            whole(1..=1_000_000),
        ],
        other => panic!("say in this test what {other} takes"),
    };
    list.boxed()
}

fn alike(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= TOLERANCE * a.abs().max(1.0)
}

#[test]
fn every_module_answers_as_the_crate_does() {
    for &(module, name, native) in EXPORTS {
        let running = RefCell::new(door::start(module));
        let (answers, refusals) = (Cell::new(0), Cell::new(0));
        let settings = Config {
            cases: 64,
            failure_persistence: None,
            ..Config::default()
        };
        // The same inputs each time: among them must be enough that are answered and refused.
        let generator = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(settings, generator);
        let outcome = runner.run(&inputs(name), |input| {
            let there = running.borrow_mut().ask(name, &input);
            match (native(&input), there) {
                (Ok(here), Ok((numbers, text))) => {
                    answers.set(answers.get() + 1);
                    prop_assert_eq!(here.text, text);
                    prop_assert_eq!(here.numbers.len(), numbers.len());
                    for (place, (&a, &b)) in here.numbers.iter().zip(&numbers).enumerate() {
                        prop_assert!(alike(a, b), "number {}: {} here, {} there", place, a, b);
                    }
                }
                (Err(here), Err(there)) => {
                    refusals.set(refusals.get() + 1);
                    prop_assert_eq!(here.to_string(), there);
                }
                (here, there) => prop_assert!(false, "{:?} here, {:?} there", here, there),
            }
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!(
                "{module}: {name} is stale or wrong; run `cargo run -p widgets --bin modules`\n{failure}"
            );
        }
        let answers = answers.get();
        assert!(answers > 5, "{name}: only {answers} inputs were answered");
        assert!(refusals.get() > 0, "{name}: nothing was refused");
    }
}

#[test]
fn every_module_holds_its_chapter_and_nothing_else() {
    for &(module, ..) in EXPORTS {
        let mut found = door::start(module).functions();
        found.sort_unstable();
        let listed = EXPORTS.iter().filter(|(other, ..)| *other == module);
        let mut listed: Vec<&str> = listed.map(|(_, name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(found, listed, "the module of {module}");
    }
}
