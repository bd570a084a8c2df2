//! Which layers there are: full or sliding, rotated or not.

use serde_json::Value;

use super::family::Family;
use super::head::missing;
use super::keys::{Given, Keys, as_number, show, wrong_type};
use crate::Error;

const MOST: usize = 10_000;
const COUNT: &[&str] = &["num_hidden_layers", "n_layer", "n_layers", "num_layers"];

/// One layer: the kind of its attention, empty where the file tells none apart, and whether
/// it rotates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub(super) kind: String,
    pub(super) rotated: bool,
}

/// The layers in their order; empty where their number is not known.
pub(super) fn read(
    keys: &mut Keys,
    family: &Family,
    kinds_matter: bool,
) -> Result<Vec<Layer>, Error> {
    let count = count(keys)?;
    let listed = listed_kinds(keys, count.as_ref())?;
    let needed = kinds_matter || family.setting("nope").is_some();
    let without = no_rope_layers(keys, count.as_ref())?;
    if listed.is_none() && without == NoRope::Unsaid && !needed {
        return Ok(Vec::new());
    }
    let count = match (&count, &listed, &without) {
        (Some(given), ..) => given.value,
        (None, Some(kinds), _) => kinds.len(),
        (None, None, NoRope::Listed(rotated)) => rotated.len(),
        (None, None, _) => match family.layers {
            Some(default) => missing(keys, family, COUNT[0], default).value,
            None => return Ok(Vec::new()),
        },
    };
    let kinds = match listed {
        Some(kinds) => {
            note_other_pattern(keys, family, &kinds)?;
            kinds
        }
        None => pattern(keys, family, count)?,
    };
    let rotated = rotated(keys, family, without, &kinds)?;
    Ok(kinds
        .into_iter()
        .zip(rotated)
        .map(|(kind, rotated)| Layer { kind, rotated })
        .collect())
}

/// Notes a pattern beside the list of layers that says otherwise.
fn note_other_pattern(keys: &mut Keys, family: &Family, listed: &[String]) -> Result<(), Error> {
    let given = |name: &&str| keys.peek(name).is_some_and(|value| !value.is_null());
    let names = ["sliding_window_pattern", "global_attn_every_n_layers"];
    let Some(name) = names.into_iter().find(given) else {
        return Ok(());
    };
    if pattern(keys, family, listed.len())? != listed {
        keys.note(format!(
            "layer_types counts, {name} beside it says otherwise"
        ));
    }
    Ok(())
}

fn count(keys: &mut Keys) -> Result<Option<Given<usize>>, Error> {
    let given = keys.count(COUNT)?;
    match given {
        Some(Given { value, key }) if value > MOST => Err(Error::Key {
            key,
            given: value.to_string(),
            allowed: format!("at most {MOST}"),
            remedy: "compare with the file as it was published".into(),
        }),
        other => Ok(other),
    }
}

fn check_len(key: &str, len: usize, count: Option<&Given<usize>>) -> Result<(), Error> {
    match count {
        Some(count) if count.value != len => Err(Error::Key {
            key: key.into(),
            given: format!("a list of {len}"),
            allowed: format!("a list of {} {}, one entry a layer", count.key, count.value),
            remedy: "give one entry for each layer, or leave the list out".into(),
        }),
        _ if len > MOST => Err(Error::Key {
            key: key.into(),
            given: format!("a list of {len}"),
            allowed: format!("at most {MOST} layers"),
            remedy: "compare with the file as it was published".into(),
        }),
        _ => Ok(()),
    }
}

/// `full_attention` is the kind `full`.
pub(super) fn kind_of(name: &str) -> String {
    let short = name.strip_suffix("_attention").unwrap_or(name);
    match short {
        "global" => "full".into(),
        "local" => "sliding".into(),
        _ => short.into(),
    }
}

fn listed_kinds(
    keys: &mut Keys,
    count: Option<&Given<usize>>,
) -> Result<Option<Vec<String>>, Error> {
    let Some(Given { value, key }) = keys.list(&["layer_types"])? else {
        return Ok(None);
    };
    if value.is_empty() {
        keys.note(format!("{key} is empty: read as if it were missing"));
        return Ok(None);
    }
    check_len(&key, value.len(), count)?;
    let name = |(i, entry): (usize, &Value)| match entry.as_str() {
        Some(name) => Ok(kind_of(name)),
        None => Err(wrong_type(
            &format!("{key}[{i}]"),
            entry,
            "a layer's kind, a string",
        )),
    };
    let kinds = value
        .iter()
        .enumerate()
        .map(name)
        .collect::<Result<_, _>>()?;
    Ok(Some(kinds))
}

/// What the file says of layers without rotation.
#[derive(Debug, PartialEq)]
enum NoRope {
    Unsaid,
    /// One entry a layer: whether it rotates.
    Listed(Vec<bool>),
    /// The last of every so many layers does not.
    Interval(usize),
}

fn no_rope_layers(keys: &mut Keys, count: Option<&Given<usize>>) -> Result<NoRope, Error> {
    let interval = keys.count(&["no_rope_layer_interval", "nope_layer_interval"])?;
    if let Some(Given { value, key }) = keys.list(&["no_rope_layers"])? {
        if !value.is_empty() {
            check_len(&key, value.len(), count)?;
            let listed = uses_rope(&key, value)?;
            if let Some(interval) = interval
                && listed != by_interval(listed.len(), interval.value)
            {
                keys.note(format!(
                    "{key} counts, {} {} beside it says otherwise",
                    interval.key, interval.value
                ));
            }
            return Ok(NoRope::Listed(listed));
        }
        keys.note(format!("{key} is empty: the interval counts"));
    }
    Ok(match interval {
        Some(Given { value, .. }) => NoRope::Interval(value),
        None => NoRope::Unsaid,
    })
}

