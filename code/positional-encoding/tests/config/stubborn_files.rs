//! Files that say something odd where a number, a kind or a layer belongs.

use std::time::Instant;

use positional_encoding::scaling::{self, Trained};
use serde_json::{Value, json};

use super::{llama, read, read_at, refusal, refusal_at, says};

#[test]
fn an_object_in_the_place_of_a_setting_is_no_kind_of_layer() {
    for setting in [
        "factor",
        "type",
        "beta_fast",
        "attention_factor",
        "mscale",
        "truncate",
    ] {
        let mut block = json!({"rope_type": "yarn", "factor": 4.0});
        if setting == "type" {
            block = json!({"factor": 4.0});
        }
        block[setting] = json!({"a": 1});
        let text = refusal(&llama(json!({"rope_scaling": block})));
        assert!(
            text.starts_with(&format!("rope_scaling.{setting} is ")),
            "{text}"
        );
        assert!(text.contains("(an object), but must be"), "{text}");
    }
    let block = json!({"rope_type": "linear", "factor": 2.0, "extra": {"a": 1}});
    let model = read(&llama(json!({"rope_scaling": block})));
    assert_eq!(model.tables[0].inv_freq[0], 0.5);
    assert!(says(&model, "extra"));
}

#[test]
fn where_no_layer_rotates_there_are_no_frequencies() {
    for more in [
        json!({"no_rope_layers": [0, 0, 0, 0]}),
        json!({"no_rope_layer_interval": 1}),
    ] {
        let mut file = llama(more);
        file["model_type"] = "smollm3".into();
        file["num_hidden_layers"] = 4.into();
        let model = read(&file);
        assert_eq!(model.tables.len(), 1);
        assert_eq!(model.tables[0].layers, "none");
        assert_eq!(model.tables[0].layer_indices, Some(vec![0, 1, 2, 3]));
        assert!(model.tables[0].inv_freq.is_empty());
    }
}

#[test]
fn a_refusal_names_the_key_and_the_value_of_the_file_not_of_the_formula() {
    let block = |block: Value| json!({"rope_scaling": block});
    for (more, starts) in [
        (json!({"rope_theta": 5e-324}), "rope_theta is 5e-324,"),
        (
            block(json!({"type": "linear", "factor": 5e-324})),
            "rope_scaling.factor is 5e-324,",
        ),
        (
            block(json!({"type": "proportional", "factor": 5e-324})),
            "rope_scaling.factor is 5e-324,",
        ),
        (
            json!({"rope_theta": 0.5, "rope_scaling": {"type": "yarn", "factor": 4}}),
            "rope_theta is 0.5,",
        ),
        (
            block(json!({"type": "yarn", "factor": 4, "mscale": -1})),
            "rope_scaling.mscale is -1,",
        ),
        (
            block(json!({"type": "yarn", "factor": 4, "mscale": 1, "mscale_all_dim": -1})),
            "rope_scaling.mscale_all_dim is -1,",
        ),
        (
            block(json!({"type": "yarn", "factor": 4, "beta_slow": 1e308})),
            "rope_scaling.beta_slow is 1e308 with beta_fast 32,",
        ),
        (
            json!({"partial_rotary_factor": 1e308}),
            "partial_rotary_factor is 1e308,",
        ),
        (
            block(json!({"type": "proportional", "partial_rotary_factor": 1e-9})),
            "rope_scaling.partial_rotary_factor is 1e-9 of a head of 128, no pair,",
        ),
        (json!({"head_dim": 33}), "head_dim is 33,"),
        (json!({"rope_ratio": 1e308}), "rope_ratio is 1e308,"),
        (
            json!({"original_max_position_embeddings": 1,
                "rope_scaling": {"type": "yarn", "factor": 4}}),
            "original_max_position_embeddings is 1,",
        ),
    ] {
        let text = refusal(&llama(more));
        assert!(text.starts_with(starts), "{text}");
        assert!(text.len() < 300 && !text.contains("::"), "{text}");
    }
    let steep = llama(json!({"rope_theta": 1e308,
        "rope_scaling": {"type": "dynamic", "factor": 4}}));
    let text = refusal_at(&steep, Some(100_000));
    assert!(text.starts_with("rope_theta is 1e308,"), "{text}");
}

#[test]
fn a_factor_of_deepseeks_that_is_not_finite_is_refused() {
    let mut file = llama(json!({"rope_scaling": {
        "type": "yarn", "factor": 40, "mscale": 1, "mscale_all_dim": 1e308,
    }}));
    file["model_type"] = "deepseek_v3".into();
    assert!(refusal(&file).contains("mscale_all_dim"));
}

