use positional_encoding::config::Model;
use serde_json::{Value, json};

use super::{llama, read, refusal, says, with};

/// The name and the layers of each table.
pub(super) fn layers(model: &Model) -> Vec<(&str, Option<Vec<usize>>)> {
    let tables = model.tables.iter();
    tables
        .map(|table| (table.layers.as_str(), table.layer_indices.clone()))
        .collect()
}

/// A `llama` whose full and sliding layers have bases of their own.
fn of_two_kinds(more: Value) -> Value {
    let kinds = json!({"rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }});
    llama(with(kinds, more))
}

#[test]
fn a_list_a_period_letters_or_numbers_say_which_layers_are_full() {
    let kinds = [
        "global_attention",
        "local",
        "full_attention",
        "sliding_attention",
    ];
    for (more, full, sliding) in [
        (json!({"layer_types": kinds}), vec![0, 2], vec![1, 3]),
        (
            json!({"num_hidden_layers": 7, "sliding_window_pattern": 3}),
            vec![2, 5],
            vec![0, 1, 3, 4, 6],
        ),
        (
            json!({"num_hidden_layers": 7, "_sliding_window_pattern": 3}),
            vec![2, 5],
            vec![0, 1, 3, 4, 6],
        ),
        (
            json!({"num_hidden_layers": 7, "global_attn_every_n_layers": 3}),
            vec![0, 3, 6],
            vec![1, 2, 4, 5],
        ),
        (
            json!({"num_hidden_layers": 7, "sliding_window_pattern": "LGL"}),
            vec![1, 4],
            vec![0, 2, 3, 5, 6],
        ),
        (
            json!({"num_hidden_layers": 4, "hybrid_layer_pattern": [0, 1, 1.0, 0]}),
            vec![0, 3],
            vec![1, 2],
        ),
        (
            json!({"model_type": "gemma3_text", "num_hidden_layers": 7}),
            vec![5],
            vec![0, 1, 2, 3, 4, 6],
        ),
        (
            json!({"model_type": "cwm", "num_hidden_layers": 7}),
            vec![0, 4],
            vec![1, 2, 3, 5, 6],
        ),
    ] {
        let file = of_two_kinds(more);
        let expected = vec![("full", Some(full)), ("sliding", Some(sliding))];
        assert_eq!(layers(&read(&file)), expected, "{file}");
    }
}

#[test]
fn which_layers_rotate_follows_from_the_file_then_from_the_model_type() {
    let of = |model_type: &str, more: Value| with(json!({"model_type": model_type}), more);
    for (file, expected) in [
        (llama(json!({})), vec![("all", None)]),
        (llama(json!({"num_hidden_layers": 3})), vec![("all", None)]),
        (
            llama(json!({"num_hidden_layers": 5, "no_rope_layer_interval": 2})),
            vec![("full", Some(vec![0, 2, 4])), ("none", Some(vec![1, 3]))],
        ),
        (
            llama(json!({"no_rope_layers": [1, 0, 1.0]})),
            vec![("full", Some(vec![0, 2])), ("none", Some(vec![1]))],
        ),
        (
            of("llama4_text", json!({"num_hidden_layers": 5})),
            vec![("full", Some(vec![0, 1, 2, 4])), ("none", Some(vec![3]))],
        ),
        (
            of("cohere2", json!({"num_hidden_layers": 5})),
            vec![("sliding", Some(vec![0, 1, 2, 4])), ("none", Some(vec![3]))],
        ),
        (
            of(
                "cohere2",
                json!({"num_hidden_layers": 5, "sliding_window": null}),
            ),
            vec![("sliding", Some(vec![0, 1, 2, 4])), ("none", Some(vec![3]))],
        ),
        (
            of(
                "exaone4",
                json!({"num_hidden_layers": 5, "sliding_window": 4096}),
            ),
            vec![("sliding", Some(vec![0, 1, 2, 4])), ("none", Some(vec![3]))],
        ),
        (
            of(
                "exaone4",
                json!({"num_hidden_layers": 5, "sliding_window": null}),
            ),
            vec![("all", Some(vec![0, 1, 2, 3, 4]))],
        ),
        (
            of(
                "gemma3_text",
                json!({"layer_types": ["sliding_attention", "full_attention"]}),
            ),
            vec![("full", Some(vec![1])), ("sliding", Some(vec![0]))],
        ),
    ] {
        assert_eq!(layers(&read(&file)), expected, "{file}");
    }
}

#[test]
fn a_model_type_that_rotates_sliding_layers_only_says_so_where_it_has_others() {
    let kinds = |kinds: &[&str]| json!({"num_hidden_layers": 2, "layer_types": kinds});
    let both = kinds(&["sliding_attention", "full_attention"]);
    let sliding = kinds(&["sliding_attention", "sliding_attention"]);
    let full = kinds(&["full_attention", "full_attention"]);
    for (model_type, more, expected) in [
        ("cohere2", &both, true),
        ("cohere2", &full, true),
        ("cohere2", &sliding, false),
        ("llama", &both, false),
    ] {
        let model = read(&with(json!({"model_type": model_type}), more.clone()));
        let words = format!("{model_type} rotates its sliding layers only");
        assert_eq!(says(&model, &words), expected, "{model_type} {more}");
    }
}

#[test]
fn no_period_is_assumed_where_the_model_has_no_sliding_window() {
    for (window, expected) in [(Value::Null, false), (json!(4096), true)] {
        let model = read(&json!({
            "model_type": "exaone4", "num_hidden_layers": 4, "sliding_window": window,
        }));
        let words = "sliding_window_pattern is missing: 4, the default of exaone4";
        assert_eq!(says(&model, words), expected, "{window}");
    }
}

#[test]
fn layers_of_kinds_that_do_not_attend_have_no_table() {
    for kind in [
        "linear_attention",
        "conv",
        "mamba",
        "recurrent",
        "ssm",
        "moe",
        "mlp",
    ] {
        let model = read(&llama(
            json!({"layer_types": [kind, "full_attention", kind]}),
        ));
        assert_eq!(layers(&model), [("all", Some(vec![1]))], "{kind}");
        let note = "2 of 3 layers mix tokens without attention: nothing is rotated there";
        assert!(says(&model, note), "{:?}", model.notes);
    }
    let attending = read(&llama(json!({"layer_types": ["full_attention"]})));
    assert!(!says(&attending, "mix tokens"), "{:?}", attending.notes);
}

#[test]
fn ten_thousand_layers_are_read_and_more_are_refused() {
    let kinds = |count: usize| json!({"layer_types": vec!["full_attention"; count]});
    let all: Vec<usize> = (0..10_000).collect();
    for more in [
        kinds(10_000),
        json!({"num_hidden_layers": 10_000, "no_rope_layer_interval": 10_001}),
    ] {
        let model = read(&llama(more));
        assert_eq!(layers(&model), [("all", Some(all.clone()))]);
    }
    for (more, refused) in [
        (
            kinds(10_001),
            "layer_types is a list of 10001, but must be at most 10000 layers; ",
        ),
        (
            json!({"num_hidden_layers": 10_001}),
            "num_hidden_layers is 10001, but must be at most 10000; ",
        ),
    ] {
        let text = refusal(&llama(more));
        assert!(text.starts_with(refused), "{text}");
    }
}

#[test]
fn a_list_has_one_entry_for_each_layer() {
    let two = json!(["full_attention", "full_attention"]);
    for (more, refused) in [
        (
            json!({"layer_types": two, "num_hidden_layers": 3}),
            "layer_types is a list of 2, but must be a list of num_hidden_layers 3, one entry a \
             layer; give one entry for each layer, or leave the list out",
        ),
        (
            json!({"no_rope_layers": [1, 0], "num_hidden_layers": 3}),
            "no_rope_layers is a list of 2, but must be a list of num_hidden_layers 3, ",
        ),
        (
            json!({"hybrid_layer_pattern": [1, 0], "no_rope_layers": [1, 1, 0]}),
            "hybrid_layer_pattern is a list of 2, but must be a list of num_hidden_layers 3, ",
        ),
        (
            json!({"no_rope_layers": [1, 1, 0], "layer_types": two}),
            "no_rope_layers is a list of 3, but must be a list of layer_types 2, ",
        ),
    ] {
        let text = refusal(&llama(more));
        assert!(text.starts_with(refused), "{text}");
    }
}

#[test]
fn an_entry_of_a_list_or_a_pattern_that_means_no_kind_of_layer_is_refused() {
    let of_three =
        |key: &str, value: Value| of_two_kinds(json!({"num_hidden_layers": 3, key: value}));
    for (file, refused) in [
        (
            of_three("hybrid_layer_pattern", json!([0, 1, 2])),
            "hybrid_layer_pattern[2] is 2, but must be 1 for a sliding layer, or 0; ",
        ),
        (
            of_three("sliding_window_pattern", json!("LXG")),
            "sliding_window_pattern is \"LXG\" (a string), but must be a number, or letters L \
             and G; ",
        ),
        (
            of_three("sliding_window_pattern", json!("")),
            "sliding_window_pattern is \"\" (a string), but must be a number, or letters L and G; ",
        ),
        (
            of_three(
                "layer_types",
                json!(["full_attention", 1, "full_attention"]),
            ),
            "layer_types[1] is 1, but must be a layer's kind, a string; ",
        ),
        (
            of_three("no_rope_layers", json!([1, 0, 2])),
            "no_rope_layers[2] is 2, but must be 1 for a layer that rotates, or 0 for one that \
             does not; ",
        ),
    ] {
        let text = refusal(&file);
        assert!(text.starts_with(refused), "{text}");
    }
}
