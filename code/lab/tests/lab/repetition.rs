use std::fs;
use std::path::PathBuf;
use std::process::Command;

use figures::record::Record;
use lab::position::Scheme;
use lab::record::machine;

const RECORDED: &str = include_str!("../../results/small.csv");

/// Runs the command with a folder of its own and returns the file it records.
fn small(folder: &str, threads: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let status = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["small", "--threads", threads, "--results"])
        .arg(&folder)
        .arg("--checkpoints")
        .arg(&folder)
        .env_remove("CANDLE_NUM_THREADS")
        .env_remove("RAYON_NUM_THREADS")
        .status()
        .expect("the command is built with this test");
    assert!(status.success());
    fs::read_to_string(folder.join("small.csv")).expect("the command recorded it")
}

fn rows(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

/// Matrix products are summed in another order by other vector instructions. Where a record was
/// made with the instructions of this machine the numbers must be the same to the last bit;
/// elsewhere four steps of training leave differences far below a thousandth of a nat.
#[test]
fn a_training_from_scratch_gives_its_record_again() {
    let again = small("again", "1");
    let recorded = Record::parse("small.csv", RECORDED).expect("the record is whole");
    if recorded.note("machine").expect("it names its machine") == machine() {
        assert_eq!(rows(&again), rows(RECORDED));
    }
    let again = Record::parse("small.csv", &again).expect("the command closed it");
    for scheme in Scheme::LANGUAGE {
        for length in ["64", "512"] {
            let row = [("scheme", scheme.name()), ("length", length)];
            let loss = |record: &Record| record.number("loss", &row).expect("a row for each");
            approx::assert_abs_diff_eq!(loss(&again), loss(&recorded), epsilon = 1e-3);
        }
    }
}

#[test]
fn two_threads_give_the_bits_of_one() {
    assert_eq!(rows(&small("one", "1")), rows(&small("two", "2")));
}

#[test]
fn what_is_not_understood_is_answered_with_the_usage() {
    let answer = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["length", "--sideways"])
        .output()
        .expect("the command is built with this test");
    let message = String::from_utf8_lossy(&answer.stderr);
    assert!(!answer.status.success());
    assert!(
        message.contains("--sideways") && message.contains("usage"),
        "{message}"
    );
}