/// `f s - (f - 1)` loses the one where `f` is large, `1 + f (s - 1)` does not.
#[test]
fn dynamic_ntk_leaves_the_trained_length_alone_whatever_the_factor() {
    let trained = Trained {
        rotary_dim: 128,
        base: 10_000.0,
        length: 8192,
    };
    for factor in [1e-300, 0.5, 8.0, 9.3e18, 1e308] {
        let frequencies = scaling::dynamic_ntk_with_factor(&trained, factor, 8192).unwrap();
        assert_eq!(frequencies.inv_freq, trained.inv_freq().unwrap());
    }
}

#[test]
fn buckets_that_t5_cannot_share_out_are_refused() {
    for (key, value) in [
        ("relative_attention_num_buckets", 1),
        ("relative_attention_num_buckets", 3),
        ("relative_attention_max_distance", 8),
    ] {
        let text = refusal(&json!({"model_type": "t5", key: value}));
        assert!(text.starts_with(&format!("{key} is {value},")), "{text}");
    }
}

#[test]
fn what_is_assumed_or_left_unread_is_said() {
    for (file, words) in [
        (json!({"model_type": "mpt"}), "alibi is missing: true"),
        (json!({"model_type": "mpt"}), "alibi_bias_max is missing: 8"),
        (json!({"model_type": "falcon"}), "alibi is missing: false"),
        (
            llama(json!({"truncate": false})),
            "truncate false is not used",
        ),
        (llama(json!({"beta_fast": 16})), "beta_fast 16 is not used"),
        (
            json!({"model_type": "mpt", "attn_config": {"alibi": true, "rope": true}}),
            "attn_config.rope true does not",
        ),
        (
            llama(json!({"rope_theta": 1})),
            "rope_theta 1 is not above 1",
        ),
        (
            llama(json!({"no_rope_layers": [1, 1, 1, 0], "no_rope_layer_interval": 2})),
            "no_rope_layer_interval 2 beside it says otherwise",
        ),
        (
            llama(
                json!({"layer_types": ["full_attention", "sliding_attention"],
                "sliding_window_pattern": 2}),
            ),
            "sliding_window_pattern beside it says otherwise",
        ),
    ] {
        let model = read(&file);
        assert!(says(&model, words), "{file}: {:?}", model.notes);
    }
    let marian = json!({"model_type": "marian", "max_position_embeddings": 512});
    let model = read_at(&marian, Some(513));
    assert!(says(&model, "beyond the 512"));
    assert!(refusal(&json!({"model_type": "mpt", "attn_config": "x"})).starts_with("attn_config"));
}

/// The released library multiplies the softmax scale in these model types too.
#[test]
fn model_types_with_deepseeks_softmax_factor_have_it() {
    for model_type in ["axk1", "axk2", "hy_v4", "hy_v4_vl"] {
        let file = json!({"model_type": model_type, "rope_parameters": {
            "rope_type": "yarn", "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096, "rope_theta": 10000.0,
        }});
        let table = &read(&file).tables[0];
        assert_eq!(table.attention_factor, 1.0);
        assert!((table.softmax_scale_factor - 1.873854207).abs() < 1e-9);
    }
}

#[test]
fn whisper_writes_448_positions_at_most() {
    let whisper = json!({"model_type": "whisper", "max_target_positions": 448});
    let model = read(&whisper);
    assert_eq!(model.to_json()["details"]["usable"], 448);
    refusal_at(&whisper, Some(449));
}

/// A second is the limit of a release build on an idle machine; unchecked, each of these took
/// minutes, so that a wide margin still tells.
#[test]
fn a_file_of_many_keys_or_kinds_is_read_or_refused_soon() {
    let many = |name: &str| -> Value {
        let pairs = (0..100_000).map(|i| (format!("{name}{i}"), json!(1)));
        Value::Object(pairs.collect())
    };
    let start = Instant::now();
    let mut outside = many("rope_");
    outside["model_type"] = "llama".into();
    let notes = read(&outside).notes;
    assert!(notes.len() < 100 && notes.iter().any(|note| note.contains("more keys")));
    let mut inside = many("x");
    inside["type"] = "linear".into();
    inside["factor"] = 2.into();
    assert!(read(&llama(json!({"rope_scaling": inside}))).notes.len() < 100);
    let kinds: serde_json::Map<_, _> = (0..10_000)
        .map(|i| (format!("a{i}_attention"), json!({"rope_theta": i + 5})))
        .collect();
    let text = refusal(&llama(json!({"rope_parameters": kinds, "head_dim": 65536})));
    assert!(text.contains("10000 kinds of layer"), "{text}");
    let layer_types: Vec<_> = (0..10_000).map(|i| format!("a{i}")).collect();
    let file = llama(json!({"layer_types": layer_types, "num_hidden_layers": 10_000}));
    assert_eq!(read(&file).tables.len(), 1);
    let long_key = "rope".repeat(100_000);
    let notes = read(&llama(json!({long_key: 1}))).notes;
    assert!(notes.iter().all(|note| note.len() < 500));
    assert!(start.elapsed().as_secs() < 30);
}
