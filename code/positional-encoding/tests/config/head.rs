//! How wide a head is, how much of it is rotated, and how it is laid out.

use positional_encoding::config::Scheme;
use positional_encoding::rope::Layout;
use serde_json::json;

use super::{llama, read, refusal, says, with};

#[test]
fn a_head_that_keeps_its_rotated_part_apart_has_no_fraction() {
    for file in [
        json!({"model_type": "deepseek_v3", "partial_rotary_factor": 0.25}),
        llama(json!({
            "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "partial_rotary_factor": 0.25,
        })),
    ] {
        let model = read(&file);
        let table = &model.tables[0];
        assert_eq!((table.head_dim, table.rotary_dim), (192, 64), "{file}");
        assert!(
            says(&model, "partial_rotary_factor 0.25 is not used"),
            "{model}"
        );
        assert!(!says(&model, "counts"), "{model}");
    }
    let gptj = read(&json!({"model_type": "gptj", "partial_rotary_factor": 0.5}));
    assert_eq!(gptj.tables[0].rotary_dim, 64);
    assert!(says(
        &gptj,
        "rotary_dim 64 counts, partial_rotary_factor 0.5 does not"
    ));
}

#[test]
fn a_width_that_the_heads_do_not_share_out_evenly_is_rounded_down_and_said_so() {
    for (hidden_size, heads, head_dim, note) in [
        (4096, 32, 128, "hidden_size / num_attention_heads = 128"),
        (
            130,
            4,
            32,
            "hidden_size / num_attention_heads = 32, rounded down",
        ),
    ] {
        let model = read(&json!({
            "model_type": "llama", "hidden_size": hidden_size, "num_attention_heads": heads,
        }));
        assert_eq!(model.tables[0].head_dim, head_dim);
        let note = format!("head_dim is not given: {note}");
        assert!(model.notes.contains(&note), "{model}");
    }
}

/// GPT-J's heads are 4096 / 16 wide, and its type rotates 64 entries of them.
#[test]
fn rotary_dim_is_the_files_then_the_types_and_null_is_the_whole_head() {
    for (model_type, more, rotary_dim) in [
        ("gptj", json!({}), 64),
        ("gptj", json!({"rotary_dim": 32}), 32),
        ("gptj", json!({"rotary_dim": null}), 256),
        ("llama", json!({"rotary_dim": 32}), 32),
        ("llama", json!({}), 128),
    ] {
        let file = with(json!({"model_type": model_type}), more);
        assert_eq!(read(&file).tables[0].rotary_dim, rotary_dim, "{file}");
    }
}

#[test]
fn the_layout_of_a_type_that_is_not_known_is_a_guess_and_said_so() {
    let guess = "the layout is not given: half, as in Llama's files";
    for (model_type, more, layout, guessed) in [
        ("unheard", json!({}), Layout::Half, true),
        (
            "unheard",
            json!({"rope_interleave": true}),
            Layout::Interleaved,
            false,
        ),
        ("llama", json!({}), Layout::Half, false),
        ("gptj", json!({}), Layout::Interleaved, false),
        (
            "gptj",
            json!({"rope_interleave": false}),
            Layout::Half,
            false,
        ),
    ] {
        let file = llama(with(json!({"model_type": model_type}), more));
        let model = read(&file);
        assert_eq!(model.tables[0].layout, Some(layout), "{file}");
        assert_eq!(says(&model, guess), guessed, "{file}");
    }
}

#[test]
fn a_scheme_that_needs_the_number_of_heads_has_the_files_or_the_types_or_none() {
    for (file, heads, note) in [
        (json!({"model_type": "bloom", "n_head": 4}), Some(4), None),
        (
            json!({"model_type": "bloom"}),
            Some(8),
            Some("num_attention_heads is missing: 8, the default of bloom"),
        ),
        (
            json!({"model_type": "unheard", "alibi": true}),
            None,
            Some("the number of heads is not given: no slopes"),
        ),
    ] {
        let model = read(&file);
        let Scheme::Alibi { slopes, .. } = &model.scheme else {
            panic!("{model}");
        };
        assert_eq!(slopes.as_ref().map(Vec::len), heads, "{file}");
        let said = model.notes.iter().find(|note| note.contains("heads"));
        assert_eq!(said.map(String::as_str), note, "{file}");
    }
}

#[test]
fn a_scheme_that_needs_the_width_has_the_files_or_the_types_or_none() {
    for (file, width) in [
        (json!({"model_type": "marian", "d_model": 512}), Some(512)),
        (json!({"model_type": "marian"}), Some(1024)),
        (
            json!({"model_type": "unheard", "sinusoidal_embeddings": true}),
            None,
        ),
    ] {
        let model = read(&file);
        let Scheme::Sinusoidal { d_model, .. } = model.scheme else {
            panic!("{model}");
        };
        assert_eq!(d_model, width, "{file}");
    }
}

#[test]
fn a_head_is_at_most_65536_entries_wide_however_its_width_is_given() {
    let two_kinds = json!({
        "sliding_attention": {"rope_theta": 100}, "full_attention": {"rope_theta": 10000},
    });
    for (key, more) in [
        ("head_dim", json!({})),
        (
            "hidden_size",
            json!({"head_dim": null, "num_attention_heads": 1}),
        ),
        ("global_head_dim", json!({"rope_parameters": two_kinds})),
        ("swa_head_dim", json!({"rope_parameters": two_kinds})),
        ("qk_rope_head_dim", json!({})),
    ] {
        let wide = |width: usize| llama(with(more.clone(), json!({key: width})));
        let widths = read(&wide(65_536))
            .tables
            .into_iter()
            .map(|table| table.head_dim);
        assert_eq!(widths.max(), Some(65_536), "{key}");
        let text = refusal(&wide(65_538));
        assert!(
            text.starts_with(key) && text.contains("a head of 65538,"),
            "{text}"
        );
    }
}
