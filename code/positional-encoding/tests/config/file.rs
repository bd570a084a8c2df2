//! The file as a whole: its bytes, its objects, its model type, and the keys nothing reads.

use positional_encoding::config::{self, MAX_BYTES, RopeType};
use serde_json::{Value, json};

use super::{llama, read, read_at, refusal, says, with};

fn refused(bytes: &[u8], length: Option<usize>) -> String {
    config::read(bytes, length).unwrap_err().to_string()
}

#[test]
fn a_file_of_the_largest_size_is_read_and_one_byte_more_is_not() {
    let mut bytes = serde_json::to_vec(&llama(json!({}))).unwrap();
    bytes.resize(MAX_BYTES, b' ');
    assert!(config::read(&bytes, None).is_ok());
    bytes.push(b' ');
    assert!(refused(&bytes, None).starts_with("the file is larger than 4 MiB"));
}

#[test]
fn the_largest_length_is_two_to_the_53() {
    let file = llama(json!({}));
    assert_eq!(
        read_at(&file, Some(1 << 53)).tables[0].length,
        Some(1 << 53)
    );
    let bytes = serde_json::to_vec(&file).unwrap();
    assert!(refused(&bytes, Some((1 << 53) + 1)).starts_with("length is 9007199254740993,"));
}

#[test]
fn a_key_given_again_is_noted_once_and_its_last_value_counts() {
    for (times, head_dims) in [
        (2, "8, \"head_dim\": 32"),
        (3, "8, \"head_dim\": 16, \"head_dim\": 32"),
    ] {
        let file = format!("{{\"model_type\": \"llama\", \"head_dim\": {head_dims}}}");
        let model = config::read(file.as_bytes(), None).unwrap();
        assert_eq!(model.tables[0].head_dim, 32);
        let notes: Vec<_> = model
            .notes
            .iter()
            .filter(|note| note.contains("more than"))
            .collect();
        let expected =
            ["head_dim is given more than once: the last value counts, the earlier 8 does not"];
        assert_eq!(notes, expected, "{times} times");
    }
}

#[test]
fn a_hundred_keys_may_be_given_twice() {
    let twice = |keys: usize| {
        let pairs: String = (0..keys)
            .map(|i| format!(", \"x{i}\": 1, \"x{i}\": 2"))
            .collect();
        config::read(
            format!("{{\"model_type\": \"llama\"{pairs}}}").as_bytes(),
            None,
        )
    };
    assert!(says(&twice(100).unwrap(), "x99 is given more than once"));
    let error = twice(101).unwrap_err().to_string();
    assert!(
        error.contains("more than 100 keys are given twice"),
        "{error}"
    );
}

#[test]
fn the_object_of_the_text_model_is_named() {
    let note = "the text model's keys are those of";
    assert!(!says(&read(&llama(json!({}))), note));
    let file = json!({"vision_config": {"hidden_size": 64}, "text_config": llama(json!({}))});
    assert!(says(
        &read(&file),
        "the text model's keys are those of text_config"
    ));
    let file = json!({"thinker_config": file});
    assert!(says(&read(&file), "those of thinker_config.text_config"));
}

#[test]
fn a_class_among_the_architectures_tells_the_type_that_model_type_does_not() {
    for (more, note) in [
        (
            json!({"architectures": ["LlamaForCausalLM"]}),
            "architectures says LlamaForCausalLM: read as llama",
        ),
        (
            json!({"architectures": ["Unheard", "GPTNeoXForCausalLM"], "model_type": null}),
            "architectures says GPTNeoXForCausalLM: read as gpt_neox",
        ),
        (
            json!({"text_config": {"architectures": ["Qwen3Model"]}}),
            "architectures says Qwen3Model: read as qwen3",
        ),
        // By another name of a row.
        (
            json!({"architectures": ["KimiK2ForCausalLM"]}),
            "architectures says KimiK2ForCausalLM: read as deepseek_v3",
        ),
        (
            json!({"architectures": ["UnheardForCausalLM"], "head_dim": 8, "rope_theta": 100}),
            "model_type \"unheard\" is not known: no defaults",
        ),
        (
            json!({"model_type": null, "head_dim": 8, "rope_theta": 100}),
            "model_type is missing: no defaults",
        ),
    ] {
        let model = read(&with(json!({"model_type": "unheard"}), more));
        assert!(says(&model, note), "{note}: {:?}", model.notes);
    }
}

