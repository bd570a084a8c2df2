//! The report that a person reads, line by line.

use positional_encoding::config;
use serde_json::{Value, json};

use super::{llama, read, with};

/// Heads of 8 whose four wavelengths are 2 pi times 1, 10, 100 and 1000.
fn small(more: Value) -> Value {
    let file = json!({"model_type": "llama", "head_dim": 8, "max_position_embeddings": 1000,
        "rope_theta": 10000});
    with(file, more)
}

/// The lines below the headings of the first table, of pairs.
fn pairs(file: &Value) -> Vec<String> {
    let report = read(file).to_string();
    let lines = report.lines().skip_while(|line| !line.starts_with(" pair"));
    lines
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(String::from)
        .collect()
}

/// The numbers of the pairs that a report shows.
fn shown(file: &Value) -> Vec<usize> {
    let number = |line: &String| line.split_whitespace().next().unwrap().parse().unwrap();
    pairs(file).iter().map(number).collect()
}

/// With a pair for each factor, up to the trained length.
fn longrope(factors: &[f64]) -> Value {
    small(json!({"head_dim": 2 * factors.len(), "rope_scaling": {
        "type": "longrope", "factor": 2, "short_factor": factors, "long_factor": factors,
    }}))
}

#[test]
fn llama_3_1s_report_shows_the_borders_of_its_three_bands() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/llama-3.1-8b.json");
    let model = config::read(&std::fs::read(path).unwrap(), None).unwrap();
    let expected = "\
model type            llama
scheme                rope: query and key are rotated

layers                all
kind                  llama3
set by                rope_scaling
base                  500000
head_dim              128, of which 128 rotated
layout                half
attention factor      1
trained length        8192
declared length       131072
current length        8192
pairs never turning   29 of 64 in training

 pair     wavelength  after scaling  band
    0           6.28           6.28  as trained
    8          32.40          32.40  as trained
   16         167.08         167.08  as trained
   24         861.58         861.58  as trained
   28        1956.50        1956.50  as trained
   29        2401.74        2900.06  slower
   32        4442.88       11971.48  slower
   34        6695.11       35198.38  slower
   35        8218.72       65749.75  slowed most; never turns
   40       22910.58      183284.66  slowed most; never turns
   48      118142.83      945142.64  slowed most; never turns
   56      609226.27     4873810.16  slowed most; never turns
   63     2559195.52    20473564.14  slowed most; never turns

notes
- head_dim is not given: hidden_size / num_attention_heads = 128
";
    assert_eq!(model.to_string(), expected);
}

#[test]
fn a_report_lists_the_layers_of_each_kind_and_says_which_are_not_rotated() {
    let file = small(json!({"model_type": "smollm3", "num_hidden_layers": 36,
        "no_rope_layer_interval": 4}));
    let expected = "\
model type            smollm3
scheme                rope: query and key are rotated

layers                full: 27 of them, 0, 1, 2, 4, 5, 6, 8, 9, 10, ...
kind                  default
base                  10000
head_dim              8, of which 8 rotated
layout                half
attention factor      1
trained length        1000
declared length       1000
current length        1000
pairs never turning   1 of 4 in training

 pair     wavelength  after scaling  band
    0           6.28           6.28  as trained
    1          62.83          62.83  as trained
    2         628.32         628.32  as trained
    3        6283.19        6283.19  as trained; never turns

layers                none: 9 of them, 3, 7, 11, 15, 19, 23, 27, 31, 35
kind                  none: these layers are not rotated
";
    assert_eq!(read(&file).to_string(), expected);
    let all = llama(json!({"layer_types": ["full_attention", "full_attention"]}));
    assert!(
        read(&all)
            .to_string()
            .contains("\nlayers                all 2\n")
    );
}

/// DeepSeek's factor is (0.1 ln 40 + 1)^2.
#[test]
fn a_report_has_a_line_for_a_factor_on_the_softmax_where_it_is_not_one() {
    let deepseek = |mscale_all_dim: f64| {
        let file = json!({"model_type": "deepseek_v3", "rope_scaling": {
            "type": "yarn", "factor": 40, "mscale": 1, "mscale_all_dim": mscale_all_dim,
            "original_max_position_embeddings": 4096,
        }});
        read(&file).to_string()
    };
    assert!(deepseek(1.0).contains("\nsoftmax scale times   1.87385420709"));
    assert!(!deepseek(0.0).contains("softmax"));
}

#[test]
fn a_report_says_what_scaling_does_to_each_pair() {
    let scaling = |block: Value| small(json!({"rope_scaling": block}));
    for (file, expected) in [
        (
            scaling(json!({"type": "linear", "factor": 0.5})),
            [
                "    0           6.28           3.14  faster",
                "    1          62.83          31.42  faster",
                "    2         628.32         314.16  faster",
                "    3        6283.19        3141.59  faster; never turns",
            ],
        ),
        (
            scaling(json!({"type": "linear", "factor": 4})),
            [
                "    0           6.28          25.13  slowed most",
                "    1          62.83         251.33  slowed most",
                "    2         628.32        2513.27  slowed most",
                "    3        6283.19       25132.74  slowed most; never turns",
            ],
        ),
        // A base of 10^4 times (10^6)^(8/6), so that the last pair is a million times slower.
        (
            with(
                scaling(json!({"type": "dynamic", "alpha": 1e6})),
                json!({"model_type": "unheard"}),
            ),
            [
                "    0           6.28           6.28  as trained",
                "    1          62.83        6283.19  slower",
                "    2         628.32     6283185.31  slower",
                "    3        6283.19        6.283e9  slowed most; never turns",
            ],
        ),
        // LongRoPE's lists have no bound that a pair could be at.
        (
            longrope(&[1.0, 2.0, 4.0, 8.0]),
            [
                "    0           6.28           6.28  as trained",
                "    1          62.83         125.66  slower",
                "    2         628.32        2513.27  slower",
                "    3        6283.19       50265.48  slower; never turns",
            ],
        ),
        (
            scaling(json!({"type": "proportional", "partial_rotary_factor": 0.5})),
            [
                "    0           6.28           6.28  as trained",
                "    1          62.83          62.83  as trained",
                "    2          still          still  as trained; never turns",
                "    3          still          still  as trained; never turns",
            ],
        ),
    ] {
        assert_eq!(pairs(&file), expected, "{file}");
    }
}

