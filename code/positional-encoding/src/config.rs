//! Real models: from a published `config.json` to the exact angles.
//!
//! [`read`] takes the bytes of a model's `config.json` in the Hugging Face format and answers
//! with the [`Model`]: which scheme tells it word order and, where that is rotation, one
//! [`Table`] of frequencies for each kind of layer that differs. Whatever the file does not
//! say and the reader had to know, and whatever it says and the reader did not use, is among
//! the [`Model::notes`]. What cannot be computed is an error that names the key.
//!
//! ```
//! let file = br#"{
//!     "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
//!     "max_position_embeddings": 4096, "rope_theta": 10000.0
//! }"#;
//! let llama2 = positional_encoding::config::read(file, None)?;
//! let table = &llama2.tables[0];
//! assert_eq!((table.head_dim, table.rotary_dim), (128, 128));
//! assert_eq!(table.pairs_never_turning, Some(18));
//! assert_eq!(llama2.notes, ["head_dim is not given: hidden_size / num_attention_heads = 128"]);
//! # Ok::<(), positional_encoding::Error>(())
//! ```

mod block;
mod describe;
mod family;
mod head;
mod json;
mod keys;
mod layers;
mod rotary;
mod schemes;

use std::io::Read;

use serde_json::{Map, Value, json};

use self::family::Family;
use self::keys::{Keys, LARGEST_COUNT, Level, show, wrong_type};
use crate::Error;
use crate::rope::Layout;

/// The largest file that is read. The longest published `config.json`, whose bulk is a list
/// of 20,000 labels, is under 2 MiB.
pub const MAX_BYTES: usize = 4 << 20;

/// How a model is told the order of its words, as far as its `config.json` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The file's `model_type`, from its outermost object.
    pub model_type: Option<String>,
    /// The scheme.
    pub scheme: Scheme,
    /// Every default taken, every key read otherwise than it seems, and every key that looks
    /// like position and was not used. In the order they came up.
    pub notes: Vec<String>,
    /// The frequencies, one table for each kind of layer that differs; empty where the scheme
    /// is not rotary.
    pub tables: Vec<Table>,
}

/// The schemes that a `config.json` can name.
#[derive(Debug, Clone, PartialEq)]
pub enum Scheme {
    /// Rotary position embedding; the frequencies are in [`Model::tables`].
    Rope,
    /// A learned table, one row a position.
    Learned {
        /// Rows of the table, where the file says.
        rows: Option<usize>,
        /// The row of the first token: rows before it are never used.
        offset: usize,
        /// The longest input: `rows - offset`.
        usable: Option<usize>,
    },
    /// A bias on the score that falls with distance, one slope a head.
    Alibi {
        /// The slopes, one a head, where the number of heads is known.
        slopes: Option<Vec<f64>>,
        /// The largest exponent: slopes run down to `2^(-bias_max)`.
        bias_max: f64,
    },
    /// A learned bias on the score for each bucket of distances, shared by the layers.
    T5 {
        /// Buckets for both directions together.
        buckets: usize,
        /// The distance from which on all share one bucket.
        max_distance: usize,
    },
    /// Sines and cosines added to the input.
    Sinusoidal {
        /// Width of the encoding, where the file says.
        d_model: Option<usize>,
        /// The longest input the file declares.
        length: Option<usize>,
    },
    /// Another relative scheme, said in words.
    Relative(String),
    /// No positions at all: a causal mask or a recurrence has to do.
    None,
}

impl Scheme {
    /// The scheme's name, the companion module's where there is one.
    ///
    /// ```
    /// assert_eq!(positional_encoding::config::Scheme::Rope.name(), "rope");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rope => "rope",
            Self::Learned { .. } => "learned",
            Self::Alibi { .. } => "alibi",
            Self::T5 { .. } => "t5",
            Self::Sinusoidal { .. } => "sinusoidal",
            Self::Relative(_) => "relative",
            Self::None => "none",
        }
    }
}

