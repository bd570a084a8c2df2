//! Which scheme a file means, and what it says of those that are not rotary.

use super::Scheme;
use super::block::LOCAL_BASE;
use super::family::Family;
use super::head::{heads, hidden_size, max_length, missing};
use super::keys::{Given, Keys, LARGEST_COUNT, show};
use crate::error::number;
use crate::{Direction, Error, alibi, t5};

/// The keys that only a rotary model has.
const ROTARY: &[&str] = &[
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "partial_rotary_factor",
    "rotary_pct",
    "rotary_dim",
    "rotary_emb_base",
    "rope_embedding_base",
    "rope_ratio",
    "rotary_emb_fraction",
    "qk_rope_head_dim",
    "global_rope_theta",
    "no_rope_layers",
];

/// The most heads that slopes are listed for.
const MOST_HEADS: usize = 65_536;

/// The scheme, by the keys that choose one, then by the model type, then by what else is
/// there.
pub(super) fn of(keys: &mut Keys, family: &Family, length: Option<usize>) -> Result<Scheme, Error> {
    let named = named(keys, family)?;
    let name = match named {
        Some(name) => name,
        None => by_type(keys, family)?,
    };
    match name {
        "rope" => Ok(Scheme::Rope),
        "learned" => learned(keys, family, length),
        "alibi" => alibi_bias(keys, family),
        "t5" => t5_bias(keys),
        "sinusoidal" => sinusoidal(keys, family, length),
        "relative" => relative(keys, family),
        _ => Ok(Scheme::None),
    }
}

/// The scheme that a key of the file names outright.
fn named(keys: &mut Keys, family: &Family) -> Result<Option<&'static str>, Error> {
    if let Some(name) = by_position_embedding_type(keys, family)? {
        return Ok(Some(name));
    }
    let alibi = keys.flag(&["alibi", "use_alibi"])?;
    if alibi.is_none() && ["mpt", "falcon"].contains(&family.name.as_str()) {
        let default = family.has("alibi");
        keys.note(format!(
            "alibi is missing: {default}, the default of {}",
            family.name
        ));
    }
    let rope = keys.flag(&["rope", "use_rope", "use_rotary_embeddings"])?;
    let sines = keys.flag(&["sinusoidal_pos_embds", "sinusoidal_embeddings"])?;
    let learned = keys.flag(&["learned_pos_emb"])?;
    let says = |given: &Option<Given<bool>>, value| {
        given.as_ref().is_some_and(|given| given.value == value)
    };
    if let (Some(alibi), Some(rope)) = (&alibi, &rope)
        && alibi.value
        && rope.value
    {
        keys.note(format!(
            "{} true counts, {} true does not",
            alibi.key, rope.key
        ));
    }
    Ok(if says(&alibi, true) {
        Some("alibi")
    } else if says(&rope, true) {
        Some("rope")
    } else if says(&sines, true) {
        Some("sinusoidal")
    } else if says(&alibi, false) && family.has("alibi") {
        Some(match says(&learned, false) {
            true => "none",
            false => "learned",
        })
    } else if says(&rope, false) && !keys.has(LOCAL_BASE) {
        Some("none")
    } else {
        None
    })
}

fn by_position_embedding_type(
    keys: &mut Keys,
    family: &Family,
) -> Result<Option<&'static str>, Error> {
    const KEY: &[&str] = &["position_embedding_type"];
    if family.name == "granitemoehybrid" && keys.is_null(KEY[0]) {
        keys.note("position_embedding_type is null: attention without positions".into());
        return Ok(Some("none"));
    }
    let Some(Given { value, key }) = keys.word(KEY)? else {
        return Ok(None);
    };
    if family.known() && by_flag(family) == "rope" && family.name != "granitemoehybrid" {
        if !["rotary", "rope"].contains(&value) {
            keys.note(format!(
                "{key} {} is not used: {} rotates",
                show(&value.into()),
                family.name
            ));
        }
        return Ok(None);
    }
    let name = match value {
        "absolute" | "learned" | "learned_absolute" => "learned",
        "rotary" | "rope" => "rope",
        "alibi" => "alibi",
        "sinusoidal" | "sine" | "fixed" => "sinusoidal",
        "relative_key" | "relative_key_query" => "relative",
        "nope" | "none" => "none",
        _ => {
            return Err(Error::Key {
                key,
                given: show(&value.into()),
                allowed: "absolute, relative_key, relative_key_query, rotary, rope, alibi, \
                          sinusoidal or nope"
                    .into(),
                remedy: "check the spelling: it names how positions enter".into(),
            });
        }
    };
    Ok(Some(name))
}

/// The scheme of the model type's row.
fn by_flag(family: &Family) -> &'static str {
    ["learned", "alibi", "t5", "sinusoidal", "relative", "none"]
        .into_iter()
        .find(|scheme| family.has(scheme))
        .unwrap_or("rope")
}

fn by_type(keys: &mut Keys, family: &Family) -> Result<&'static str, Error> {
    if family.name == "baichuan" && !keys.has(&["max_position_embeddings"]) {
        keys.note("a baichuan file without max_position_embeddings is the 13B model's".into());
        return Ok("alibi");
    }
    if family.known() {
        return Ok(by_flag(family));
    }
    if keys.has(ROTARY) || keys.has(LOCAL_BASE) {
        return Ok("rope");
    }
    if keys.has(&["relative_attention_num_buckets"]) {
        return Ok("t5");
    }
    Err(Error::File {
        problem: "the file names neither a known model_type nor a key of a positional encoding"
            .into(),
        remedy: "give a language model's config.json, or add model_type, or rope_theta if the \
                 model rotates"
            .into(),
    })
}