/// The base of a head of 4 whose second wavelength is a number exactly: its square over that
/// of 2 pi.
#[test]
fn a_wavelength_at_a_bound_is_not_past_it() {
    for (base, length, line) in [
        (
            1699887.3833431676,
            8192,
            "    1        8192.00        8192.00  as trained",
        ),
        (
            1699887.3833431676,
            8191,
            "    1        8192.00        8192.00  as trained; never turns",
        ),
        (
            2.5330295910584444e16,
            1_u64 << 40,
            "    1        1.000e9        1.000e9  as trained",
        ),
    ] {
        let file = small(json!({"head_dim": 4, "rope_theta": base,
            "max_position_embeddings": length}));
        let model = read(&file);
        let never = usize::from(line.ends_with("never turns"));
        assert_eq!(model.tables[0].pairs_never_turning, Some(never));
        assert_eq!(pairs(&file)[1], line);
    }
}

#[test]
fn a_report_shows_the_ends_every_eighth_of_the_pairs_and_up_to_sixteen_at_borders() {
    let evenly = |pairs: usize| -> Vec<usize> {
        let step = pairs.div_ceil(8);
        (0..pairs)
            .filter(|i| i % step == 0 || *i == pairs - 1)
            .collect()
    };
    assert_eq!(shown(&small(json!({"head_dim": 2}))), [0]);
    assert_eq!(shown(&small(json!({"head_dim": 16}))), evenly(8));
    assert_eq!(shown(&small(json!({"head_dim": 128}))), evenly(64));
    // Runs of four pairs, each in another band than the one before.
    let runs = |runs: usize| -> Vec<f64> {
        let band = |run: usize| [1.0, 2.0][run % 2];
        (0..4 * runs).map(|i| band(i / 4)).collect()
    };
    let border = |i: usize| [0, 3].contains(&(i % 4));
    let nine: Vec<usize> = (0..36).filter(|i| border(*i) || i % 5 == 0).collect();
    assert_eq!(shown(&longrope(&runs(9))), nine);
    assert_eq!(shown(&longrope(&runs(10))), evenly(40));
}

#[test]
fn a_note_is_broken_at_72_columns_and_a_word_that_is_longer_is_not() {
    let notes = |key: usize| {
        let key = format!("rope_{}", "x".repeat(key - 5));
        let report = read(&small(json!({&key: 1}))).to_string();
        let (_, notes) = report.split_once("\nnotes\n").unwrap();
        notes.replace(&key, "KEY")
    };
    // " 1 is not used" is 14 columns wide.
    assert_eq!(notes(56), "- KEY 1 is not used\n");
    assert_eq!(notes(57), "- KEY 1 is not\n  used\n");
    assert_eq!(notes(80), "- KEY\n  1 is not used\n");
    assert!(!read(&small(json!({}))).to_string().contains("notes"));
}

#[test]
fn a_report_describes_a_scheme_that_is_not_rotary() {
    for (file, expected) in [
        (
            json!({"model_type": "bert"}),
            "model type            bert
scheme                learned: a table of 512 rows
                      the first token takes row 0, 512 positions in all

notes
- max_position_embeddings is missing: 512, the default of bert
",
        ),
        (
            json!({"position_embedding_type": "absolute"}),
            "model type            (not given)
scheme                learned: a table of ? rows
                      the first token takes row 0, ? positions in all

notes
- model_type is missing: no defaults
",
        ),
        (
            json!({"model_type": "bloom", "n_head": 8}),
            "model type            bloom
scheme                alibi: a bias that falls with distance
                      8 heads, first slope 0.500000, bias_max 8
",
        ),
        (
            json!({"model_type": "unheard", "alibi": true}),
            "model type            unheard
scheme                alibi: a bias that falls with distance
                      bias_max 8

notes
- model_type \"unheard\" is not known: no defaults
- the number of heads is not given: no slopes
",
        ),
        (
            json!({"model_type": "t5", "relative_attention_num_buckets": 32,
                "relative_attention_max_distance": 128}),
            "model type            t5
scheme                t5: a learned bias for each of 32 buckets of distance
                      one bucket from distance 128 on at the latest
",
        ),
        (
            json!({"model_type": "marian", "d_model": 512, "max_position_embeddings": 512}),
            "model type            marian
scheme                sinusoidal: sines and cosines are added to the input
                      width 512, 512 positions declared
",
        ),
        (
            json!({"model_type": "xlnet"}),
            "model type            xlnet
scheme                relative: sinusoids of the distance enter the score
",
        ),
        (
            json!({"model_type": "mamba"}),
            "model type            mamba
scheme                none: no positions enter; order comes from the mask
",
        ),
    ] {
        assert_eq!(read(&file).to_string(), expected, "{file}");
    }
}
