use approx::assert_relative_eq;
use positional_encoding::config::{self, Model, RopeType, Scheme, Table};
use positional_encoding::rope::{Layout, rotate};
use proptest::prelude::*;
use serde_json::{Value, json};

fn model_at(file: &Value, length: Option<usize>) -> Model {
    let bytes = serde_json::to_vec(file).unwrap();
    config::read(&bytes, length).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn model(file: &Value) -> Model {
    model_at(file, None)
}

/// The only table of a file.
fn table(file: &Value) -> Table {
    let mut tables = model(file).tables;
    assert_eq!(tables.len(), 1);
    tables.remove(0)
}

/// A Llama with heads of 128 and more keys.
fn llama(more: Value) -> Value {
    let mut file = json!({
        "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
        "max_position_embeddings": 32768,
    });
    let keys = more.as_object().unwrap().clone();
    file.as_object_mut().unwrap().extend(keys);
    file
}

const MODELS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/code/positional-encoding/models"
);

fn published(name: &str) -> Vec<u8> {
    std::fs::read(format!("{MODELS}/{name}.json")).unwrap()
}

fn all_published() -> Vec<String> {
    let files = std::fs::read_dir(MODELS).unwrap();
    let stem = |file: std::io::Result<std::fs::DirEntry>| {
        let path = file.unwrap().path();
        path.file_stem().unwrap().to_str().unwrap().to_string()
    };
    files.map(stem).collect()
}

/// Nine printed digits.
const DIGITS: f64 = 1e-8;

#[test]
fn a_factor_written_without_a_point_is_a_factor() {
    let with = |factor: Value| {
        let scaling = json!({"type": "linear", "factor": factor});
        table(&llama(json!({"rope_scaling": scaling}))).inv_freq
    };
    assert_eq!(with(json!(8)), with(json!(8.0)));
    assert_relative_eq!(with(json!(8))[0], 0.125);
    assert_relative_eq!(with(json!(8))[1], 0.108245540, max_relative = DIGITS);
}

#[test]
fn the_base_inside_the_block_counts_before_the_one_beside_it() {
    let file = llama(json!({"rope_theta": 5e5, "rope_parameters": {"rope_theta": 1e6}}));
    assert_eq!(table(&file).base, Some(1e6));
    let notes = model(&file).notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("rope_theta 500000 does not"))
    );
}

#[test]
fn rope_scaling_counts_before_rope_parameters_and_rope_type_before_type() {
    let file = llama(json!({
        "rope_scaling": {"rope_type": "linear", "type": "dynamic", "factor": 2},
        "rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 1e6},
    }));
    let table = table(&file);
    assert_eq!((table.rope_type, table.base), (RopeType::Linear, Some(1e4)));
    assert_eq!(table.inv_freq[0], 0.5);
}

#[test]
fn a_null_is_read_as_a_missing_key_and_said_so() {
    let file = llama(json!({"rope_theta": null, "rope_scaling": null, "head_dim": null}));
    let model = model(&file);
    assert_eq!(model.tables[0].base, Some(1e4));
    assert_eq!(model.tables[0].head_dim, 128);
    let nulls = model.notes.iter().filter(|note| note.contains("null"));
    assert_eq!(nulls.count(), 3);
}

#[test]
fn an_explicit_head_dim_counts_before_the_width_divided_by_the_heads() {
    for (hidden_size, heads, head_dim, base, second, last) in [
        (5120, 32, 128, 1e6, 0.805842188, 1.24093776e-6),
        (1024, 16, 128, 1e6, 0.805842188, 1.24093776e-6),
        (640, 4, 256, 1e6, 0.897687132, 1.11397386e-6),
    ] {
        let table = table(&json!({
            "model_type": "mistral", "hidden_size": hidden_size, "num_attention_heads": heads,
            "head_dim": head_dim, "rope_theta": base,
        }));
        assert_relative_eq!(table.inv_freq[1], second, max_relative = DIGITS);
        assert_relative_eq!(*table.inv_freq.last().unwrap(), last, max_relative = DIGITS);
    }
}

