//! The command `rope` as a person or a program meets it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn rope(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rope"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses early closes its input before it is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn published(name: &str) -> String {
    format!("{}/models/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn refusal(arguments: &[&str], input: &[u8]) -> String {
    let output = rope(arguments, input);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with("rope: ") && text.lines().count() == 1,
        "{text}"
    );
    text
}

#[test]
fn json_is_one_object_with_the_frequencies_in_full() {
    let output = rope(&[&published("llama-3.1-8b"), "--json"], b"");
    assert!(output.status.success() && output.stderr.is_empty());
    let model: Value = serde_json::from_str(stdout(&output)).unwrap();
    let table = &model["tables"][0];
    assert_eq!(model["model_type"], "llama");
    assert_eq!(model["scheme"], "rope");
    for (key, value) in [
        ("layers", Value::from("all")),
        ("rope_type", "llama3".into()),
        ("layout", "half".into()),
        ("head_dim", 128.into()),
        ("rotary_dim", 128.into()),
        ("base", 500000.0.into()),
        ("trained_length", 8192.into()),
        ("max_length", 131072.into()),
        ("attention_factor", 1.0.into()),
        ("softmax_scale_factor", 1.0.into()),
        ("pairs_never_turning", 29.into()),
    ] {
        assert_eq!(table[key], value, "{key}");
    }
    let model =
        positional_encoding::config::read(&std::fs::read(published("llama-3.1-8b")).unwrap(), None);
    let exact = &model.unwrap().tables[0].inv_freq;
    let printed = table["inv_freq"].as_array().unwrap();
    let printed: Vec<f64> = printed.iter().map(|w| w.as_f64().unwrap()).collect();
    assert_eq!(&printed, exact);
}

#[test]
fn text_fits_a_terminal_and_says_what_was_assumed() {
    for entry in std::fs::read_dir(published("").trim_end_matches("/.json")).unwrap() {
        let path = entry.unwrap().path();
        let output = rope(&[path.to_str().unwrap()], b"");
        assert!(output.status.success(), "{path:?}");
        let too_long = stdout(&output)
            .lines()
            .find(|line| line.chars().count() > 79);
        assert_eq!(too_long, None, "{path:?}");
    }
    let output = rope(&[&published("llama-3.1-8b")], b"");
    let text = stdout(&output);
    assert!(text.contains("rope_scaling"));
    assert!(text.contains("29 of 64 in training"));
    assert!(text.contains("head_dim is not given"));
}

#[test]
fn a_hyphen_reads_standard_input_and_a_length_counts() {
    let file = br#"{"model_type": "llama", "max_position_embeddings": 2048, "head_dim": 128,
        "rope_scaling": {"type": "dynamic", "factor": 2.0}}"#;
    let at = |length: &str| {
        let output = rope(&["-", "--json", "--length", length], file);
        let model: Value = serde_json::from_str(stdout(&output)).unwrap();
        model["tables"][0]["inv_freq"][1].as_f64().unwrap()
    };
    assert_eq!(at("2048"), at("1"));
    assert!(at("4096") < at("2048"));
}

#[test]
fn what_is_no_configuration_is_refused() {
    for (file, says) in [
        (&b""[..], "the file is empty"),
        (b"{\"rope_theta\": NaN}", "JSON has no NaN"),
        (b"[1, 2]", "holds a list, not an object"),
        (b"null", "holds null"),
        (b"{}", "neither a known model_type"),
        (
            b"{\"hidden_size\": 8, \"num_attention_heads\": 2}",
            "neither a known model_type",
        ),
        (
            b"{\"model_type\": 3}",
            "model_type is 3, but must be a string",
        ),
        (b"{\"model_type\": \"llama\"} {}", "trailing characters"),
        (b"\xff\xfe{}", "not JSON"),
        (
            b"{\"model_type\": \"llama\", \"head_dim\": 1e400}",
            "not JSON",
        ),
        (
            b"{\"model_type\": \"llama\", \"head_dim\": 1e9}",
            "at most 65536",
        ),
        (
            b"{\"model_type\": \"llama\", \"head_dim\": 128.5}",
            "a whole number",
        ),
        (
            b"{\"model_type\": \"llama\", \"head_dim\": true}",
            "a boolean",
        ),
    ] {
        let text = refusal(&["-"], file);
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn endless_and_deep_files_are_refused_at_once() {
    let deep = "[".repeat(3_000_000);
    assert!(refusal(&["-"], deep.as_bytes()).contains("recursion limit"));
    let deep = format!(
        "{}1{}",
        "{\"text_config\":".repeat(100_000),
        "}".repeat(100_000)
    );
    assert!(refusal(&["-"], deep.as_bytes()).contains("recursion limit"));
    let long = vec![b' '; 5 << 20];
    assert!(refusal(&["-"], &long).contains("larger than 4 MiB"));
    if cfg!(target_os = "linux") {
        assert!(refusal(&["/dev/zero"], b"").contains("larger than 4 MiB"));
    }
}

#[test]
fn lengths_and_arguments_out_of_range_are_refused() {
    let file = &published("llama-2-7b")[..];
    for length in [
        "0",
        "-5",
        "4.5",
        "abc",
        "99999999999999999999999",
        "",
        "9007199254740993",
    ] {
        let text = refusal(&[file, "--length", length], b"");
        assert!(
            text.contains("length is ") && text.contains("1 to 2^53"),
            "{text}"
        );
    }
    assert!(refusal(&[&published("gpt2"), "--length", "1025"], b"").contains("1024 positions"));
    for (arguments, says) in [
        (&[][..], "no file is given"),
        (&["--json"], "no file is given"),
        (&[file, file], "given twice"),
        (&[file, "--length"], "needs a number"),
        (&[file, "--length", "1", "--length=2"], "given twice"),
        (&[file, "--verbose"], "--verbose is not an option"),
        (&["nowhere.json"], "nowhere.json"),
        (&["/"], "cannot be read"),
    ] {
        assert!(refusal(arguments, b"").contains(says), "{arguments:?}");
    }
}

#[test]
fn help_is_no_error() {
    let output = rope(&["--help"], b"");
    assert!(output.status.success());
    assert!(stdout(&output).contains("--length N"));
}

#[test]
fn a_refusal_is_one_line_whatever_the_file_calls_its_keys() {
    let odd = br#"{"model_type": "llama", "rope_parameters": {"a\n\u001b[31m_attention": 5}}"#;
    let text = refusal(&["-"], odd);
    assert!(
        text.contains("rope_parameters.a??[31m_attention is 5"),
        "{text}"
    );
    let long = "x".repeat(1_000_000);
    let long =
        format!("{{\"model_type\": \"llama\", \"rope_parameters\": {{\"{long}_attention\": 5}}}}");
    assert!(refusal(&["-"], long.as_bytes()).len() < 900);
    assert!(refusal(&["-"], b"\xff\xfe{\0}\0").contains("UTF-16"));
    assert!(refusal(&["no\nfile"], b"").contains("no?file"));
}

/// The command with standard output at this place, once it has ended.
fn rope_into(place: impl Into<Stdio>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rope"))
        .arg(published("llama-2-7b"))
        .stdout(place)
        .stderr(Stdio::piped())
        .output()
        .unwrap()
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error_and_a_full_disk_is_one() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = rope_into(writer);
    assert!(output.status.success() && output.stderr.is_empty());
    if cfg!(target_os = "linux") {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let output = rope_into(full.unwrap());
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with("rope: standard output: "), "{text}");
    }
}
