//! The head: how wide it is, how much of it is rotated, which entries pair up, how long the
//! model reads.

use super::family::Family;
use super::keys::{Given, Keys};
use crate::Error;
use crate::rope::Layout;

/// The widest head read; the widest of any published model is a hundredth of it.
const WIDEST: usize = 65_536;

const HIDDEN_SIZE: &[&str] = &["hidden_size", "n_embd", "d_model", "dim", "model_dim"];
const HEADS: &[&str] = &[
    "num_attention_heads",
    "n_head",
    "n_heads",
    "num_heads",
    "attention_heads",
    "encoder_attention_heads",
];
const PART: &[&str] = &[
    "partial_rotary_factor",
    "rotary_pct",
    "rope_pct",
    "rotary_emb_fraction",
    "rotary_percentage",
];
const INTERLEAVED: &[&str] = &[
    "rope_interleave",
    "rope_interleaved",
    "rotary_emb_interleaved",
    "rotary_interleaved",
    "rope_traditional",
];
const LENGTH: &[&str] = &[
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_sequence_length",
    "max_seq_len",
    "max_seq_length",
    "seq_length",
    "model_max_length",
    "max_target_positions",
];

/// What all layers share.
#[derive(Debug)]
pub(super) struct Head {
    /// Entries of a query's head.
    pub(super) head_dim: usize,
    /// Of the full layers, where they have another.
    pub(super) full_head_dim: Option<usize>,
    /// Of the sliding layers, where they have another.
    pub(super) sliding_head_dim: Option<usize>,
    /// The rotated part where it is a count of its own.
    pub(super) rotary_dim: Option<Given<usize>>,
    /// The rotated part where it is a fraction, outside any block.
    pub(super) part: Option<Given<f64>>,
    pub(super) layout: Layout,
    /// The longest input the file declares.
    pub(super) max_length: Option<Given<usize>>,
    /// The length before any extension, where it stands outside a block.
    pub(super) original: Option<Given<usize>>,
}

impl Head {
    pub(super) fn read(keys: &mut Keys, family: &Family) -> Result<Self, Error> {
        let (head_dim, rotary_dim, part) = match split_head(keys, family)? {
            Some((head_dim, rotary_dim)) => (head_dim, Some(rotary_dim), None),
            None => (
                head_dim(keys, family)?,
                rotary_dim(keys, family)?,
                keys.positive(PART)?,
            ),
        };
        Ok(Self {
            head_dim,
            full_head_dim: full_head_dim(keys, family)?,
            sliding_head_dim: own_head_dim(keys, "swa_head_dim")?,
            rotary_dim,
            part,
            layout: layout(keys, family)?,
            max_length: max_length(keys, family)?,
            original: keys.count(&["original_max_position_embeddings", "max_trained_positions"])?,
        })
    }
}

/// The head of a model that keeps a rotated part apart: the width of both, and of the rotated.
fn split_head(keys: &mut Keys, family: &Family) -> Result<Option<(usize, Given<usize>)>, Error> {
    let rotated = keys.count(&["qk_rope_head_dim"])?;
    let default = family.split_head();
    let rotated = match (rotated, default) {
        (Some(given), _) => given,
        (None, Some((_, rotated))) => missing(keys, family, "qk_rope_head_dim", rotated),
        (None, None) => return Ok(None),
    };
    let still = match (keys.count(&["qk_nope_head_dim"])?, default) {
        (Some(given), _) => given.value,
        (None, Some((still, _))) => missing(keys, family, "qk_nope_head_dim", still).value,
        (None, None) => {
            keys.note("qk_nope_head_dim is missing: the head is taken to be rotated whole".into());
            0
        }
    };
    let head_dim = still.saturating_add(rotated.value);
    check_width("qk_rope_head_dim with qk_nope_head_dim", head_dim)?;
    if keys.has(&["head_dim"]) {
        keys.find(&["head_dim"]);
        keys.note(format!(
            "head_dim is not used: a head is qk_nope_head_dim + qk_rope_head_dim = {head_dim} wide"
        ));
    }
    Ok(Some((head_dim, rotated)))
}

