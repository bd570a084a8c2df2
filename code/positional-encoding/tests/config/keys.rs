//! Single keys: which of two counts, which numbers are allowed, and how a value is shown.

use serde_json::{Map, Value, json};

use super::{llama, read, refusal, with};

#[test]
fn of_two_keys_the_first_counts_and_a_second_that_says_otherwise_is_noted() {
    let usual = read(&llama(
        json!({"rope_scaling": {"type": "linear", "factor": 2}}),
    ))
    .notes;
    let block = |rope_type: &str| json!({"rope_scaling": {"rope_type": rope_type, "type": "linear", "factor": 2}});
    for (more, note) in [
        (json!({"rope_base": 10000}), None),
        (json!({"rope_base": 1e4}), None),
        (
            json!({"rope_base": 20000}),
            Some("rope_theta 10000.0 counts; rope_base 20000 does not"),
        ),
        (
            json!({"rope_base": "10000"}),
            Some("rope_theta 10000.0 counts; rope_base \"10000\" does not"),
        ),
        (block("linear"), None),
        (
            block("default"),
            Some(
                "rope_scaling.rope_type \"default\" counts; rope_scaling.type \"linear\" does not",
            ),
        ),
        (json!({"text_config": {"head_dim": 128}}), None),
        (
            json!({"text_config": {"head_dim": 64}}),
            Some("text_config.head_dim 64 counts; head_dim 128 does not"),
        ),
    ] {
        let linear = json!({"rope_scaling": {"type": "linear", "factor": 2}});
        let mut new = read(&llama(with(linear, more.clone()))).notes;
        new.retain(|line| !usual.contains(line) && line.contains("counts;"));
        assert_eq!(new, Vec::from_iter(note), "{more}");
    }
}

#[test]
fn a_count_is_a_whole_number_from_one_to_two_to_the_53() {
    const LARGEST: u64 = 1 << 53;
    for (given, count) in [
        (json!(1), Some(1)),
        (json!(4096.0), Some(4096)),
        (json!(LARGEST), Some(LARGEST)),
        (json!(LARGEST + 1), None),
        (json!(0), None),
        (json!(0.0), None),
        (json!(0.5), None),
        (json!(1.5), None),
        (json!(-1), None),
        (json!(-1.0), None),
    ] {
        let file = llama(json!({"max_position_embeddings": given}));
        match count {
            Some(count) => assert_eq!(read(&file).tables[0].max_length, Some(count as usize)),
            None => assert_eq!(
                refusal(&file),
                format!(
                    "max_position_embeddings is {given}, but must be a whole number from 1 to \
                     2^53; compare with the file as it was published"
                )
            ),
        }
    }
}

#[test]
fn an_entry_of_a_list_that_is_not_above_zero_is_refused_by_its_place() {
    for (entry, given) in [
        (json!(0), "0"),
        (json!(-0.5), "-0.5"),
        (json!(null), "null (null)"),
        (json!("2"), "\"2\" (a string)"),
    ] {
        let text = refusal(&llama(json!({"head_dim": 4, "rope_scaling": {
            "type": "longrope", "factor": 2, "short_factor": [1, entry], "long_factor": [1, 1],
        }})));
        let expected = format!(
            "rope_scaling.short_factor[1] is {given}, but must be a number above zero; compare \
             with the file as it was published"
        );
        assert_eq!(text, expected);
    }
}

#[test]
fn a_value_of_more_than_eight_entries_is_shown_as_their_number() {
    let list = |len: usize| json!(vec![1; len]);
    let object = |len: usize| -> Value {
        let pairs = (0..len).map(|i| (format!("k{i}"), json!(1)));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    for (value, shown) in [
        (list(1), "[1]"),
        (list(8), "[1,1,1,1,1,1,1,1]"),
        (list(9), "a list of 9"),
        (list(10), "a list of 10"),
        (object(1), "{\"k0\":1}"),
        (
            object(8),
            "{\"k0\":1,\"k1\":1,\"k2\":1,\"k3\":1,\"k4\":1,\"k5\":1,\"k6\":1,\"k7\":1}",
        ),
        (object(9), "an object of 9 keys"),
        (object(10), "an object of 10 keys"),
        (json!("x".repeat(58)), &format!("\"{}\"", "x".repeat(58))),
        (json!("x".repeat(59)), &format!("\"{}...", "x".repeat(59))),
    ] {
        let notes = read(&llama(json!({"rope_magic": value}))).notes;
        assert_eq!(notes, [format!("rope_magic {shown} is not used")]);
    }
}
