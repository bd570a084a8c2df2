//! Reading the kept values, and how far ours are from them.

use ndarray::Array2;
use serde_json::Value;

/// A section of modules.json, made with PyTorch and transformers.
pub fn modules(section: &str) -> Value {
    read("modules.json", section)
}

/// A section of exact.json, made in arithmetic of 100 digits.
pub fn exact(section: &str) -> Value {
    read("exact.json", section)
}

fn read(file: &str, section: &str) -> Value {
    let path = format!("{}/tests/references/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut whole: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    whole[section].take()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        value => value.as_f64().unwrap(),
    }
}

pub fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

pub fn whole(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

pub fn wholes(value: &Value) -> Vec<usize> {
    list(value).iter().map(whole).collect()
}

pub fn matrix(value: &Value) -> Array2<f64> {
    let rows = list(value);
    let entries: Vec<f64> = rows.iter().flat_map(numbers).collect();
    Array2::from_shape_vec((rows.len(), entries.len() / rows.len()), entries).unwrap()
}

/// Ours against a value of 32 digits, written as the nearest double and the rest.
///
/// The first difference is exact, since the two are close.
pub fn error(ours: f64, exact: &Value) -> f64 {
    let (nearest, rest) = exact.as_str().unwrap().split_once(' ').unwrap();
    let [nearest, rest]: [f64; 2] = [nearest, rest].map(|part| part.parse().unwrap());
    ((ours - nearest) - rest).abs()
}

/// The largest number seen, and how many.
#[derive(Debug, Default)]
pub struct Largest {
    pub value: f64,
    pub count: usize,
}

impl Largest {
    pub fn see(&mut self, value: f64) {
        // A NaN is larger than everything, so that it fails.
        if value.is_nan() || value > self.value {
            self.value = value;
        }
        self.count += 1;
    }
}

/// That both have the same length and lie within `tolerance` of each other.
pub fn assert_close<'a>(
    what: &str,
    ours: impl IntoIterator<Item = &'a f64>,
    theirs: &[f64],
    tolerance: impl Fn(f64) -> f64,
) {
    let ours: Vec<f64> = ours.into_iter().copied().collect();
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (entry, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let close = (ours - theirs).abs() <= tolerance(*theirs);
        assert!(close, "{what}, entry {entry}: {ours} {theirs}");
    }
}