fn learned(keys: &mut Keys, family: &Family, length: Option<usize>) -> Result<Scheme, Error> {
    let given = max_length(keys, family)?.map(|given| given.value);
    let offset = match (family.has("padding"), family.count("offset")) {
        (true, _) => padding(keys, family)?,
        (false, Some(offset)) => offset,
        (false, None) => 0,
    };
    // Such types count their unused rows on top of the length that the file declares.
    let extra = family.count("offset").unwrap_or(0);
    let rows = given.map(|given| given.saturating_add(extra));
    let usable = rows.map(|rows| rows.saturating_sub(offset));
    if usable == Some(0) {
        return Err(Error::Key {
            key: "max_position_embeddings".into(),
            given: given.unwrap_or_default().to_string(),
            allowed: format!("above {offset}, the row of the first token"),
            remedy: "compare with the file as it was published".into(),
        });
    }
    if let (Some(length), Some(usable)) = (length, usable)
        && length > usable
    {
        return Err(Error::Position {
            position: length - 1,
            length: usable,
        });
    }
    Ok(Scheme::Learned {
        rows,
        offset,
        usable,
    })
}

/// RoBERTa's positions start after the padding token's row.
fn padding(keys: &mut Keys, family: &Family) -> Result<usize, Error> {
    let Some(given) = keys.number(&["pad_token_id"])? else {
        return Ok(missing(keys, family, "pad_token_id", 1).value + 1);
    };
    if given.value < 0.0 || given.value.fract() != 0.0 || given.value > LARGEST_COUNT as f64 {
        return Err(Error::Key {
            key: given.key,
            given: given.value.to_string(),
            allowed: "a whole number from 0 up".into(),
            remedy: "give the padding token's number, 1 for RoBERTa".into(),
        });
    }
    Ok(given.value as usize + 1)
}

fn alibi_bias(keys: &mut Keys, family: &Family) -> Result<Scheme, Error> {
    let bias_max = keys.positive(&["alibi_bias_max"])?;
    if bias_max.is_none() && family.name == "mpt" {
        keys.note("alibi_bias_max is missing: 8".into());
    }
    let bias_max = bias_max.map_or(8.0, |given| given.value);
    if bias_max > 1000.0 {
        return Err(Error::Key {
            key: "alibi_bias_max".into(),
            given: number(bias_max),
            allowed: "at most 1000".into(),
            remedy: "the published models have 8".into(),
        });
    }
    let slopes = match heads(keys, family)? {
        Some(heads) if heads > MOST_HEADS => {
            return Err(Error::Key {
                key: "num_attention_heads".into(),
                given: heads.to_string(),
                allowed: format!("at most {MOST_HEADS}"),
                remedy: "compare with the file as it was published".into(),
            });
        }
        Some(heads) => {
            // Every slope is a power of two whose exponent is in proportion to the largest, 8.
            let steeper = |slope: f64| slope.powf(bias_max / 8.0);
            Some(alibi::slopes(heads)?.into_iter().map(steeper).collect())
        }
        None => {
            keys.note("the number of heads is not given: no slopes".into());
            None
        }
    };
    Ok(Scheme::Alibi { slopes, bias_max })
}

fn t5_bias(keys: &mut Keys) -> Result<Scheme, Error> {
    let mut or = |name: &str, default: usize| match keys.count(&[name])? {
        Some(given) => Ok::<_, Error>(given.value),
        None => {
            keys.note(format!("{name} is missing: {default}"));
            Ok(default)
        }
    };
    const BUCKETS: &str = "relative_attention_num_buckets";
    const DISTANCE: &str = "relative_attention_max_distance";
    let buckets = or(BUCKETS, 32)?;
    let max_distance = or(DISTANCE, 128)?;
    t5::bucket(0, buckets, max_distance, Direction::Bidirectional).map_err(
        |error| match error {
            Error::Parameter {
                name,
                given,
                allowed,
                remedy,
            } => Error::Key {
                key: if name == "buckets" { BUCKETS } else { DISTANCE }.into(),
                given,
                allowed,
                remedy,
            },
            other => other,
        },
    )?;
    Ok(Scheme::T5 {
        buckets,
        max_distance,
    })
}

fn sinusoidal(keys: &mut Keys, family: &Family, length: Option<usize>) -> Result<Scheme, Error> {
    let declared = max_length(keys, family)?.map(|given| given.value);
    if let (Some(length), Some(declared)) = (length, declared)
        && length > declared
    {
        keys.note(format!(
            "length {length} is beyond the {declared} positions the file declares"
        ));
    }
    Ok(Scheme::Sinusoidal {
        d_model: hidden_size(keys, family)?,
        length: declared,
    })
}

fn relative(keys: &mut Keys, family: &Family) -> Result<Scheme, Error> {
    let length = max_length(keys, family)?.map(|given| given.value);
    let upto = length.map_or(String::new(), |length| {
        format!(", up to {length} positions")
    });
    let words = match family.name.as_str() {
        "xlnet" | "transfo-xl" | "funnel" => {
            "sinusoids of the distance enter the score".to_string()
        }
        "deberta" | "deberta-v2" => {
            format!("vectors of the distance meet the content in the score{upto}")
        }
        _ => format!("a learned vector for each distance meets the query{upto}"),
    };
    Ok(Scheme::Relative(words))
}