/// The kinds of frequencies, by their names in published files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeType {
    /// `base^(-2i / rotary_dim)`, unscaled.
    Default,
    /// [`position_interpolation`](crate::scaling::position_interpolation).
    Linear,
    /// [`dynamic_ntk_with_factor`](crate::scaling::dynamic_ntk_with_factor).
    Dynamic,
    /// [`yarn`](crate::scaling::yarn).
    Yarn,
    /// [`longrope`](crate::scaling::longrope); `su` in older files.
    LongRope,
    /// [`llama3`](crate::scaling::llama3).
    Llama3,
    /// A few pairs of the whole head, spaced as if all turned; the others stand still.
    Proportional,
    /// Layers that are not rotated.
    None,
}

impl RopeType {
    /// The name in published files; `none` for layers that are not rotated.
    ///
    /// ```
    /// assert_eq!(positional_encoding::config::RopeType::LongRope.name(), "longrope");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Linear => "linear",
            Self::Dynamic => "dynamic",
            Self::Yarn => "yarn",
            Self::LongRope => "longrope",
            Self::Llama3 => "llama3",
            Self::Proportional => "proportional",
            Self::None => "none",
        }
    }
}

/// The frequencies of one kind of layer at one current length.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Which layers: `all`, or `full`, `sliding`, another kind of attention as the file names
    /// it, and `none` for those that are not rotated.
    pub layers: String,
    /// Their indices, counted from 0, where the file or the model type tells.
    pub layer_indices: Option<Vec<usize>>,
    /// The kind of frequencies.
    pub rope_type: RopeType,
    /// The path of the object in the file that says so, where there is one.
    pub source: Option<String>,
    /// Which entries pair up; `None` where nothing is rotated.
    pub layout: Option<Layout>,
    /// Entries of a query's head.
    pub head_dim: usize,
    /// Entries of it that pair up to be rotated: `2 * inv_freq.len()`.
    pub rotary_dim: usize,
    /// The base as the file has it, before any scaling.
    pub base: Option<f64>,
    /// The length before any extension: `original_max_position_embeddings`, else
    /// `max_position_embeddings`.
    pub trained_length: Option<usize>,
    /// The longest input the file declares, `max_position_embeddings`.
    pub max_length: Option<usize>,
    /// The current length the frequencies are for: the one asked for, else the trained one.
    pub length: Option<usize>,
    /// Radians per position before scaling, shape `(rotary_dim / 2,)`.
    pub unscaled: Vec<f64>,
    /// Radians per position, shape `(rotary_dim / 2,)`.
    pub inv_freq: Vec<f64>,
    /// Multiplies cosine and sine, so the score gets its square.
    pub attention_factor: f64,
    /// Multiplies the softmax scale `1 / sqrt(head_dim)` besides: DeepSeek's.
    pub softmax_scale_factor: f64,
    /// How many pairs have an unscaled wavelength above the trained length.
    pub pairs_never_turning: Option<usize>,
}

impl Table {
    fn same_angles(&self, other: &Self) -> bool {
        self.rope_type == other.rope_type
            && self.head_dim == other.head_dim
            && self.inv_freq == other.inv_freq
            && self.trained_length == other.trained_length
            && self.attention_factor == other.attention_factor
            && self.softmax_scale_factor == other.softmax_scale_factor
    }

    fn to_json(&self) -> Value {
        json!({
            "layers": self.layers,
            "layer_indices": self.layer_indices,
            "rope_type": self.rope_type.name(),
            "source": self.source,
            "layout": self.layout.map(layout_name),
            "head_dim": self.head_dim,
            "rotary_dim": self.rotary_dim,
            "base": self.base,
            "trained_length": self.trained_length,
            "max_length": self.max_length,
            "length": self.length,
            "inv_freq": self.inv_freq,
            "attention_factor": self.attention_factor,
            "softmax_scale_factor": self.softmax_scale_factor,
            "pairs_never_turning": self.pairs_never_turning,
        })
    }
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Interleaved => "interleaved",
        Layout::Half => "half",
    }
}

