use ndarray::s;
use positional_encoding::{Direction, t5};
use serde_json::Value;

use crate::values::{list, matrix, modules, numbers, whole, wholes};

fn direction(case: &Value) -> Direction {
    match case["bidirectional"].as_bool().unwrap() {
        true => Direction::Bidirectional,
        false => Direction::Causal,
    }
}

fn integers(value: &Value) -> Vec<i64> {
    let integer = |value: &Value| value.as_i64().unwrap();
    list(value).iter().map(integer).collect()
}

#[test]
fn buckets_agree_with_transformers_near_and_far() {
    let modules = modules("t5");
    let near = integers(&modules["near"]);
    let relative: Vec<i64> = (near[0]..=near[1])
        .chain(integers(&modules["far"]))
        .collect();
    let mut apart = Vec::new();
    for case in list(&modules["buckets"]) {
        let (buckets, max_distance) = (whole(&case["buckets"]), whole(&case["max_distance"]));
        let theirs = [wholes(&case["near"]), wholes(&case["far"])].concat();
        assert_eq!(theirs.len(), relative.len());
        for (relative, theirs) in relative.iter().zip(theirs) {
            let ours = t5::bucket(*relative, buckets, max_distance, direction(case)).unwrap();
            if ours != theirs {
                apart.push((buckets, max_distance, *relative, ours, theirs));
            }
        }
    }
    assert_eq!(apart, []);
}

#[test]
fn biases_agree_with_the_attention_of_transformers() {
    for case in list(&modules("t5")["biases"]) {
        let table = matrix(&case["table"]);
        let max_distance = whole(&case["max_distance"]);
        let compare = |queries: Vec<usize>, keys: Vec<usize>, theirs: &Value| {
            let ours = t5::bias(table.view(), &queries, &keys, max_distance, direction(case));
            let ours = ours.unwrap();
            for (head, theirs) in list(theirs).iter().enumerate() {
                assert_eq!(ours.slice(s![head, .., ..]), matrix(theirs));
            }
        };
        compare((0..7).collect(), (0..7).collect(), &case["square"]);
        let (queries, keys) = ((131_070..131_072).collect(), (131_063..131_072).collect());
        compare(queries, keys, &case["after_131070"]);
        assert!(
            numbers(&case["square"][0][0])
                .iter()
                .any(|bias| *bias != 0.0)
        );
    }
}
