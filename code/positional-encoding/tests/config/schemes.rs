//! Which scheme a file means, and its numbers where it is not rotary.

use positional_encoding::config::{self, Model, Scheme};
use serde_json::{Value, json};

use super::{read, read_at, refusal, says, with};

fn of_type(model_type: &str, more: Value) -> Value {
    with(json!({"model_type": model_type}), more)
}

#[test]
fn a_switch_of_the_file_chooses_before_its_type() {
    for (model_type, more, scheme) in [
        ("llama", json!({}), "rope"),
        ("llama", json!({"alibi": false}), "rope"),
        ("llama", json!({"alibi": true}), "alibi"),
        ("llama", json!({"use_rope": true}), "rope"),
        ("llama", json!({"use_rope": false}), "none"),
        (
            "llama",
            json!({"sinusoidal_embeddings": true}),
            "sinusoidal",
        ),
        ("llama", json!({"sinusoidal_embeddings": false}), "rope"),
        // Without rotation in the full layers alone.
        (
            "llama",
            json!({"use_rope": false, "swa_rope_theta": 10000}),
            "rope",
        ),
        ("falcon", json!({}), "rope"),
        ("falcon", json!({"alibi": true}), "alibi"),
        ("mpt", json!({}), "alibi"),
        ("mpt", json!({"attn_config": {"alibi": false}}), "learned"),
        (
            "mpt",
            json!({"attn_config": {"alibi": false}, "learned_pos_emb": true}),
            "learned",
        ),
        (
            "mpt",
            json!({"attn_config": {"alibi": false}, "learned_pos_emb": false}),
            "none",
        ),
        (
            "mpt",
            json!({"attn_config": {"alibi": false, "rope": true}}),
            "rope",
        ),
    ] {
        let file = of_type(model_type, more);
        assert_eq!(read(&file).scheme.name(), scheme, "{file}");
    }
}

#[test]
fn the_default_of_the_switch_is_said_for_types_that_have_one() {
    for (model_type, more, said) in [
        ("mpt", json!({}), true),
        ("falcon", json!({}), true),
        ("mpt", json!({"attn_config": {"alibi": true}}), false),
        ("falcon", json!({"alibi": false}), false),
        ("llama", json!({}), false),
    ] {
        let file = of_type(model_type, more);
        assert_eq!(says(&read(&file), "alibi is missing"), said, "{file}");
    }
}

#[test]
fn position_embedding_type_chooses_unless_the_type_rotates_in_any_case() {
    let named = |name: &str| json!({"position_embedding_type": name, "head_dim": 64});
    for (model_type, name, scheme) in [
        ("bert", "absolute", "learned"),
        ("bert", "learned", "learned"),
        ("bert", "learned_absolute", "learned"),
        ("bert", "rotary", "rope"),
        ("bert", "rope", "rope"),
        ("bert", "alibi", "alibi"),
        ("bert", "sinusoidal", "sinusoidal"),
        ("bert", "sine", "sinusoidal"),
        ("bert", "fixed", "sinusoidal"),
        ("bert", "relative_key", "relative"),
        ("bert", "relative_key_query", "relative"),
        ("bert", "nope", "none"),
        ("bert", "none", "none"),
        ("esm", "rotary", "rope"),
        ("esm", "absolute", "learned"),
        ("unheard", "absolute", "learned"),
        ("unheard", "rotary", "rope"),
        ("granitemoehybrid", "nope", "none"),
        ("granitemoehybrid", "rope", "rope"),
        ("llama", "absolute", "rope"),
        ("llama", "nope", "rope"),
        ("llama", "rope", "rope"),
    ] {
        let model = read(&of_type(model_type, named(name)));
        assert_eq!(model.scheme.name(), scheme, "{model_type} {name}");
    }
    let text = refusal(&of_type("bert", named("absolut")));
    assert!(
        text.starts_with("position_embedding_type is \"absolut\","),
        "{text}"
    );
}

#[test]
fn a_position_embedding_type_that_does_not_choose_is_noted_unless_it_agrees() {
    for (name, note) in [
        (
            "absolute",
            Some("position_embedding_type \"absolute\" is not used: llama rotates"),
        ),
        (
            "nope",
            Some("position_embedding_type \"nope\" is not used: llama rotates"),
        ),
        ("rope", None),
        ("rotary", None),
    ] {
        let model = read(&of_type("llama", json!({"position_embedding_type": name})));
        let said = model
            .notes
            .iter()
            .find(|note| note.contains("position_embedding_type"));
        assert_eq!(said.map(String::as_str), note);
    }
}

#[test]
fn null_is_attention_without_positions_in_granites_hybrids_alone() {
    for (model_type, more, scheme) in [
        (
            "granitemoehybrid",
            json!({"position_embedding_type": null}),
            "none",
        ),
        ("granitemoehybrid", json!({}), "rope"),
        ("granite", json!({"position_embedding_type": null}), "rope"),
        ("bert", json!({"position_embedding_type": null}), "learned"),
    ] {
        let file = of_type(model_type, more);
        assert_eq!(read(&file).scheme.name(), scheme, "{file}");
    }
}

