use positional_encoding::config::RopeType;
use serde_json::{Map, Value, json};

use super::layers::layers;
use super::{llama, read, read_at, refusal, says, with};

/// `base^(-2i/d)`, here of the last of 64 pairs and the base 10000.
fn slowest() -> f64 {
    1e4_f64.powf(-126.0 / 128.0)
}

fn close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-12
}

#[test]
fn a_factor_beside_the_other_keys_is_yarns_or_dynamic_ntks() {
    let first_gpt_oss = json!({
        "rope_scaling_factor": 32.0, "rope_ntk_beta": 32.0, "rope_ntk_alpha": 1.0,
        "initial_context_length": 4096,
    });
    let yarn = &read(&llama(first_gpt_oss)).tables[0];
    assert_eq!(yarn.rope_type, RopeType::Yarn);
    assert_eq!(yarn.source.as_deref(), Some("rope_scaling_factor"));
    assert_eq!(yarn.trained_length, Some(4096));
    assert_eq!(yarn.inv_freq[0], 1.0);
    assert!(close(yarn.inv_freq[63], slowest() / 32.0));
    assert!(close(yarn.attention_factor, 0.1 * 32_f64.ln() + 1.0));

    let nomic = llama(json!({"rotary_scaling_factor": 2.0}));
    let dynamic = &read_at(&nomic, Some(16_384)).tables[0];
    assert_eq!(dynamic.rope_type, RopeType::Dynamic);
    assert_eq!(dynamic.source.as_deref(), Some("rotary_scaling_factor"));
    // Twice the trained length stretches by 2 * 2 - (2 - 1), which the slowest pair takes whole.
    assert!(close(dynamic.inv_freq[63], slowest() / 3.0));

    let text = refusal(&llama(json!({"rope_scaling_factor": 32.0})));
    let refused = "rope_scaling_factor is 32, but must be beside rope_ntk_alpha, rope_ntk_beta \
                   and initial_context_length; say the kind of scaling in rope_scaling";
    assert_eq!(text, refused);
}

#[test]
fn an_object_or_a_null_under_the_name_of_a_kind_is_its_settings() {
    let full = json!({"rope_theta": 1e6});
    for (parameters, tables, note) in [
        (
            json!({"full_attention": full, "sliding_attention": null}),
            vec!["full", "none"],
            "rope_parameters.sliding_attention is null: these layers are not rotated",
        ),
        (
            json!({"global": full, "local": null}),
            vec!["full", "none"],
            "rope_parameters.local is null: these layers are not rotated",
        ),
        (
            json!({"full_attention": full, "factor": null}),
            vec!["full"],
            "rope_parameters.factor null is not used: each kind of layer has its own settings",
        ),
        (
            json!({"full_attention": full, "factor": {"a": 1}}),
            vec!["full"],
            "rope_parameters.factor {\"a\":1} is not used: each kind of layer has its own settings",
        ),
        (
            json!({"full_attention": full, "rope_theta": 5e5}),
            vec!["full"],
            "rope_parameters.rope_theta 500000.0 is not used: each kind of layer has its own \
             settings",
        ),
    ] {
        let file = json!({"head_dim": 8, "rope_parameters": parameters});
        let model = read(&file);
        let names: Vec<_> = layers(&model).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, tables, "{file}");
        assert_eq!(model.tables[0].base, Some(1e6), "{file}");
        assert!(says(&model, note), "{file}: {:?}", model.notes);
    }
    let text = refusal(&llama(json!({"rope_parameters": {"full_attention": 1e6}})));
    let refused = "rope_parameters.full_attention is 1000000.0, but must be an object, or null; ";
    assert!(text.starts_with(refused), "{text}");
}

#[test]
fn sixteen_kinds_of_layer_are_told_apart_and_no_more() {
    let of_kinds = |count: usize| {
        let kind = |i| (format!("a{i}_attention"), json!({"rope_theta": 10_000 + i}));
        let kinds: Map<String, Value> = (0..count).map(kind).collect();
        llama(json!({"rope_parameters": kinds}))
    };
    assert_eq!(read(&of_kinds(16)).tables.len(), 16);
    assert_eq!(
        refusal(&of_kinds(17)),
        "rope_parameters is settings for 17 kinds of layer, but must be settings for at most 16; \
         compare with the file as it was published"
    );
}