#[test]
fn glm_rotates_half_of_a_head_by_neighbours_though_its_file_does_not_say_so() {
    let file =
        |model_type| json!({"model_type": model_type, "hidden_size": 64, "num_attention_heads": 8});
    let mut glm = file("glm");
    glm["head_dim"] = json!(8);
    let (glm, llama) = (table(&glm), table(&file("llama")));
    assert_eq!((glm.rotary_dim, glm.layout), (4, Some(Layout::Interleaved)));
    assert_eq!((llama.rotary_dim, llama.layout), (8, Some(Layout::Half)));
}

#[test]
fn proportional_frequencies_are_spaced_over_the_head_and_default_ones_over_its_rotated_part() {
    let rotated = |rope_type: &str| {
        let table = table(&json!({
            "model_type": "llama", "head_dim": 8,
            "rope_parameters": {
                "rope_type": rope_type, "rope_theta": 1e4, "partial_rotary_factor": 0.5,
            },
        }));
        let mut x: Vec<f64> = (1..=8).map(f64::from).collect();
        rotate(&mut x, 1, &table.inv_freq, Layout::Half).unwrap();
        (table.inv_freq, x)
    };
    let (inv_freq, y) = rotated("default");
    assert_relative_eq!(inv_freq[..], [1.0, 0.01], max_relative = 1e-12);
    let expected = [
        -1.98411065,
        1.95990067,
        2.4623779,
        4.01979967,
        5.0,
        6.0,
        7.0,
        8.0,
    ];
    assert_relative_eq!(y[..], expected[..], max_relative = DIGITS);
    let (inv_freq, y) = rotated("proportional");
    assert_relative_eq!(inv_freq[..], [1.0, 0.1, 0.0, 0.0], max_relative = 1e-12);
    let expected = [
        -3.66705262,
        1.39100783,
        3.0,
        4.0,
        3.54298251,
        6.16969182,
        7.0,
        8.0,
    ];
    assert_relative_eq!(y[..], expected[..], max_relative = DIGITS);
}

