//! Bytes to a JSON object: bounded in size and depth, and aware of a key given twice.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::MAX_BYTES;
use crate::Error;

/// The file's object, and a note for each key it gives twice.
pub(super) fn parse(bytes: &[u8]) -> Result<(Map<String, Value>, Vec<String>), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(too_large());
    }
    let mut repeated = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Seed {
        repeated: &mut repeated,
    }
    .deserialize(&mut reader)
    .and_then(|value| reader.end().map(|()| value))
    .map_err(|error| not_json(bytes, &error))?;
    match value {
        Value::Object(map) => Ok((map, repeated)),
        other => Err(Error::File {
            problem: format!("the file holds {}, not an object", kind(&other)),
            remedy: "give a model's config.json, which starts with {".into(),
        }),
    }
}

pub(super) fn too_large() -> Error {
    Error::File {
        problem: format!(
            "the file is larger than {} MiB, more than any config.json",
            MAX_BYTES >> 20
        ),
        remedy: "give the model's config.json, not its weights or tokenizer".into(),
    }
}

fn not_json(bytes: &[u8], error: &serde_json::Error) -> Error {
    let remedy = if bytes.is_empty() {
        "the file is empty; give a model's config.json".into()
    } else if bytes.starts_with(b"\xef\xbb\xbf") {
        "save it as UTF-8 without a byte order mark".into()
    } else if bytes.contains(&0) {
        "save it as UTF-8: it holds zero bytes, as text in UTF-16 does".into()
    } else {
        let text = String::from_utf8_lossy(bytes);
        let constant = ["NaN", "Infinity"]
            .iter()
            .find(|word| text.contains(**word));
        match constant {
            Some(word) => format!("JSON has no {word}: write a number, or null"),
            None => "give a model's config.json, as it was published".into(),
        }
    };
    Error::File {
        problem: format!("the file is not JSON: {error}"),
        remedy,
    }
}

/// What a value is, in words: `a string`.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Seed<'a> {
    repeated: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        serde_json::Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Seed {
            repeated: self.repeated,
        })? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            let value = object.next_value_seed(Seed {
                repeated: self.repeated,
            })?;
            let start = format!("{key} is given");
            if let Some(earlier) = map.insert(key, value)
                && !self.repeated.iter().any(|note| note.starts_with(&start))
            {
                if self.repeated.len() == 100 {
                    return Err(A::Error::custom("more than 100 keys are given twice"));
                }
                self.repeated.push(format!(
                    "{start} more than once: the last value counts, the earlier {} does not",
                    super::keys::show(&earlier)
                ));
            }
        }
        Ok(Value::Object(map))
    }
}