#[test]
fn a_key_that_nothing_reads_is_noted_where_it_looks_like_position() {
    let usual = read(&llama(json!({}))).notes;
    for (key, value, note) in [
        ("rope_magic", json!(1), Some("rope_magic 1 is not used")),
        ("beta_slow", json!(2), Some("beta_slow 2 is not used")),
        ("type", json!("text"), None),
        ("vocab_size", json!(32000), None),
        // These only look like it.
        ("v_head_dim", json!(128), None),
        ("max_length", json!(20), None),
        (
            "vision_config",
            json!({"rope_theta": 100}),
            Some("vision_config is not read: not part of the text model"),
        ),
        (
            "vision_config",
            json!({"max_position_embeddings": 64}),
            Some("vision_config is not read: not part of the text model"),
        ),
        ("vision_config", json!({"hidden_size": 64}), None),
        // Read as an object of the text model's settings, not as one of another model.
        ("attn_config", json!({"rope_theta": 10000}), None),
    ] {
        let mut new = read(&llama(json!({key: value}))).notes;
        new.retain(|line| !usual.contains(line));
        assert_eq!(new, Vec::from_iter(note), "{key} {value}");
    }
    let nested = read(&json!({"text_config": llama(json!({}))})).notes;
    assert!(
        nested.iter().all(|note| !note.contains("not read")),
        "{nested:?}"
    );
}

#[test]
fn kinds_of_layer_share_a_table_where_everything_about_it_is_the_same() {
    let yarn = |more: Value| {
        let block = json!({"rope_type": "yarn", "factor": 4, "attention_factor": 1,
            "original_max_position_embeddings": 2048});
        with(block, more)
    };
    let linear = |original: usize| json!({"rope_type": "linear", "factor": 2, "original_max_position_embeddings": original});
    let plain = json!({"rope_theta": 10000});
    for (model_type, more, full, sliding, tables) in [
        ("llama", json!({}), plain.clone(), plain.clone(), 1),
        ("llama", json!({}), yarn(json!({})), yarn(json!({})), 1),
        (
            "llama",
            json!({}),
            plain.clone(),
            json!({"rope_theta": 500}),
            2,
        ),
        (
            "llama",
            json!({}),
            plain.clone(),
            json!({"rope_type": "linear", "factor": 1}),
            2,
        ),
        ("llama", json!({}), linear(2048), linear(4096), 2),
        (
            "llama",
            json!({}),
            yarn(json!({})),
            yarn(json!({"attention_factor": 2})),
            2,
        ),
        (
            "llama",
            json!({"rotary_dim": 64, "global_head_dim": 256}),
            plain.clone(),
            plain.clone(),
            2,
        ),
        (
            "deepseek_v3",
            json!({}),
            yarn(json!({})),
            yarn(json!({"mscale_all_dim": 1})),
            2,
        ),
    ] {
        let file = with(
            llama(json!({
                "model_type": model_type,
                "layer_types": ["full_attention", "sliding_attention"],
                "rope_parameters": {"full_attention": full, "sliding_attention": sliding},
            })),
            more,
        );
        let model = read(&file);
        assert_eq!(model.tables.len(), tables, "{file}\n{model}");
        assert!(
            model
                .tables
                .iter()
                .all(|table| table.rope_type != RopeType::None)
        );
        if tables == 1 {
            assert_eq!(model.tables[0].layers, "all");
            assert_eq!(model.tables[0].layer_indices, Some(vec![0, 1]));
        }
    }
}

#[test]
fn an_object_of_settings_that_is_none_is_refused_by_its_path() {
    for (more, starts) in [
        (json!({"attn_config": 3}), "attn_config is 3,"),
        (
            json!({"text_config": {"attn_config": "x"}}),
            "text_config.attn_config is \"x\" (a string),",
        ),
        (json!({"text_config": [1]}), "text_config is [1] (a list),"),
        (
            json!({"text_config": {"model_type": 3}}),
            "text_config.model_type is 3,",
        ),
    ] {
        let text = refusal(&llama(more));
        assert!(text.starts_with(starts), "{text}");
    }
    read(&llama(json!({"attn_config": null, "text_config": null})));
}
