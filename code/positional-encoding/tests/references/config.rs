use positional_encoding::config::{self, Model, RopeType, Table};
use serde_json::Value;

/// The library computes in f32: one rounding of the exponent, times ln(base) at most 16, and one
/// of the power, 6e-8 relative each. The blend of llama3 subtracts two near numbers besides.
fn tolerance(rope_type: RopeType) -> f64 {
    match rope_type {
        RopeType::Llama3 => 2e-6,
        _ => 1e-6,
    }
}

fn references() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/references/transformers.json"
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn read(config: &Value, length: usize) -> Model {
    let bytes = serde_json::to_vec(config).unwrap();
    config::read(&bytes, Some(length)).unwrap_or_else(|error| panic!("{config}: {error}"))
}

/// Our table for a kind of layer as the library names it.
fn table<'m>(model: &'m Model, kind: &str) -> &'m Table {
    let kind = kind.trim_end_matches("_attention");
    let rotated = || {
        model
            .tables
            .iter()
            .filter(|table| table.rope_type != RopeType::None)
    };
    rotated()
        .find(|table| table.layers == kind)
        .or_else(|| rotated().next())
        .unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

fn each_answer(references: &Value, mut check: impl FnMut(&str, &Model, &str, &Value)) {
    for case in references["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        for answer in case["answers"].as_array().unwrap() {
            for length in numbers(&answer["lengths"]) {
                let model = read(&case["config"], length as usize);
                for (kind, expected) in answer["tables"].as_object().unwrap() {
                    check(&format!("{id} at {length}"), &model, kind, expected);
                }
            }
        }
    }
}

#[test]
fn frequencies_agree_with_the_released_library_for_every_kind_and_length() {
    let mut compared = 0;
    each_answer(&references(), |id, model, kind, expected| {
        let ours = table(model, kind);
        let theirs = numbers(&expected["inv_freq"]);
        let tolerance = tolerance(ours.rope_type);
        assert_eq!(ours.inv_freq.len(), theirs.len(), "{id} {kind}");
        for (pair, (ours, theirs)) in ours.inv_freq.iter().zip(&theirs).enumerate() {
            let close = (ours - theirs).abs() <= tolerance * ours.abs();
            assert!(close, "{id} {kind} pair {pair}: {ours} {theirs}");
        }
        compared += 1;
    });
    assert!(compared > 500, "{compared}");
}

#[test]
fn attention_factors_agree_with_the_released_library() {
    each_answer(&references(), |id, model, kind, expected| {
        let ours = table(model, kind).attention_factor;
        let theirs = expected["attention_factor"].as_f64().unwrap();
        assert!(
            (ours - theirs).abs() < 1e-12,
            "{id} {kind}: {ours} {theirs}"
        );
    });
}

#[test]
fn layouts_agree_with_the_rotation_that_the_released_library_does() {
    let mut compared = 0;
    for case in references()["cases"].as_array().unwrap() {
        let Some(theirs) = case["layout"].as_str() else {
            continue;
        };
        let model = read(&case["config"], 1);
        let ours = &model.to_json()["tables"][0]["layout"];
        assert_eq!(ours, theirs, "{}", case["id"]);
        compared += 1;
    }
    assert!(compared > 90, "{compared}");
}

#[test]
fn the_softmax_scale_agrees_with_the_released_library() {
    let mut compared = 0;
    for case in references()["cases"].as_array().unwrap() {
        let Some(theirs) = case["softmax_scale_factor"].as_f64() else {
            continue;
        };
        let ours = read(&case["config"], 4096).tables[0].softmax_scale_factor;
        assert!(
            (ours - theirs).abs() < 1e-12,
            "{}: {ours} {theirs}",
            case["id"]
        );
        compared += 1;
    }
    assert!(compared >= 18, "{compared}");
}

/// Values in double precision from formulas of their own, digit for digit.
#[test]
fn frequencies_agree_with_double_precision_to_a_part_in_a_million_million() {
    let lines = include_str!("given.jsonl").lines();
    let mut compared = 0;
    for line in lines {
        let given: Value = serde_json::from_str(line).unwrap();
        let (input, expect) = (&given["input"], &given["expect"]);
        let mut rope = input.clone();
        rope["rope_theta"] = input["theta"].clone();
        let head_dim = match &input["dim"] {
            Value::Null => &input["head_dim"],
            dim => dim,
        };
        let mut config = serde_json::json!({
            "model_type": "llama", "head_dim": head_dim, "rope_parameters": rope,
        });
        if let Some(max) = input["max_position_embeddings"].as_u64() {
            config["max_position_embeddings"] = max.into();
        } else if let Some(max) = input["original_max_position_embeddings"].as_u64() {
            config["max_position_embeddings"] = (max * 4).into();
        }
        let length = input["seq_len"].as_u64().unwrap_or(1) as usize;
        let model = read(&config, length);
        let ours = &model.tables[0];
        let close = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1e-12 * theirs.abs();
        if expect["inv_freq"].is_array() {
            let theirs = numbers(&expect["inv_freq"]);
            assert_eq!(ours.inv_freq.len(), theirs.len(), "{}", given["id"]);
            for (ours, theirs) in ours.inv_freq.iter().zip(theirs) {
                assert!(close(*ours, theirs), "{}: {ours} {theirs}", given["id"]);
            }
            compared += 1;
        }
        if let Some(theirs) = expect["attention_factor"].as_f64() {
            assert!(close(ours.attention_factor, theirs), "{}", given["id"]);
        }
        if let Some(theirs) = expect["base"].as_f64() {
            let d = ours.rotary_dim as f64;
            // The base from the second frequency: its rounding grows with the power.
            let base = ours.inv_freq[1].powf(-d / 2.0);
            assert!(
                (base / theirs - 1.0).abs() < 1e-12,
                "{}: {base}",
                given["id"]
            );
        }
    }
    assert!(compared >= 13, "{compared}");
}