#[test]
fn a_file_without_a_switch_is_what_its_type_or_its_other_keys_say() {
    for (file, scheme) in [
        (
            json!({"model_type": "baichuan", "num_attention_heads": 40}),
            "alibi",
        ),
        (
            json!({"model_type": "baichuan", "head_dim": 128, "max_position_embeddings": 4096}),
            "rope",
        ),
        (json!({"head_dim": 64, "rope_theta": 10000}), "rope"),
        (json!({"head_dim": 64, "swa_rope_theta": 10000}), "rope"),
        (json!({"relative_attention_num_buckets": 32}), "t5"),
        (json!({"model_type": "xlnet"}), "relative"),
    ] {
        assert_eq!(read(&file).scheme.name(), scheme, "{file}");
    }
}

fn learned(model: &Model) -> (Option<usize>, usize, Option<usize>) {
    match model.scheme {
        Scheme::Learned {
            rows,
            offset,
            usable,
        } => (rows, offset, usable),
        _ => panic!("{model}"),
    }
}

#[test]
fn a_padding_token_moves_the_first_row() {
    for (pad, offset, usable) in [
        (json!({}), 2, 510),
        (json!({"pad_token_id": 0}), 1, 511),
        (json!({"pad_token_id": 1}), 2, 510),
        (json!({"pad_token_id": 5.0}), 6, 506),
    ] {
        let model = read(&of_type("roberta", pad));
        assert_eq!(learned(&model), (Some(512), offset, Some(usable)));
    }
    // A row that no table has is out of range as a row, a number that is no row as a number.
    for (pad, starts) in [
        (json!(-1), "pad_token_id is -1,"),
        (json!(0.5), "pad_token_id is 0.5,"),
        (
            json!((1_u64 << 53) + 2),
            "pad_token_id is 9007199254740994,",
        ),
        (json!(1_u64 << 53), "max_position_embeddings is 512,"),
        (json!(511), "max_position_embeddings is 512,"),
    ] {
        let text = refusal(&of_type("roberta", json!({"pad_token_id": pad})));
        assert!(text.starts_with(starts), "{text}");
    }
}

#[test]
fn a_learned_table_ends_after_its_last_position() {
    for (model_type, rows, offset, usable) in [
        ("gpt2", 1024, 0, 1024),
        ("opt", 2050, 2, 2048),
        ("roberta", 512, 2, 510),
    ] {
        let file = of_type(model_type, json!({}));
        let model = read_at(&file, Some(usable));
        assert_eq!(learned(&model), (Some(rows), offset, Some(usable)));
        let bytes = serde_json::to_vec(&file).unwrap();
        let error = config::read(&bytes, Some(usable + 1))
            .unwrap_err()
            .to_string();
        let starts = format!("position {usable} is outside a table of {usable} positions");
        assert!(error.starts_with(&starts), "{error}");
    }
}

#[test]
fn alibis_slopes_run_down_to_two_to_the_minus_bias_max() {
    for (bias_max, first, last) in [(8, 0.5, 1.0 / 256.0), (16, 0.25, 1.0 / 65536.0)] {
        let file = json!({"model_type": "bloom", "n_head": 8, "alibi_bias_max": bias_max});
        let Scheme::Alibi {
            slopes,
            bias_max: max,
        } = read(&file).scheme
        else {
            panic!("{file}");
        };
        let slopes = slopes.unwrap();
        assert_eq!(
            (slopes[0], slopes[7], max),
            (first, last, f64::from(bias_max))
        );
    }
}

#[test]
fn alibis_largest_exponent_and_number_of_heads_have_a_bound() {
    for (key, most) in [("alibi_bias_max", 1000), ("num_attention_heads", 65_536)] {
        let file = |value: usize| of_type("bloom", json!({key: value}));
        assert_eq!(read(&file(most)).scheme.name(), "alibi", "{key}");
        let text = refusal(&file(most + 1));
        let expected = format!("{key} is {}, but must be at most {most};", most + 1);
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn the_largest_exponent_is_said_to_be_missing_where_the_type_has_a_key_for_it() {
    for (file, said) in [
        (json!({"model_type": "mpt"}), true),
        (
            json!({"model_type": "mpt", "attn_config": {"alibi_bias_max": 8}}),
            false,
        ),
        (json!({"model_type": "bloom"}), false),
    ] {
        assert_eq!(
            says(&read(&file), "alibi_bias_max is missing: 8"),
            said,
            "{file}"
        );
    }
}

#[test]
fn sinusoids_go_on_past_the_declared_length_and_it_is_said() {
    let file = of_type("marian", json!({}));
    let note = "length 1025 is beyond the 1024 positions the file declares";
    assert!(says(&read_at(&file, Some(1025)), note));
    assert!(!says(&read_at(&file, Some(1024)), "is beyond"));
}

#[test]
fn a_relative_scheme_is_said_in_words() {
    let sinusoids = "sinusoids of the distance enter the score";
    let deberta = "vectors of the distance meet the content in the score, up to 512 positions";
    for (file, expected) in [
        (json!({"model_type": "xlnet"}), sinusoids),
        (json!({"model_type": "transfo-xl"}), sinusoids),
        (json!({"model_type": "funnel"}), sinusoids),
        (json!({"model_type": "deberta"}), deberta),
        (json!({"model_type": "deberta-v2"}), deberta),
        (
            json!({"model_type": "bert", "position_embedding_type": "relative_key"}),
            "a learned vector for each distance meets the query, up to 512 positions",
        ),
        (
            json!({"model_type": "unheard", "position_embedding_type": "relative_key"}),
            "a learned vector for each distance meets the query",
        ),
    ] {
        assert_eq!(
            read(&file).scheme,
            Scheme::Relative(expected.into()),
            "{file}"
        );
    }
}
