use positional_encoding::config::RopeType;
use serde_json::{Value, json};

use super::layers::layers;
use super::{llama, read, read_at, refusal, refusal_at, says, with};

/// A file without a model type, so that nothing but itself says which layers there are.
fn of_no_type(more: Value) -> Value {
    with(json!({"head_dim": 8}), more)
}

fn full_and_sliding() -> Value {
    json!({"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}})
}

#[test]
fn layers_whose_settings_are_null_are_not_rotated() {
    let half = json!({"full_attention": {"rope_theta": 1e6}, "sliding_attention": null});
    let neither = json!({"full_attention": null, "sliding_attention": null});
    let types = json!(["full_attention", "sliding_attention"]);
    for (more, expected) in [
        (
            json!({"rope_parameters": half}),
            vec![("full", None), ("none", None)],
        ),
        (
            json!({"rope_parameters": half, "layer_types": types}),
            vec![("full", Some(vec![0])), ("none", Some(vec![1]))],
        ),
        (json!({"rope_parameters": neither}), vec![("none", None)]),
        (
            json!({"rope_parameters": neither, "layer_types": types}),
            vec![("none", Some(vec![0, 1]))],
        ),
        (
            json!({"rope_parameters": full_and_sliding()}),
            vec![("full", None), ("sliding", None)],
        ),
    ] {
        let model = read(&of_no_type(more));
        assert_eq!(layers(&model), expected, "{:?}", model.notes);
        assert!(
            !says(&model, "no rotated layer is of the kind"),
            "{:?}",
            model.notes
        );
        assert!(!says(&model, "of which kind"), "{:?}", model.notes);
    }
}

#[test]
fn compressed_layers_are_refused() {
    let text = refusal(&llama(json!({"compress_rope_theta": 160_000})));
    let refused = "compress_rope_theta is 160000, but must be missing: frequencies of compressed \
                   layers are not computed here; ";
    assert!(text.starts_with(refused), "{text}");
}

#[test]
fn the_first_qwen_is_read_up_to_its_length_and_refused_past_it() {
    let qwen = |dynamic: bool| {
        json!({
            "model_type": "qwen", "head_dim": 128, "seq_length": 8192, "use_dynamic_ntk": dynamic,
        })
    };
    let note = "use_dynamic_ntk true changes nothing up to the trained length";
    for (dynamic, length) in [
        (true, None),
        (true, Some(1)),
        (true, Some(8192)),
        (false, Some(8192)),
        (false, Some(8193)),
    ] {
        let model = read_at(&qwen(dynamic), length);
        assert_eq!(says(&model, note), dynamic, "{dynamic} {length:?}");
    }
    for length in [8193, 16_384] {
        assert_eq!(
            refusal_at(&qwen(true), Some(length)),
            format!(
                "use_dynamic_ntk is true, and the length {length}, but must be false past \
                 seq_length 8192; its rule is not one of those computed here; ask for a shorter \
                 length"
            )
        );
    }
}

#[test]
fn full_layers_come_first_then_sliding_ones_whatever_the_order_of_the_file() {
    let model = read(&of_no_type(json!({"rope_parameters": {
        "chunked_attention": {"rope_theta": 1e5},
        "sliding_attention": {"rope_theta": 1e4},
        "full_attention": {"rope_theta": 1e6},
    }})));
    let expected = [("full", None), ("sliding", None), ("chunked", None)];
    assert_eq!(layers(&model), expected);
}

#[test]
fn one_table_for_all_rotated_layers_has_their_kind_where_they_have_one() {
    let [full, sliding, linear] = ["full_attention", "sliding_attention", "linear_attention"];
    for (types, rotated, expected) in [
        (
            [full, full, sliding],
            [1, 1, 0],
            [("full", Some(vec![0, 1])), ("none", Some(vec![2]))],
        ),
        (
            [full, sliding, full],
            [1, 1, 0],
            [("all", Some(vec![0, 1])), ("none", Some(vec![2]))],
        ),
        (
            [sliding, full, sliding],
            [1, 0, 1],
            [("sliding", Some(vec![0, 2])), ("none", Some(vec![1]))],
        ),
        (
            [linear, full, full],
            [1, 1, 0],
            [("full", Some(vec![1])), ("none", Some(vec![2]))],
        ),
    ] {
        let more = json!({"layer_types": types, "no_rope_layers": rotated});
        assert_eq!(layers(&read(&llama(more))), expected, "{types:?}");
    }
}

#[test]
fn settings_of_kinds_meet_the_layers_there_are() {
    const UNKNOWN: &str = "which layer is of which kind is not known";
    let both = full_and_sliding();
    let full = json!({"full_attention": {"rope_theta": 1e6}});
    let types = |kinds: &[&str]| json!({"layer_types": kinds});
    let two = json!({"num_hidden_layers": 2});
    for (parameters, more, expected, note) in [
        (
            &both,
            types(&["full_attention", "full_attention"]),
            vec![("full", Some(vec![0, 1]))],
            Some("no rotated layer is of the kind sliding: its settings are not used"),
        ),
        (
            &both,
            two.clone(),
            vec![("full", None), ("sliding", None)],
            Some(UNKNOWN),
        ),
        (
            &both,
            json!({"num_hidden_layers": 4, "no_rope_layer_interval": 2}),
            vec![
                ("full", None),
                ("sliding", None),
                ("none", Some(vec![1, 3])),
            ],
            Some(UNKNOWN),
        ),
        (
            &both,
            json!({}),
            vec![("full", None), ("sliding", None)],
            None,
        ),
        (&full, two, vec![("full", Some(vec![0, 1]))], Some(UNKNOWN)),
        (
            &full,
            types(&["full_attention", "linear_attention"]),
            vec![("full", Some(vec![0]))],
            None,
        ),
        (
            &full,
            with(
                types(&["full_attention", "sliding_attention"]),
                json!({"no_rope_layers": [1, 0]}),
            ),
            vec![("full", Some(vec![0])), ("none", Some(vec![1]))],
            None,
        ),
    ] {
        let file = with(of_no_type(json!({"rope_parameters": parameters})), more);
        let model = read(&file);
        assert_eq!(layers(&model), expected, "{file}");
        for words in [UNKNOWN, "no rotated layer is of the kind"] {
            let expected = note.is_some_and(|note| note.contains(words));
            assert_eq!(says(&model, words), expected, "{file}: {words}");
        }
        assert!(note.is_none_or(|note| says(&model, note)), "{file}");
    }
    let file = with(
        of_no_type(json!({"rope_parameters": full})),
        types(&["full_attention", "sliding_attention"]),
    );
    assert_eq!(
        refusal(&file),
        "rope_parameters is without settings for sliding_attention, but must be settings for \
         every kind in layer_types; add them, null for layers that are not rotated"
    );
}

#[test]
fn kinds_that_turn_alike_share_one_table() {
    let types = json!(["full_attention", "sliding_attention", "chunked_attention"]);
    for (sliding, expected) in [
        (
            1e6,
            vec![("all", Some(vec![0, 1])), ("none", Some(vec![2]))],
        ),
        (
            1e4,
            vec![
                ("full", Some(vec![0])),
                ("sliding", Some(vec![1])),
                ("none", Some(vec![2])),
            ],
        ),
    ] {
        let model = read(&of_no_type(json!({
            "layer_types": types,
            "rope_parameters": {
                "full_attention": {"rope_theta": 1e6},
                "sliding_attention": {"rope_theta": sliding},
                "chunked_attention": null,
            },
        })));
        assert_eq!(layers(&model), expected);
    }
}

#[test]
fn a_length_past_the_declared_one_is_said() {
    for (length, noted) in [(None, false), (Some(8192), false), (Some(8193), true)] {
        let model = read_at(&llama(json!({})), length);
        let note = "length 8193 is beyond the 8192 positions the file declares";
        assert_eq!(says(&model, note), noted, "{length:?}");
        assert_eq!(says(&model, "is beyond"), noted, "{length:?}");
    }
}

#[test]
fn the_list_of_divisors_in_use_is_the_one_refused() {
    let list = json!([5e-324, 1, 1, 1]);
    let file = json!({
        "model_type": "phi3", "head_dim": 8, "max_position_embeddings": 131_072,
        "original_max_position_embeddings": 4096,
        "rope_scaling": {"type": "longrope", "attention_factor": 1.0, "short_factor": list,
            "long_factor": list},
    });
    for (length, name) in [
        (1, "short_factor"),
        (4096, "short_factor"),
        (4097, "long_factor"),
        (131_072, "long_factor"),
    ] {
        let text = refusal_at(&file, Some(length));
        let refused = format!(
            "rope_scaling.{name} is [5e-324,1,1,1], but must be large enough for every frequency \
             to be finite; "
        );
        assert!(text.starts_with(&refused), "{length}: {text}");
    }
}

#[test]
fn the_files_own_base_and_part_count_before_the_model_types() {
    let bases = |model_type: &str, more: Value| with(json!({"model_type": model_type}), more);
    for (file, base, rotary_dim, note) in [
        (
            bases("gpt_oss", json!({"rope_theta": 1e4})),
            1e4,
            64,
            Some("rope_theta 10000 counts, rope_parameters of gpt_oss.rope_theta 150000 does not"),
        ),
        (
            bases("gpt_oss", json!({"rope_theta": 150_000})),
            150_000.0,
            64,
            None,
        ),
        (
            llama(json!({"rope_theta": 5e5, "rope_parameters": {"rope_theta": 1e6}})),
            1e6,
            128,
            Some("rope_parameters.rope_theta 1000000 counts, rope_theta 500000 does not"),
        ),
        (
            bases("mimo_v2_flash", json!({"partial_rotary_factor": 0.5})),
            5e6,
            96,
            Some(
                "partial_rotary_factor 0.5 counts, rope_parameters of \
                 mimo_v2_flash.full_attention.partial_rotary_factor 0.334 does not",
            ),
        ),
        (
            llama(json!({
                "partial_rotary_factor": 0.5, "rope_parameters": {"partial_rotary_factor": 0.25},
            })),
            1e4,
            32,
            Some(
                "rope_parameters.partial_rotary_factor 0.25 counts, partial_rotary_factor 0.5 \
                 does not",
            ),
        ),
    ] {
        let model = read(&file);
        assert_eq!(model.tables[0].base, Some(base), "{file}");
        assert_eq!(model.tables[0].rotary_dim, rotary_dim, "{file}");
        assert_eq!(says(&model, " counts, "), note.is_some(), "{file}");
        let said = note.is_none_or(|note| says(&model, note));
        assert!(said, "{file}: {:?}", model.notes);
    }
}

#[test]
fn chatglms_ratio_multiplies_the_base_and_leaves_a_base() {
    let table = &read(&llama(json!({"rope_ratio": 50}))).tables[0];
    assert_eq!(table.base, Some(500_000.0));
    let second = 500_000_f64.powf(-2.0 / 128.0);
    assert!((table.inv_freq[1] / second - 1.0).abs() < 1e-12);
    for (base, ratio, given) in [(1e-10, 5e-324, "5e-324"), (1e300, 1e300, "1e300")] {
        let text = refusal(&llama(json!({"rope_theta": base, "rope_ratio": ratio})));
        let refused = format!(
            "rope_ratio is {given}, but must be such that its product with the base {base:e} is \
             a base; "
        );
        assert!(text.starts_with(&refused), "{text}");
    }
}

#[test]
fn a_count_of_rotated_entries_counts_before_a_part_and_fits_the_head() {
    for (rotary_dim, part, noted) in [(32, 0.25, false), (64, 0.25, true), (128, 1.0, false)] {
        let more = json!({"rotary_dim": rotary_dim, "partial_rotary_factor": part});
        let model = read(&llama(more));
        assert_eq!(model.tables[0].rotary_dim, rotary_dim);
        let note = format!("rotary_dim {rotary_dim} counts, partial_rotary_factor {part} does not");
        assert_eq!(says(&model, &note), noted, "{rotary_dim} {part}");
    }
    let text = refusal(&llama(json!({"rotary_dim": 130})));
    let refused = "rotary_dim is 130, but must be at most the head's width, 128; ";
    assert!(text.starts_with(refused), "{text}");
}

#[test]
fn sliding_layers_may_have_a_head_of_their_own() {
    let model = read(&llama(json!({
        "swa_head_dim": 64, "rope_parameters": full_and_sliding(),
    })));
    let of_each: Vec<_> = model.tables.iter().map(|table| table.head_dim).collect();
    assert_eq!(of_each, [128, 64]);
    let one_rule_for_all = read(&llama(json!({
        "swa_head_dim": 64, "layer_types": ["full_attention", "sliding_attention"],
    })));
    let of_each: Vec<_> = one_rule_for_all
        .tables
        .iter()
        .map(|table| (table.head_dim, table.layer_indices.clone()))
        .collect();
    assert_eq!(of_each, [(128, Some(vec![0])), (64, Some(vec![1]))]);
    let only_sliding_turn = read(&json!({
        "model_type": "cohere2", "head_dim": 128, "swa_head_dim": 64, "num_hidden_layers": 4,
    }));
    let of_each: Vec<_> = only_sliding_turn
        .tables
        .iter()
        .map(|table| (table.layers.as_str(), table.head_dim))
        .collect();
    assert_eq!(of_each, [("sliding", 64), ("none", 128)]);
}

#[test]
fn a_factor_that_does_not_fit_the_lengths_is_noted() {
    let ones = vec![1.0; 64];
    let longrope = |factor: f64| {
        json!({"type": "longrope", "factor": factor,
        "short_factor": ones, "long_factor": ones})
    };
    for (factor, noted) in [(2.0, false), (8.0, true)] {
        let model = read(&llama(json!({
            "original_max_position_embeddings": 4096, "rope_scaling": longrope(factor),
        })));
        let note = "rope_scaling.factor 8 times 4096 is not max_position_embeddings 8192";
        assert_eq!(says(&model, note), noted, "{:?}", model.notes);
    }
}

/// `base^(-2i/d)` over the whole head, here of 8, for the pairs of its rotated part.
#[test]
fn proportional_frequencies_are_divided_by_the_factor() {
    let table = &read(&json!({"head_dim": 8, "rope_theta": 1e4, "rope_scaling": {
        "type": "proportional", "factor": 4, "partial_rotary_factor": 0.5,
    }}))
    .tables[0];
    assert_eq!(table.inv_freq.len(), 4);
    for (frequency, expected) in table.inv_freq.iter().zip([0.25, 0.025, 0.0, 0.0]) {
        assert!((frequency - expected).abs() <= 1e-15, "{frequency}");
    }
}

#[test]
fn the_trained_length_is_the_one_that_the_rule_stretches_from() {
    const INSIDE: &str = "rope_scaling.original_max_position_embeddings";
    let yarn = |trained: usize| {
        let mut block = json!({"type": "yarn", "factor": 4.0});
        if trained > 0 {
            block["original_max_position_embeddings"] = trained.into();
        }
        block
    };
    let dynamic = json!({"type": "dynamic", "factor": 2.0});
    let scaling = |block: &Value| json!({"rope_scaling": block});
    let outside = json!({"original_max_position_embeddings": 2048});
    for (more, trained, note) in [
        (
            with(scaling(&yarn(4096)), outside.clone()),
            2048,
            format!("original_max_position_embeddings 2048 counts, {INSIDE} 4096 does not"),
        ),
        (
            with(scaling(&yarn(2048)), outside.clone()),
            2048,
            String::new(),
        ),
        (
            with(
                json!({"rope_parameters": {"full_attention": yarn(4096)}}),
                outside.clone(),
            ),
            4096,
            "rope_parameters.full_attention.original_max_position_embeddings 4096 counts, \
             original_max_position_embeddings 2048 does not"
                .into(),
        ),
        (
            scaling(&yarn(0)),
            8192,
            "original_max_position_embeddings is missing: 8192, max_position_embeddings".into(),
        ),
        (
            json!({"model_type": "phi4_multimodal", "rope_scaling": {"type": "longrope",
                "short_factor": vec![1; 64], "long_factor": vec![1; 64]}}),
            4096,
            "original_max_position_embeddings is missing: 4096, the default of phi4_multimodal"
                .into(),
        ),
        (
            scaling(&with(dynamic.clone(), outside)),
            8192,
            format!("{INSIDE} 2048 does not count: dynamic stretches from max_position_embeddings"),
        ),
        (
            with(scaling(&dynamic), json!({"max_trained_positions": 2048})),
            2048,
            String::new(),
        ),
        (
            scaling(&json!({"type": "linear", "factor": 2.0})),
            8192,
            String::new(),
        ),
    ] {
        let file = llama(more);
        let model = read(&file);
        assert_eq!(model.tables[0].trained_length, Some(trained), "{file}");
        assert!(says(&model, &note) || note.is_empty(), "{:?}", model.notes);
        for words in [
            " counts, ",
            "does not count",
            "original_max_position_embeddings is missing",
        ] {
            let expected = note.contains(words);
            assert_eq!(says(&model, words), expected, "{file}: {:?}", model.notes);
        }
    }
}

#[test]
fn a_length_is_needed_where_the_rule_stretches_from_it() {
    let file = |name: &str| {
        of_no_type(json!({"rope_scaling": {
            "type": name, "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, 1, 1],
        }}))
    };
    for name in ["yarn", "longrope", "llama3", "dynamic"] {
        assert_eq!(
            refusal(&file(name)),
            format!(
                "max_position_embeddings is missing, but must be a whole number, which {name} \
                 needs; give the length the model was trained at"
            )
        );
    }
    for name in ["default", "linear"] {
        let model = read(&file(name));
        assert_eq!(model.tables[0].trained_length, None);
        let note = "max_position_embeddings is missing: which pairs never turn is not known";
        assert!(says(&model, note), "{:?}", model.notes);
    }
}

#[test]
fn lengths_that_do_not_fit_the_factor_are_said() {
    const LINEAR: &str =
        "the length before scaling is not given: 8192 is read as trained and declared";
    const YARN: &str = "rope_scaling.factor 4 times 4096 is not max_position_embeddings 8192; the \
                        factor counts";
    for (name, trained, note) in [
        ("linear", 8192, Some(LINEAR)),
        ("linear", 2048, None),
        ("yarn", 2048, None),
        ("yarn", 4096, Some(YARN)),
    ] {
        let model = read(&llama(json!({"rope_scaling": {
            "type": name, "factor": 4.0, "original_max_position_embeddings": trained,
        }})));
        for other in [LINEAR, "the factor counts"] {
            let expected = note.is_some_and(|note| note.contains(other));
            assert_eq!(says(&model, other), expected, "{name} {trained}: {other}");
        }
        assert!(
            note.is_none_or(|note| says(&model, note)),
            "{name} {trained}"
        );
    }
}

#[test]
fn rules_that_depend_on_the_current_length_say_so() {
    for (name, depends) in [
        ("default", false),
        ("linear", false),
        ("dynamic", true),
        ("yarn", false),
        ("longrope", true),
        ("llama3", false),
    ] {
        let model = read(&llama(json!({"rope_scaling": {
            "type": name, "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "short_factor": vec![1; 64], "long_factor": vec![1; 64],
        }})));
        let note = format!("{name} depends on the current length alone: keys kept after rotation");
        assert_eq!(says(&model, &note), depends, "{name}");
    }
}

#[test]
fn a_band_left_unrounded_for_one_kind_of_layer_is_said_to_differ_from_the_library() {
    let yarn = |truncate: bool| {
        json!({"type": "yarn", "factor": 4.0, "truncate": truncate,
            "original_max_position_embeddings": 2048})
    };
    let by_kind = |block: Value| llama(json!({"rope_parameters": {"full_attention": block}}));
    for (file, note) in [
        (
            by_kind(yarn(false)),
            Some("rope_parameters.full_attention.truncate false is honoured"),
        ),
        (by_kind(yarn(true)), None),
        (llama(json!({"rope_scaling": yarn(false)})), None),
        (
            json!({"model_type": "gpt_oss", "rope_local_base_freq": 1e4}),
            None,
        ),
    ] {
        let model = read(&file);
        assert_eq!(model.tables[0].rope_type, RopeType::Yarn, "{file}");
        assert_eq!(says(&model, "is honoured"), note.is_some(), "{file}");
        assert!(note.is_none_or(|note| says(&model, note)), "{file}");
    }
}

#[test]
fn an_error_of_a_rule_is_said_in_the_keys_and_the_numbers_of_the_file() {
    let scaling = |block: Value| json!({"rope_scaling": block});
    let yarn = json!({"type": "yarn", "factor": 4.0});
    let with_base =
        |base: f64, block: &Value| llama(with(scaling(block.clone()), json!({"rope_theta": base})));
    let not_above_one =
        "but must be above 1 to order pairs by their turns; use the model's rope_theta";
    for (file, length, refused) in [
        (
            with_base(1.0, &yarn),
            8192,
            format!("rope_theta is 1, {not_above_one}"),
        ),
        (
            with_base(0.5, &yarn),
            8192,
            format!("rope_theta is 0.5, {not_above_one}"),
        ),
        (
            with_base(1e308, &json!({"type": "dynamic", "factor": 4.0})),
            100_000,
            "rope_theta is 1e308, but must be a base that stays finite when it is stretched; ask \
             for a shorter length"
                .into(),
        ),
        (
            llama(scaling(json!({"type": "dynamic", "factor": 1e308}))),
            819_200,
            format!(
                "rope_scaling.factor is {}, but must be a finite number above zero; ",
                json!(1e308)
            ),
        ),
        (
            llama(scaling(json!({"type": "proportional", "factor": 5e-324}))),
            8192,
            "rope_scaling.factor is 5e-324, but must be large enough for every frequency to be \
             finite; "
                .into(),
        ),
    ] {
        let text = refusal_at(&file, Some(length));
        assert!(text.starts_with(&refused), "{text}");
    }
}