#[test]
fn a_base_of_the_sliding_layers_own_leaves_the_scaling_to_the_full_layers() {
    let scaled = json!({"rope_scaling": {"type": "linear", "factor": 8.0}});
    let plain = json!({});
    for (model_type, scaling, fastest, noted) in [
        ("llama", &scaled, [0.125, 1.0], true),
        ("llama", &plain, [1.0, 1.0], false),
        ("modernbert", &scaled, [0.125, 0.125], false),
    ] {
        let kind = json!({"model_type": model_type, "rope_local_base_freq": 500.0});
        let file = with(llama(kind), scaling.clone());
        let model = read(&file);
        let of_each: Vec<_> = model.tables.iter().map(|table| table.inv_freq[0]).collect();
        assert_eq!(of_each, fastest, "{file}");
        let note = "rope_scaling counts for full layers only";
        assert_eq!(says(&model, note), noted, "{file}");
        assert_eq!(says(&model, "counts for full layers only"), noted, "{file}");
    }
}

#[test]
fn every_name_of_a_kind_is_read_and_a_second_name_is_said() {
    let ones = vec![1.0; 64];
    for (model_type, name, rope_type) in [
        ("llama", "default", RopeType::Default),
        ("llama", "mrope", RopeType::Default),
        ("llama", "linear", RopeType::Linear),
        ("llama", "dynamic", RopeType::Dynamic),
        ("llama", "yarn", RopeType::Yarn),
        ("llama", "deepseek_yarn", RopeType::Yarn),
        ("llama", "telechat3-yarn", RopeType::Yarn),
        ("llama", "longrope", RopeType::LongRope),
        ("llama", "su", RopeType::LongRope),
        ("llama", "llama3", RopeType::Llama3),
        ("llama", "proportional", RopeType::Proportional),
        ("phi", "yarn", RopeType::Yarn),
        ("phi3", "yarn", RopeType::LongRope),
        ("phi4_multimodal", "yarn", RopeType::LongRope),
    ] {
        let model = read(&llama(json!({
            "model_type": model_type, "partial_rotary_factor": 1.0,
            "rope_scaling": {
                "type": name, "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "short_factor": ones, "long_factor": ones,
            },
        })));
        assert_eq!(model.tables[0].rope_type, rope_type, "{model_type} {name}");
        let note = format!("rope_scaling.type {name} is read as {}", rope_type.name());
        let is_second = name != rope_type.name();
        assert_eq!(says(&model, &note), is_second, "{model_type} {name}");
    }
    for (name, remedy) in [
        (
            "axial",
            "axial frequencies turn with two coordinates of an image, not with a position in a \
             text",
        ),
        (
            "yarm",
            "its frequencies are not computed here; check the spelling",
        ),
    ] {
        let text = refusal(&llama(json!({"rope_scaling": {"type": name}})));
        let refused = format!(
            "rope_scaling.type is \"{name}\", but must be default, linear, dynamic, yarn, \
             longrope (or su), llama3, proportional or mrope; {remedy}"
        );
        assert_eq!(text, refused);
    }
}

#[test]
fn a_factor_below_one_speeds_up_and_is_said() {
    for name in ["linear", "yarn"] {
        for (factor, noted) in [(0.5, true), (1.0, false), (2.0, false)] {
            let block = json!({"type": name, "factor": factor});
            let model = read(&llama(json!({"rope_scaling": block})));
            assert!(close(model.tables[0].inv_freq[63], slowest() / factor));
            let note = format!(
                "rope_scaling.factor {factor} is below 1: it speeds the pairs up instead of \
                 slowing them"
            );
            assert_eq!(says(&model, &note), noted, "{name} {factor}");
            assert_eq!(says(&model, "is below 1"), noted, "{name} {factor}");
        }
    }
}