#[test]
fn gemma_3_scales_its_full_layers_and_leaves_the_sliding_ones_alone() {
    let model = model(&json!({
        "model_type": "gemma3_text", "num_hidden_layers": 26, "rope_theta": 1e6,
        "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }));
    let [full, sliding] = &model.tables[..] else {
        panic!("two kinds of layer");
    };
    assert_eq!(
        (full.layers.as_str(), sliding.layers.as_str()),
        ("full", "sliding")
    );
    assert_eq!(full.layer_indices, Some(vec![5, 11, 17, 23]));
    assert_eq!((full.rope_type, full.base), (RopeType::Linear, Some(1e6)));
    assert_eq!(
        (sliding.rope_type, sliding.base),
        (RopeType::Default, Some(1e4))
    );
    assert_eq!((full.inv_freq[0], sliding.inv_freq[0]), (0.125, 1.0));
    let longest = std::f64::consts::TAU / full.inv_freq[127];
    assert_relative_eq!(longest, 45122676.8, max_relative = DIGITS);
}

#[test]
fn a_one_in_no_rope_layers_is_a_layer_that_rotates() {
    let unrotated = |more: Value| {
        let mut file = json!({"model_type": "smollm3", "num_hidden_layers": 8});
        let keys = more.as_object().unwrap().clone();
        file.as_object_mut().unwrap().extend(keys);
        let tables = model(&file).tables;
        let none = tables
            .iter()
            .find(|table| table.rope_type == RopeType::None);
        none.unwrap().layer_indices.clone().unwrap()
    };
    let listed = json!({"no_rope_layers": [1, 0, 1, 1, 1, 1, 1, 0]});
    assert_eq!(unrotated(listed), [1, 7]);
    for by_interval in [
        json!({}),
        json!({"no_rope_layers": []}),
        json!({"no_rope_layers": null, "no_rope_layer_interval": 4}),
    ] {
        assert_eq!(unrotated(by_interval), [3, 7]);
    }
    let smollm3 = config::read(&published("smollm3-3b"), None).unwrap();
    let every_fourth: Vec<usize> = (3..36).step_by(4).collect();
    assert_eq!(smollm3.tables[1].layer_indices, Some(every_fourth));
}

#[test]
fn dynamic_ntk_depends_on_the_current_length_and_on_nothing_before_it() {
    let file = llama(json!({
        "max_position_embeddings": 2048, "rope_scaling": {"type": "dynamic", "factor": 2.0},
    }));
    let base_at = |length| {
        let inv_freq = &model_at(&file, Some(length)).tables[0].inv_freq;
        inv_freq[1].powf(-64.0)
    };
    for (length, base) in [
        (2048, 10000.0),
        (4096, 30527.7367),
        (8192, 72195.9),
        (4096, 30527.7367),
        (2048, 10000.0),
    ] {
        assert_relative_eq!(base_at(length), base, max_relative = 1e-6);
    }
}

#[test]
fn truncate_counts_inside_the_block_of_one_kind_of_layer() {
    let yarn = |truncate: bool| {
        let model = model(&json!({
            "model_type": "gemma3_text", "head_dim": 64, "num_hidden_layers": 6,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {
                    "rope_type": "yarn", "rope_theta": 150000.0, "factor": 32,
                    "original_max_position_embeddings": 4096, "truncate": truncate,
                },
            },
        }));
        model.tables[0].inv_freq.clone()
    };
    let (rounded, raw) = (yarn(true), yarn(false));
    let apart = |(a, b): (&f64, &f64)| (a / b - 1.0).abs();
    let furthest = rounded.iter().zip(&raw).map(apart).fold(0.0, f64::max);
    assert!(furthest > 0.1, "{furthest}");
}

#[test]
fn su_and_phi_3s_yarn_mean_longrope_wherever_the_trained_length_stands() {
    let lists = json!({"short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 4, 8]});
    for (name, inside) in [
        ("su", false),
        ("su", true),
        ("yarn", false),
        ("longrope", true),
    ] {
        let mut scaling = lists.clone();
        scaling["type"] = json!(name);
        let mut file = json!({
            "model_type": "phi3", "hidden_size": 64, "num_attention_heads": 8,
            "max_position_embeddings": 131072,
        });
        match inside {
            true => scaling["original_max_position_embeddings"] = json!(4096),
            false => file["original_max_position_embeddings"] = json!(4096),
        }
        file["rope_scaling"] = scaling;
        let at = |length| model_at(&file, Some(length)).tables.remove(0);
        assert_eq!(at(1).rope_type, RopeType::LongRope);
        assert_relative_eq!(
            at(4096).inv_freq[..],
            [1.0, 0.1, 0.01, 0.001],
            max_relative = 1e-12
        );
        let long = [1.0, 0.05, 0.0025, 0.000125];
        assert_relative_eq!(at(4097).inv_freq[..], long, max_relative = 1e-12);
        for length in [4096, 4097] {
            assert_relative_eq!(
                at(length).attention_factor,
                1.190238071,
                max_relative = 1e-9
            );
        }
    }
}

#[test]
fn an_attention_factor_of_one_is_an_attention_factor() {
    let factor = |more: Value| {
        let mut scaling = json!({
            "rope_type": "yarn", "factor": 64, "original_max_position_embeddings": 4096,
        });
        let keys = more.as_object().unwrap().clone();
        scaling.as_object_mut().unwrap().extend(keys);
        table(&llama(json!({"rope_scaling": scaling}))).attention_factor
    };
    assert_relative_eq!(factor(json!({})), 1.415888308, max_relative = 1e-9);
    assert_eq!(factor(json!({"attention_factor": 1.0})), 1.0);
    assert_eq!(factor(json!({"mscale": 1.0, "mscale_all_dim": 1.0})), 1.0);
    let ratio = json!({"mscale": 0.707, "mscale_all_dim": 1.0, "factor": 40});
    assert_relative_eq!(factor(ratio), 0.921042355, max_relative = 1e-8);
}

#[test]
fn deepseek_keeps_its_temperature_in_the_softmax_and_not_in_cosine_and_sine() {
    let model = config::read(&published("deepseek-v3"), None).unwrap();
    let table = &model.tables[0];
    assert_eq!((table.head_dim, table.rotary_dim), (192, 64));
    assert_eq!(table.layout, Some(Layout::Interleaved));
    assert_eq!(table.attention_factor, 1.0);
    assert_relative_eq!(table.softmax_scale_factor, 1.873854207, max_relative = 1e-9);
    let ministral = config::read(&published("ministral-3-3b"), None).unwrap();
    assert_eq!(ministral.tables[0].attention_factor, 1.0);
    assert_eq!(ministral.tables[0].softmax_scale_factor, 1.0);
}

#[test]
fn a_table_of_514_rows_holds_512_positions_of_roberta_and_510_with_another_padding() {
    let usable = |pad: Value| {
        let file = json!({
            "model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": pad,
        });
        match model(&file).scheme {
            Scheme::Learned { usable, .. } => usable,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((usable(json!(1)), usable(json!(3))), (Some(512), Some(510)));
    let bytes = published("roberta-base");
    assert!(config::read(&bytes, Some(512)).is_ok());
    assert!(config::read(&bytes, Some(513)).is_err());
}

#[test]
fn schemes_that_do_not_rotate_are_recognised() {
    for (model_type, scheme) in [
        ("bert", "learned"),
        ("gpt2", "learned"),
        ("bloom", "alibi"),
        ("mpt", "alibi"),
        ("t5", "t5"),
        ("marian", "sinusoidal"),
        ("mamba", "none"),
    ] {
        let model = model(&json!({"model_type": model_type}));
        assert_eq!(model.scheme.name(), scheme, "{model_type}");
        assert!(model.tables.is_empty());
    }
}

#[test]
fn of_64_pairs_between_4_and_32_never_complete_a_turn_in_training() {
    for (name, never, pairs) in [
        ("llama-2-7b", 18, 64),
        ("llama-3-8b", 29, 64),
        ("llama-3.1-8b", 29, 64),
        ("mistral-7b-v0.1", 4, 64),
        ("qwen2.5-7b", 24, 64),
        ("qwen2.5-7b-yarn", 24, 64),
        ("qwen3-8b", 23, 64),
        ("gpt-oss-20b", 14, 32),
        ("phi-3.5-mini", 14, 48),
    ] {
        let model = config::read(&published(name), None).unwrap();
        let table = &model.tables[0];
        assert_eq!(table.pairs_never_turning, Some(never), "{name}");
        assert_eq!(table.inv_freq.len(), pairs, "{name}");
    }
    let mut never = Vec::new();
    for name in all_published() {
        let model = config::read(&published(&name), None).unwrap();
        let of_64 = model
            .tables
            .iter()
            .filter(|table| table.inv_freq.len() == 64);
        never.extend(of_64.filter_map(|table| table.pairs_never_turning));
    }
    assert!(never.len() > 15);
    assert_eq!(
        (never.iter().min(), never.iter().max()),
        (Some(&4), Some(&32))
    );
}

#[test]
fn llama_3_1_leaves_29_pairs_alone_blends_6_and_slows_29_eightfold() {
    let model = config::read(&published("llama-3.1-8b"), None).unwrap();
    let table = &model.tables[0];
    let ratios: Vec<f64> = table
        .unscaled
        .iter()
        .zip(&table.inv_freq)
        .map(|(a, b)| b / a)
        .collect();
    assert!(ratios[..29].iter().all(|ratio| *ratio == 1.0));
    assert!(
        ratios[29..35]
            .iter()
            .all(|ratio| 0.125 < *ratio && *ratio < 1.0)
    );
    assert!(ratios[35..].iter().all(|ratio| *ratio == 0.125));
    assert_relative_eq!(table.inv_freq[31], 0.000856751413, max_relative = DIGITS);
}

#[test]
fn bounds_that_are_equal_make_a_step() {
    let scout = config::read(&published("llama-4-scout"), None).unwrap();
    let table = &scout.tables[0];
    // No pair is blended: a factor of 16 for those that never turned in 8192 positions, 1 else.
    for (unscaled, scaled) in table.unscaled.iter().zip(&table.inv_freq) {
        let turned = std::f64::consts::TAU / unscaled <= 8192.0;
        assert_eq!(unscaled / scaled, if turned { 1.0 } else { 16.0 });
    }
    assert_eq!(table.pairs_never_turning, Some(29));
}

#[test]
fn what_cannot_be_computed_is_refused_with_the_key_and_what_to_do() {
    for (more, key) in [
        (
            json!({"rope_scaling": {"type": "foo", "factor": 2}}),
            "rope_scaling.type",
        ),
        (
            json!({"rope_scaling": {"type": "linear", "factor": "2"}}),
            "rope_scaling.factor",
        ),
        (
            json!({"rope_scaling": {"type": "linear", "factor": true}}),
            "rope_scaling.factor",
        ),
        (
            json!({"rope_scaling": {"type": "linear"}}),
            "rope_scaling.factor",
        ),
        (
            json!({"rope_scaling": {"factor": 2}}),
            "rope_scaling.rope_type",
        ),
        (json!({"rope_scaling": "dynamic"}), "rope_scaling"),
        (json!({"rope_theta": -1}), "rope_theta"),
        (json!({"head_dim": 65}), "head_dim"),
        (
            json!({"head_dim": 100, "partial_rotary_factor": 0.07}),
            "partial_rotary_factor",
        ),
        (
            json!({"layer_types": ["full_attention"], "num_hidden_layers": 2}),
            "layer_types",
        ),
        (
            json!({"rope_scaling": {
                "type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1,
            }}),
            "rope_scaling.low_freq_factor",
        ),
        (
            json!({"rope_scaling": {
                "type": "longrope", "short_factor": [1, 1], "long_factor": [1, 1],
            }}),
            "rope_scaling.short_factor",
        ),
    ] {
        let bytes = serde_json::to_vec(&llama(more)).unwrap();
        let error = config::read(&bytes, None).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{key} is ")), "{error}");
        assert!(
            error.contains(", but must be ") && error.contains("; "),
            "{error}"
        );
    }
}

/// Values that a careless or hostile file may hold where a number belongs.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            -1.0, -0.0, 0.0, 5e-324, 0.5, 1.0, 2.0, 4096.0, 9.3e18, 1e308,
        ])
        .prop_map(Value::from),
        prop::sample::select(vec![
            "default",
            "linear",
            "dynamic",
            "yarn",
            "longrope",
            "llama3",
            "proportional",
            "su",
            "mrope",
            "full_attention",
            "gemma3_text",
            "llama4",
            "deepseek_v3",
            "roberta",
            "x",
        ])
        .prop_map(Value::from),
        prop::collection::vec(0..3_u8, 0..70).prop_map(|list| json!(list)),
    ]
}

fn any_object(depth: u32) -> BoxedStrategy<Value> {
    let keys = vec![
        "model_type",
        "hidden_size",
        "num_attention_heads",
        "head_dim",
        "num_hidden_layers",
        "max_position_embeddings",
        "rope_theta",
        "rope_type",
        "type",
        "factor",
        "short_factor",
        "long_factor",
        "low_freq_factor",
        "high_freq_factor",
        "beta_fast",
        "beta_slow",
        "truncate",
        "original_max_position_embeddings",
        "attention_factor",
        "mscale",
        "mscale_all_dim",
        "partial_rotary_factor",
        "rotary_dim",
        "rope_local_base_freq",
        "layer_types",
        "no_rope_layers",
        "sliding_window_pattern",
        "pad_token_id",
        "qk_rope_head_dim",
        "full_attention",
        "sliding_attention",
        "rope_scaling",
        "rope_parameters",
        "text_config",
        "mrope_section",
        "position_embedding_type",
        "alibi",
    ];
    let value = match depth {
        0 => any_value().boxed(),
        _ => prop_oneof![3 => any_value(), 2 => any_object(depth - 1)].boxed(),
    };
    prop::collection::vec((prop::sample::select(keys), value), 0..14)
        .prop_map(|pairs| {
            pairs
                .into_iter()
                .map(|(key, value)| (key.to_string(), value))
                .collect()
        })
        .boxed()
}

proptest! {
    #[test]
    fn any_object_gives_finite_frequencies_or_an_error_with_a_remedy(
        file in any_object(3),
        length in prop::option::of(any::<usize>()),
    ) {
        let bytes = serde_json::to_vec(&file).unwrap();
        match config::read(&bytes, length) {
            Ok(model) => {
                for table in &model.tables {
                    prop_assert!(table.inv_freq.iter().all(|w| w.is_finite() && *w >= 0.0));
                    prop_assert!(table.attention_factor.is_finite());
                    prop_assert!(table.softmax_scale_factor.is_finite());
                    prop_assert_eq!(2 * table.inv_freq.len(), table.rotary_dim);
                }
                prop_assert!(!model.to_string().is_empty());
                let printed = model.to_json().to_string();
                prop_assert!(serde_json::from_str::<Value>(&printed).is_ok());
            }
            Err(error) => prop_assert!(error.to_string().contains("; ")),
        }
    }

    #[test]
    fn any_bytes_give_a_model_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = config::read(&bytes, None) {
            prop_assert!(error.to_string().contains("; "));
        }
    }
}