impl Model {
    /// The model as one JSON object, numbers in full.
    ///
    /// ```
    /// let bert = positional_encoding::config::read(br#"{"model_type": "bert"}"#, None)?;
    /// assert_eq!(bert.to_json()["details"]["usable"], 512);
    /// # Ok::<(), positional_encoding::Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        json!({
            "model_type": self.model_type,
            "scheme": self.scheme.name(),
            "details": self.scheme.details(),
            "notes": self.notes,
            "tables": self.tables.iter().map(Table::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Scheme {
    fn details(&self) -> Value {
        match self {
            Self::Rope | Self::None => json!({}),
            Self::Learned {
                rows,
                offset,
                usable,
            } => json!({"rows": rows, "offset": offset, "usable": usable}),
            Self::Alibi { slopes, bias_max } => json!({"slopes": slopes, "bias_max": bias_max}),
            Self::T5 {
                buckets,
                max_distance,
            } => json!({"buckets": buckets, "max_distance": max_distance}),
            Self::Sinusoidal { d_model, length } => {
                json!({"d_model": d_model, "max_length": length})
            }
            Self::Relative(words) => json!({"words": words}),
        }
    }
}

/// Reads a model's `config.json`, for a current length or for the trained one.
///
/// `length` counts only where frequencies depend on it (`dynamic`, `longrope`) or a table ends
/// (learned positions).
///
/// # Errors
///
/// [`Error::File`] where the bytes are not a model's configuration: not JSON, not an object,
/// larger than [`MAX_BYTES`], neither a known model type nor a key of a positional encoding.
/// [`Error::Key`] where a value is of the wrong type, out of range, or fits no encoding.
/// [`Error::Parameter`] and [`Error::Position`] for a length that is zero, past 2^53, or past
/// the end of a learned table.
///
/// ```
/// use positional_encoding::config;
///
/// let file = br#"{"model_type": "llama", "rope_scaling": {"type": "linear", "factor": "8"}}"#;
/// let error = config::read(file, None).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "rope_scaling.factor is \"8\" (a string), but must be a number; \
///      compare with the file as it was published",
/// );
/// ```
pub fn read(bytes: &[u8], length: Option<usize>) -> Result<Model, Error> {
    check_length(length)?;
    let (file, repeated) = json::parse(bytes)?;
    let mut keys = Keys::new(levels(&file)?);
    keys.notes = repeated;
    let (model_type, family) = family(&mut keys, &file)?;
    let path = keys.levels[0].path.clone();
    if !path.is_empty() {
        let path = path.trim_end_matches('.');
        keys.note(format!("the text model's keys are those of {path}"));
    }
    let scheme = schemes::of(&mut keys, &family, length)?;
    let tables = match scheme {
        Scheme::Rope => rotary::tables(&mut keys, &family, length)?,
        _ => Vec::new(),
    };
    note_unread(&mut keys);
    Ok(Model {
        model_type,
        scheme,
        notes: keys.notes,
        tables,
    })
}

/// Reads a model's `config.json` from a stream, without holding more than [`MAX_BYTES`] of it.
///
/// # Errors
///
/// As [`read`]; and [`Error::File`] where the stream fails.
///
/// ```
/// use positional_encoding::{Error, config};
///
/// let endless = std::io::repeat(b'[');
/// assert!(matches!(config::read_from(endless, None), Err(Error::File { .. })));
/// ```
pub fn read_from(stream: impl Read, length: Option<usize>) -> Result<Model, Error> {
    let mut bytes = Vec::new();
    stream
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::File {
            problem: format!("the file cannot be read: {error}"),
            remedy: "give the path of a model's config.json, or - for standard input".into(),
        })?;
    read(&bytes, length)
}

fn check_length(length: Option<usize>) -> Result<(), Error> {
    match length {
        Some(length) if length == 0 || length as u64 > LARGEST_COUNT => Err(Error::Parameter {
            name: "length",
            given: length.to_string(),
            allowed: "a whole number from 1 to 2^53".into(),
            remedy: "count the tokens of the input".into(),
        }),
        _ => Ok(()),
    }
}

/// Objects that hold the text model's keys in files of models that read more than text.
const TEXT: &[&str] = &[
    "text_config",
    "llm_config",
    "language_config",
    "language_model_config",
    "llm_cfg",
    "text_model_config",
    "thinker_config",
    "decoder",
];

/// The objects to search, from the innermost outwards: settings of the attention, the text
/// model's object, the file's.
fn levels(file: &Map<String, Value>) -> Result<Vec<Level<'_>>, Error> {
    let mut levels = vec![Level {
        path: String::new(),
        map: file,
    }];
    while let Some((name, value)) = TEXT
        .iter()
        .find_map(|name| levels[0].map.get_key_value(*name))
        .filter(|(_, value)| !value.is_null())
    {
        let path = format!("{}{name}", levels[0].path);
        let Some(map) = value.as_object() else {
            return Err(wrong_type(&path, value, "an object"));
        };
        levels.insert(
            0,
            Level {
                path: format!("{path}."),
                map,
            },
        );
    }
    let path = format!("{}attn_config", levels[0].path);
    match levels[0].map.get("attn_config") {
        Some(Value::Object(map)) => levels.push(Level {
            path: format!("{path}."),
            map,
        }),
        None | Some(Value::Null) => {}
        Some(other) => return Err(wrong_type(&path, other, "an object")),
    }
    Ok(levels)
}