fn head_dim(keys: &mut Keys, family: &Family) -> Result<usize, Error> {
    if let Some(given) = keys.count(&["head_dim", "kv_channels", "attention_head_dim"])? {
        check_width(&given.key, given.value)?;
        return Ok(given.value);
    }
    if let Some(default) = family.head_dim
        && !keys.is_null("head_dim")
    {
        return Ok(missing(keys, family, "head_dim", default).value);
    }
    let hidden_size = or_default(keys, family, HIDDEN_SIZE, family.hidden_size)?;
    let heads = or_default(keys, family, HEADS, family.heads)?;
    let head_dim = hidden_size.value / heads.value;
    check_width(&hidden_size.key, head_dim)?;
    let rounded = match hidden_size.value % heads.value {
        0 => "",
        _ => ", rounded down",
    };
    keys.note(format!(
        "head_dim is not given: {} / {} = {head_dim}{rounded}",
        hidden_size.key, heads.key
    ));
    Ok(head_dim)
}

fn or_default(
    keys: &mut Keys,
    family: &Family,
    names: &[&str],
    default: Option<usize>,
) -> Result<Given<usize>, Error> {
    if let Some(given) = keys.count(names)? {
        return Ok(given);
    }
    match default {
        Some(default) => Ok(missing(keys, family, names[0], default)),
        None => Err(Error::Key {
            key: names[0].into(),
            given: "missing".into(),
            allowed: "a whole number above zero, or head_dim given".into(),
            remedy: "give head_dim, or hidden_size and num_attention_heads".into(),
        }),
    }
}

/// Notes that a key is missing and what the model type then means.
pub(super) fn missing<T: std::fmt::Display>(
    keys: &mut Keys,
    family: &Family,
    name: &str,
    value: T,
) -> Given<T> {
    keys.note(format!(
        "{name} is missing: {value}, the default of {}",
        family.name
    ));
    Given {
        value,
        key: name.into(),
    }
}

fn check_width(key: &str, head_dim: usize) -> Result<(), Error> {
    if head_dim <= WIDEST {
        return Ok(());
    }
    Err(Error::Key {
        key: key.into(),
        given: format!("a head of {head_dim}"),
        allowed: format!("a head of at most {WIDEST} entries"),
        remedy: "compare with the file as it was published".into(),
    })
}

/// A head width that only one kind of layer has.
fn own_head_dim(keys: &mut Keys, name: &str) -> Result<Option<usize>, Error> {
    let given = keys.count(&[name])?;
    if let Some(Given { value, key }) = &given {
        check_width(key, *value)?;
    }
    Ok(given.map(|given| given.value))
}

fn full_head_dim(keys: &mut Keys, family: &Family) -> Result<Option<usize>, Error> {
    const NAME: &str = "global_head_dim";
    Ok(match (own_head_dim(keys, NAME)?, family.count(NAME)) {
        (Some(given), _) => Some(given),
        (None, Some(default)) => Some(missing(keys, family, NAME, default).value),
        (None, None) => None,
    })
}

fn rotary_dim(keys: &mut Keys, family: &Family) -> Result<Option<Given<usize>>, Error> {
    let default = family.count("rotary_dim");
    let is_null = keys.is_null("rotary_dim");
    Ok(match (keys.count(&["rotary_dim"])?, default) {
        (Some(given), _) => Some(given),
        (None, Some(default)) if !is_null => Some(missing(keys, family, "rotary_dim", default)),
        _ => None,
    })
}

fn layout(keys: &mut Keys, family: &Family) -> Result<Layout, Error> {
    let interleaved = match keys.flag(INTERLEAVED)? {
        Some(given) => given.value,
        None => {
            if !family.known() {
                keys.note("the layout is not given: half, as in Llama's files".into());
            }
            family.has("interleaved")
        }
    };
    Ok(match interleaved {
        true => Layout::Interleaved,
        false => Layout::Half,
    })
}

/// The longest input the file declares, or the model type's default.
pub(super) fn max_length(keys: &mut Keys, family: &Family) -> Result<Option<Given<usize>>, Error> {
    if let Some(given) = keys.count(LENGTH)? {
        return Ok(Some(given));
    }
    Ok(family
        .length
        .map(|default| missing(keys, family, "max_position_embeddings", default)))
}

/// Heads of the queries, where a scheme needs their number.
pub(super) fn heads(keys: &mut Keys, family: &Family) -> Result<Option<usize>, Error> {
    if let Some(given) = keys.count(HEADS)? {
        return Ok(Some(given.value));
    }
    Ok(family
        .heads
        .map(|default| missing(keys, family, HEADS[0], default).value))
}

/// The model's width, where a scheme needs it.
pub(super) fn hidden_size(keys: &mut Keys, family: &Family) -> Result<Option<usize>, Error> {
    if let Some(given) = keys.count(HIDDEN_SIZE)? {
        return Ok(Some(given.value));
    }
    Ok(family
        .hidden_size
        .map(|default| missing(keys, family, HIDDEN_SIZE[0], default).value))
}
