//! Typed access to the keys of a file, with a record of what was read and what was not.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::json::kind;
use crate::Error;
use crate::error::number;

/// The largest count a file may give: every whole number up to here has its own f64.
pub(super) const LARGEST_COUNT: u64 = 1 << 53;

/// A value and the path of the key that gave it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given<T> {
    pub(super) value: T,
    pub(super) key: String,
}

/// One object of the file and its path, `""` for the outermost.
#[derive(Debug, Clone)]
pub(super) struct Level<'a> {
    pub(super) path: String,
    pub(super) map: &'a Map<String, Value>,
}

/// Objects searched from the innermost outwards.
#[derive(Debug, Clone)]
pub(super) struct Keys<'a> {
    pub(super) levels: Vec<Level<'a>>,
    pub(super) notes: Vec<String>,
    said: BTreeSet<String>,
    used: BTreeSet<String>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(levels: Vec<Level<'a>>) -> Self {
        Self {
            levels,
            notes: Vec::new(),
            said: BTreeSet::new(),
            used: BTreeSet::new(),
        }
    }

    pub(super) fn note(&mut self, note: String) {
        const LONGEST: usize = 400;
        let note = match note.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &note[..end]),
            None => note,
        };
        if self.said.insert(note.clone()) {
            self.notes.push(note);
        }
    }

    /// Notes on keys that are not used: some in full, the rest as their number.
    pub(super) fn note_unused(&mut self, mut notes: impl Iterator<Item = String>) {
        const IN_FULL: usize = 50;
        for note in notes.by_ref().take(IN_FULL) {
            self.note(note);
        }
        match notes.count() {
            0 => {}
            more => self.note(format!("{more} more keys are not used")),
        }
    }

    /// The first of `names` that a level gives a value other than null. A further one that
    /// says something else is noted.
    pub(super) fn find(&mut self, names: &[&str]) -> Option<Given<&'a Value>> {
        let mut found: Option<Given<&'a Value>> = None;
        for (path, value) in self.all(names) {
            self.used.insert(path.clone());
            if value.is_null() {
                self.note(format!("{path} is null: read as if it were missing"));
            } else if let Some(first) = &found {
                if !same(first.value, value) {
                    let (used, other) = (show(first.value), show(value));
                    let note = format!("{} {used} counts; {path} {other} does not", first.key);
                    self.note(note);
                }
            } else {
                found = Some(Given { value, key: path });
            }
        }
        found
    }

    fn all(&self, names: &[&str]) -> Vec<(String, &'a Value)> {
        let mut all = Vec::new();
        for level in &self.levels {
            for name in names {
                if let Some(value) = level.map.get(*name) {
                    all.push((format!("{}{name}", level.path), value));
                }
            }
        }
        all
    }

    /// Whether a level has one of the keys, be it null.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        !self.all(names).is_empty()
    }

    /// The innermost value of a key, be it null.
    pub(super) fn peek(&self, name: &str) -> Option<&'a Value> {
        self.all(&[name]).first().map(|(_, value)| *value)
    }

    /// Whether the innermost level that has the key says null.
    pub(super) fn is_null(&self, name: &str) -> bool {
        matches!(self.all(&[name]).first(), Some((_, Value::Null)))
    }

    pub(super) fn number(&mut self, names: &[&str]) -> Result<Option<Given<f64>>, Error> {
        let Some(Given { value, key }) = self.find(names) else {
            return Ok(None);
        };
        let value = as_number(value).ok_or_else(|| wrong_type(&key, value, "a number"))?;
        Ok(Some(Given { value, key }))
    }

    /// A number above zero.
    pub(super) fn positive(&mut self, names: &[&str]) -> Result<Option<Given<f64>>, Error> {
        let given = self.number(names)?;
        if let Some(Given { value, key }) = &given
            && *value <= 0.0
        {
            return Err(Error::Key {
                key: key.clone(),
                given: number(*value),
                allowed: "a number above zero".into(),
                remedy: "compare with the file as it was published".into(),
            });
        }
        Ok(given)
    }

    /// A number from zero up.
    pub(super) fn not_negative(&mut self, names: &[&str]) -> Result<Option<Given<f64>>, Error> {
        let given = self.number(names)?;
        match given {
            Some(Given { value, key }) if value < 0.0 => Err(Error::Key {
                key,
                given: number(value),
                allowed: "a number from zero up".into(),
                remedy: "compare with the file as it was published".into(),
            }),
            other => Ok(other),
        }
    }

    /// A whole number from 1 up.
    pub(super) fn count(&mut self, names: &[&str]) -> Result<Option<Given<usize>>, Error> {
        let Some(Given { value, key }) = self.find(names) else {
            return Ok(None);
        };
        let allowed = "a whole number from 1 to 2^53";
        let number = as_number(value).ok_or_else(|| wrong_type(&key, value, allowed))?;
        let exact = value
            .as_u64()
            .or(Some(number as u64))
            .filter(|count| number.fract() == 0.0 && (1..=LARGEST_COUNT).contains(count));
        let Some(count) = exact else {
            return Err(Error::Key {
                given: show(value),
                key,
                allowed: allowed.into(),
                remedy: "compare with the file as it was published".into(),
            });
        };
        if value.is_f64() {
            self.note(format!(
                "{key} is written {value}: read as the whole number"
            ));
        }
        let value = count as usize;
        Ok(Some(Given { value, key }))
    }

    pub(super) fn flag(&mut self, names: &[&str]) -> Result<Option<Given<bool>>, Error> {
        let Some(Given { value, key }) = self.find(names) else {
            return Ok(None);
        };
        let value = value
            .as_bool()
            .ok_or_else(|| wrong_type(&key, value, "true or false"))?;
        Ok(Some(Given { value, key }))
    }

    pub(super) fn word(&mut self, names: &[&str]) -> Result<Option<Given<&'a str>>, Error> {
        let Some(Given { value, key }) = self.find(names) else {
            return Ok(None);
        };
        let value = value
            .as_str()
            .ok_or_else(|| wrong_type(&key, value, "a string"))?;
        Ok(Some(Given { value, key }))
    }

    pub(super) fn list(&mut self, names: &[&str]) -> Result<Option<Given<&'a Vec<Value>>>, Error> {
        let Some(Given { value, key }) = self.find(names) else {
            return Ok(None);
        };
        let value = value
            .as_array()
            .ok_or_else(|| wrong_type(&key, value, "a list"))?;
        Ok(Some(Given { value, key }))
    }

    /// A list of numbers above zero.
    pub(super) fn positives(&mut self, names: &[&str]) -> Result<Option<Given<Vec<f64>>>, Error> {
        let Some(Given { value, key }) = self.list(names)? else {
            return Ok(None);
        };
        let mut numbers = Vec::with_capacity(value.len());
        for (i, entry) in value.iter().enumerate() {
            match as_number(entry) {
                Some(number) if number > 0.0 => numbers.push(number),
                _ => {
                    let key = format!("{key}[{i}]");
                    return Err(wrong_type(&key, entry, "a number above zero"));
                }
            }
        }
        Ok(Some(Given {
            value: numbers,
            key,
        }))
    }

    pub(super) fn object(
        &mut self,
        names: &[&str],
    ) -> Result<Option<Given<&'a Map<String, Value>>>, Error> {
        let Some(Given { value, key }) = self.find(names) else {
            return Ok(None);
        };
        let value = value
            .as_object()
            .ok_or_else(|| wrong_type(&key, value, "an object"))?;
        Ok(Some(Given { value, key }))
    }

    /// The paths and values of all keys that nothing has read.
    pub(super) fn unread(&self) -> Vec<(String, &'a Value)> {
        let mut unread = Vec::new();
        for level in &self.levels {
            for (name, value) in level.map {
                let path = format!("{}{name}", level.path);
                if !self.used.contains(&path) {
                    unread.push((path, value));
                }
            }
        }
        unread
    }
}

pub(super) fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

pub(super) fn wrong_type(key: &str, value: &Value, allowed: &str) -> Error {
    let given = match value {
        Value::Number(_) => show(value),
        other => format!("{} ({})", show(other), kind(other)),
    };
    Error::Key {
        key: key.into(),
        given,
        allowed: allowed.into(),
        remedy: "compare with the file as it was published".into(),
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// A value as the file spells it, cut to fit a line.
pub(super) fn show(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = match value {
        Value::Array(list) if list.len() > 8 => format!("a list of {}", list.len()),
        Value::Object(map) if map.len() > 8 => format!("an object of {} keys", map.len()),
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain("...".chars()).collect()
}