/// The file's model type, and what the text model's type means where the file is silent.
fn family(keys: &mut Keys, file: &Map<String, Value>) -> Result<(Option<String>, Family), Error> {
    let mut types = Vec::new();
    for level in &keys.levels {
        match level.map.get("model_type") {
            Some(Value::String(name)) => types.push(name.as_str()),
            None | Some(Value::Null) => {}
            Some(other) => {
                let path = format!("{}model_type", level.path);
                return Err(wrong_type(&path, other, "a string"));
            }
        }
    }
    let outermost = file.get("model_type").and_then(Value::as_str);
    let known = types.iter().find_map(|name| Family::of(name));
    if let Some(family) = known {
        return Ok((outermost.map(String::from), family));
    }
    let by_class = architectures(keys).find_map(|class| {
        let family = Family::of_architecture(class)?;
        Some((class, family))
    });
    let family = match (types.first(), by_class) {
        (_, Some((class, family))) => {
            keys.note(format!(
                "architectures says {class}: read as {}",
                family.name
            ));
            family
        }
        (Some(name), None) => {
            keys.note(format!(
                "model_type {} is not known: no defaults",
                show(&(*name).into())
            ));
            Family::default()
        }
        (None, None) => {
            keys.note("model_type is missing: no defaults".into());
            Family::default()
        }
    };
    Ok((outermost.map(String::from), family))
}

fn architectures<'a>(keys: &Keys<'a>) -> impl Iterator<Item = &'a str> {
    keys.levels
        .clone()
        .into_iter()
        .filter_map(|level| level.map.get("architectures")?.as_array())
        .flatten()
        .filter_map(Value::as_str)
}

/// Notes each key that looks like position and that nothing has read.
fn note_unread(keys: &mut Keys) {
    let parts = [
        "rope",
        "rotary",
        "position",
        "alibi",
        "theta",
        "yarn",
        "ntk",
        "mscale",
        "freq_base",
        "rope_scaling",
        "logn",
        "seq_len",
        "seq_length",
        "max_length",
        "head_dim",
        "kv_channels",
    ];
    let silent = [
        "v_head_dim",
        "swa_v_head_dim",
        "index_head_dim",
        "max_length",
        "use_position_ids",
        "position_ids",
        "min_length",
    ];
    let note = |(path, value): (String, &Value)| {
        let name = path.rsplit('.').next().unwrap_or(&path).to_lowercase();
        let looks_like_position = parts.iter().any(|part| name.contains(part))
            || block::SETTINGS.contains(&name.as_str()) && name != "type";
        if looks_like_position && !silent.contains(&name.as_str()) {
            return Some(format!("{path} {} is not used", show(value)));
        }
        let of_another_model = value.as_object().is_some_and(|map| {
            map.keys()
                .any(|key| key.contains("rope") || key.contains("position"))
        });
        (of_another_model && !TEXT.contains(&name.as_str()) && name != "attn_config")
            .then(|| format!("{path} is not read: not part of the text model"))
    };
    let unread = keys.unread();
    keys.note_unused(unread.into_iter().filter_map(note));
}