/// `alpha^(d/(d-2))` on the base slows the last pair `alpha`-fold.
#[test]
fn alpha_stretches_the_base_of_hunyuan_and_of_unknown_types_at_every_length() {
    for (model_type, slowed, note) in [
        ("hunyuan_v1_dense", 1000.0, "is a fixed stretch of the base"),
        ("of_no_known_type", 1000.0, "is a fixed stretch of the base"),
        ("llama", 1.0, "is not used by dynamic"),
    ] {
        let file = llama(json!({
            "model_type": model_type,
            "rope_scaling": {"type": "dynamic", "alpha": 1000, "factor": 2.0},
        }));
        let model = read_at(&file, Some(8192));
        assert!(close(model.tables[0].inv_freq[63], slowest() / slowed));
        let note = format!("rope_scaling.alpha 1000 {note}");
        assert!(says(&model, &note), "{model_type}: {:?}", model.notes);
    }
}

#[test]
fn yarns_factor_follows_from_two_lengths_that_differ() {
    let file = |trained: usize| {
        llama(json!({"rope_scaling": {
            "type": "yarn", "original_max_position_embeddings": trained,
        }}))
    };
    let model = read(&file(2048));
    assert!(close(model.tables[0].inv_freq[63], slowest() / 4.0));
    let note = "rope_scaling.factor is not given: 8192 / 2048 = 4";
    assert!(says(&model, note), "{:?}", model.notes);
    assert_eq!(
        refusal(&file(8192)),
        "rope_scaling.factor is missing, but must be a number above zero; give the extended \
         length over the trained one, or both lengths"
    );
}

/// Phi-3.5-MoE's factors on cosine and sine; every other LongRoPE has
/// `sqrt(1 + ln(extended / trained) / ln(trained))`.
#[test]
fn phimoe_has_one_attention_factor_up_to_the_trained_length_and_one_past_it() {
    let both = json!({"short_mscale": 1.2, "long_mscale": 1.3});
    let neither = json!({});
    let file = |model_type: &str, mscales: &Value| {
        let lists = json!({"type": "longrope", "short_factor": [1, 1, 1, 1],
            "long_factor": [1, 2, 4, 8]});
        json!({
            "model_type": model_type, "head_dim": 8, "max_position_embeddings": 131_072,
            "original_max_position_embeddings": 4096,
            "rope_scaling": with(lists, mscales.clone()),
        })
    };
    // ln(32) / ln(4096) = 5 / 12.
    let derived = (17_f64 / 12.0).sqrt();
    let missing = "rope_scaling.attention_factor is missing: from max_position_embeddings 131072";
    for (model_type, mscales, short, long, is_derived) in [
        ("phimoe", &both, 1.2, 1.3, false),
        ("phimoe", &neither, derived, derived, true),
        ("phi3", &both, derived, derived, true),
        ("phi3", &neither, derived, derived, true),
    ] {
        let file = file(model_type, mscales);
        for (length, expected) in [(1, short), (4096, short), (4097, long), (131_072, long)] {
            let model = read_at(&file, Some(length));
            let factor = model.tables[0].attention_factor;
            assert!(close(factor, expected), "{file} at {length}: {factor}");
            assert_eq!(says(&model, missing), is_derived, "{file} at {length}");
        }
    }
    for (one, other) in [
        ("short_mscale", "long_mscale"),
        ("long_mscale", "short_mscale"),
    ] {
        assert_eq!(
            refusal(&file("phimoe", &json!({one: 1.2}))),
            format!("rope_scaling.{other} is missing, but must be a number above zero; give both")
        );
    }
}

#[test]
fn sections_share_out_every_pair_and_none_twice() {
    let file = |sections: &Value| {
        llama(json!({"rope_scaling": {"type": "mrope", "mrope_section": sections}}))
    };
    let model = read(&file(&json!([16, 24, 24])));
    let note = "rope_scaling.mrope_section: the pairs are shared out among time, height and width";
    assert!(says(&model, note), "{:?}", model.notes);
    for sections in [
        json!([16, 24, 23]),
        json!([16, 24, 25]),
        json!([16, 24, 24.5]),
        json!([u64::MAX, 65]),
        json!([]),
    ] {
        assert_eq!(
            refusal(&file(&sections)),
            format!(
                "rope_scaling.mrope_section is {sections}, but must be counts of pairs that make \
                 64 in all; share every pair of the rotated part out, none twice"
            )
        );
    }
}