/// The last of every so many layers is not rotated.
fn by_interval(count: usize, interval: usize) -> Vec<bool> {
    (1..=count).map(|layer| layer % interval != 0).collect()
}

/// The list's name says the opposite of what it holds: 1 is a layer **with** rotation.
fn uses_rope(key: &str, list: &[Value]) -> Result<Vec<bool>, Error> {
    let entry = |(i, entry): (usize, &Value)| match as_number(entry) {
        Some(1.0) => Ok(true),
        Some(0.0) => Ok(false),
        _ => Err(Error::Key {
            key: format!("{key}[{i}]"),
            given: show(entry),
            allowed: "1 for a layer that rotates, or 0 for one that does not".into(),
            remedy: "compare with the file as it was published".into(),
        }),
    };
    list.iter().enumerate().map(entry).collect()
}

/// Full and sliding layers where the file gives no list: the last, or the first, of every so
/// many is full.
fn pattern(keys: &mut Keys, family: &Family, count: usize) -> Result<Vec<String>, Error> {
    if let Some(kinds) = lettered(keys, count)? {
        return Ok(kinds);
    }
    if let Some(kinds) = numbered(keys, count)? {
        return Ok(kinds);
    }
    if family.setting("nope") == Some("hybrid") && keys.is_null("sliding_window") {
        keys.find(&["sliding_window_pattern"]);
        return Ok(vec!["full".into(); count]);
    }
    let last = keys.count(&["sliding_window_pattern", "_sliding_window_pattern"])?;
    if let Some(Given { value, .. }) = last {
        return Ok(every(count, value, value - 1));
    }
    let first = keys.count(&["global_attn_every_n_layers"])?;
    if let Some(Given { value, .. }) = first {
        return Ok(every(count, value, 0));
    }
    if let Some(default) = family.count("pattern") {
        let period = missing(keys, family, "sliding_window_pattern", default).value;
        return Ok(every(count, period, period - 1));
    }
    if let Some(default) = family.count("first") {
        let period = missing(keys, family, "global_attn_every_n_layers", default).value;
        return Ok(every(count, period, 0));
    }
    Ok(vec![String::new(); count])
}

/// One entry a layer, 1 for a sliding one, as MiMo has it.
fn numbered(keys: &mut Keys, count: usize) -> Result<Option<Vec<String>>, Error> {
    let Some(Given { value, key }) = keys.list(&["hybrid_layer_pattern"])? else {
        return Ok(None);
    };
    let layers = Given {
        value: count,
        key: COUNT[0].into(),
    };
    check_len(&key, value.len(), Some(&layers))?;
    let kind = |(i, entry): (usize, &Value)| match as_number(entry) {
        Some(1.0) => Ok("sliding".to_string()),
        Some(0.0) => Ok("full".to_string()),
        _ => Err(wrong_type(
            &format!("{key}[{i}]"),
            entry,
            "1 for a sliding layer, or 0",
        )),
    };
    value
        .iter()
        .enumerate()
        .map(kind)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn every(count: usize, period: usize, full: usize) -> Vec<String> {
    let kind = |layer: usize| match layer % period == full {
        true => "full".into(),
        false => "sliding".into(),
    };
    (0..count).map(kind).collect()
}

/// A pattern in letters: `LLLG`, three local layers and a global one.
fn lettered(keys: &mut Keys, count: usize) -> Result<Option<Vec<String>>, Error> {
    const NAME: &[&str] = &["sliding_window_pattern"];
    let Some(Given { value, key }) = keys.find(NAME) else {
        return Ok(None);
    };
    let Value::String(letters) = value else {
        return Ok(None);
    };
    let kind = |letter| match letter {
        'L' => Ok("sliding".to_string()),
        'G' => Ok("full".to_string()),
        _ => Err(wrong_type(&key, value, "a number, or letters L and G")),
    };
    let period = letters.chars().map(kind).collect::<Result<Vec<_>, _>>()?;
    if period.is_empty() {
        return Err(wrong_type(&key, value, "a number, or letters L and G"));
    }
    Ok(Some(period.into_iter().cycle().take(count).collect()))
}

fn rotated(
    keys: &mut Keys,
    family: &Family,
    without: NoRope,
    kinds: &[String],
) -> Result<Vec<bool>, Error> {
    let interval = match without {
        NoRope::Listed(rotated) => {
            let listed = Given {
                value: kinds.len(),
                key: "layer_types".into(),
            };
            check_len("no_rope_layers", rotated.len(), Some(&listed))?;
            return Ok(rotated);
        }
        NoRope::Interval(interval) => Some(interval),
        NoRope::Unsaid => family
            .count("nope")
            .map(|default| missing(keys, family, "no_rope_layer_interval", default).value),
    };
    if let Some(interval) = interval {
        return Ok(by_interval(kinds.len(), interval));
    }
    let only_sliding = match family.setting("nope") {
        Some("full") => true,
        Some("hybrid") => !keys.is_null("sliding_window"),
        _ => false,
    };
    if only_sliding && kinds.iter().any(|kind| kind == "full") {
        keys.note(format!("{} rotates its sliding layers only", family.name));
    }
    Ok(kinds
        .iter()
        .map(|kind| !(only_sliding && kind == "full"))
        .collect())
}

/// Layers that mix tokens by other means than attention have no positions to rotate.
pub(super) fn attends(kind: &str) -> bool {
    !["linear", "conv", "mamba", "recurrent", "ssm", "moe", "mlp"]
        .iter()
        .any(|other| kind.contains(other))
}
