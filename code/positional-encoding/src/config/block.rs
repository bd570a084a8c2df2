//! The object that says how frequencies are scaled: found under either name, flat or one for
//! each kind of layer, and read into a [`Scaling`].

use serde_json::{Map, Value};

use super::RopeType;
use super::family::Family;
use super::keys::{Given, Keys, Level, show, wrong_type};
use super::layers::kind_of;
use crate::Error;
use crate::scaling::{
    AttentionFactor, Llama3, LongRope, LongRopeAttention, Ramp, Scaling, Yarn, mscale,
};

/// The settings of one kind of layer.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    /// The object, alone: what stands outside it is not among its levels.
    pub(super) keys: Keys<'a>,
    /// The path of the object, for messages; the empty path where there is none.
    pub(super) path: String,
    /// Whether the object is the model type's default, not the file's.
    pub(super) is_default: bool,
}

impl<'a> Block<'a> {
    fn new(path: &str, map: &'a Map<String, Value>, is_default: bool) -> Self {
        let level = Level {
            path: format!("{path}."),
            map,
        };
        Self {
            keys: Keys::new(vec![level]),
            path: path.into(),
            is_default,
        }
    }

    /// The settings where there is no object: nothing is scaled.
    fn empty() -> Self {
        Self {
            keys: Keys::new(Vec::new()),
            path: String::new(),
            is_default: false,
        }
    }

    fn missing(&self, name: &str, allowed: &str, remedy: &str) -> Error {
        Error::Key {
            key: format!("{}.{name}", self.path),
            given: "missing".into(),
            allowed: allowed.into(),
            remedy: remedy.into(),
        }
    }
}

/// One set of settings for all layers, or one for each kind; `None` for a kind that is said
/// not to rotate.
#[derive(Debug)]
pub(super) enum Blocks<'a> {
    One(Block<'a>),
    ByKind(Vec<(String, Option<Block<'a>>)>),
}

/// Other names under which a file gives the sliding layers' base.
pub(super) const LOCAL_BASE: &[&str] = &[
    "rope_local_base_freq",
    "local_rope_theta",
    "rope_local_theta",
    "swa_rope_theta",
];

/// The names of settings, which no kind of layer has.
pub(super) const SETTINGS: &[&str] = &[
    "rope_type",
    "type",
    "rope_theta",
    "factor",
    "alpha",
    "partial_rotary_factor",
    "original_max_position_embeddings",
    "attention_factor",
    "short_factor",
    "long_factor",
    "short_mscale",
    "long_mscale",
    "low_freq_factor",
    "high_freq_factor",
    "beta_fast",
    "beta_slow",
    "truncate",
    "mscale",
    "mscale_all_dim",
    "mrope_section",
];

/// The most kinds of layer that a file may tell apart; published ones tell two.
pub(super) const MOST_KINDS: usize = 16;

/// Settings that no object of the file holds: told by its outer keys, or the model type's.
#[derive(Debug)]
pub(super) struct Outside {
    path: String,
    map: Map<String, Value>,
    is_default: bool,
    has_local_base: bool,
    scales_both: bool,
}

impl Outside {
    pub(super) fn read(keys: &mut Keys, family: &Family) -> Result<Self, Error> {
        let found = match outer_settings(keys)? {
            Some(Given { value, key }) => Some((key, value, false)),
            None => family.rope_parameters().map(|map| {
                let path = format!("rope_parameters of {}", family.name);
                (path, map, true)
            }),
        };
        let (path, map, is_default) = found.unwrap_or_default();
        Ok(Self {
            path,
            map,
            is_default,
            has_local_base: keys.has(LOCAL_BASE) || family.setting("local").is_some(),
            scales_both: family.has("scaling=both"),
        })
    }
}

/// The settings as keys beside the others: of gpt-oss's first files, and of Nomic's.
fn outer_settings(keys: &mut Keys) -> Result<Option<Given<Map<String, Value>>>, Error> {
    let yarn = keys.positive(&["rope_scaling_factor"])?;
    let dynamic = keys.positive(&["rotary_scaling_factor"])?;
    let mut map = Map::new();
    let key = match (yarn, dynamic) {
        (Some(factor), _) => {
            let fast = keys.positive(&["rope_ntk_beta"])?;
            let slow = keys.positive(&["rope_ntk_alpha"])?;
            let original = keys.count(&["initial_context_length"])?;
            let (Some(fast), Some(slow), Some(original)) = (fast, slow, original) else {
                return Err(Error::Key {
                    key: factor.key,
                    given: factor.value.to_string(),
                    allowed: "beside rope_ntk_alpha, rope_ntk_beta and initial_context_length"
                        .into(),
                    remedy: "say the kind of scaling in rope_scaling".into(),
                });
            };
            map.insert("rope_type".into(), "yarn".into());
            map.insert("factor".into(), factor.value.into());
            map.insert("beta_fast".into(), fast.value.into());
            map.insert("beta_slow".into(), slow.value.into());
            map.insert("truncate".into(), false.into());
            let original = original.value;
            map.insert("original_max_position_embeddings".into(), original.into());
            factor.key
        }
        (None, Some(factor)) => {
            map.insert("rope_type".into(), "dynamic".into());
            map.insert("factor".into(), factor.value.into());
            factor.key
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Given { value: map, key }))
}

impl<'a> Blocks<'a> {
    /// Finds the object: `rope_scaling` before `rope_parameters`, what is outside both, be it
    /// nothing, where the file has neither.
    pub(super) fn read<'f: 'a>(keys: &mut Keys<'f>, outside: &'a Outside) -> Result<Self, Error> {
        let scaling = settings(keys, "rope_scaling")?;
        let parameters = settings(keys, "rope_parameters")?;
        let (path, map, is_default) = match (scaling, parameters) {
            (Some(scaling), Some(parameters)) => {
                keys.note(format!(
                    "{} counts, {} beside it does not",
                    scaling.key, parameters.key
                ));
                (scaling.key, scaling.value, false)
            }
            (Some(given), None) | (None, Some(given)) => (given.key, given.value, false),
            (None, None) => {
                if outside.is_default {
                    keys.note(format!(
                        "neither rope_scaling nor rope_parameters: the {}",
                        outside.path
                    ));
                }
                (outside.path.clone(), &outside.map, outside.is_default)
            }
        };
        if let Some(by_kind) = Self::nested(keys, &path, map, is_default)? {
            return Ok(by_kind);
        }
        let block = Block::new(&path, map, is_default);
        Ok(Self::split_by_base(keys, outside, block))
    }

    fn nested(
        keys: &mut Keys,
        path: &str,
        map: &'a Map<String, Value>,
        is_default: bool,
    ) -> Result<Option<Self>, Error> {
        let is_flat = map.keys().any(|name| SETTINGS.contains(&name.as_str()));
        let is_kind =
            |name: &str, value: &Value| kind_of(name) != name || value.is_object() && !is_flat;
        let count = map
            .iter()
            .filter(|(name, value)| is_kind(name, value))
            .count();
        if count == 0 {
            return Ok(None);
        }
        if count > MOST_KINDS {
            return Err(Error::Key {
                key: path.into(),
                given: format!("settings for {count} kinds of layer"),
                allowed: format!("settings for at most {MOST_KINDS}"),
                remedy: "compare with the file as it was published".into(),
            });
        }
        let mut kinds = Vec::new();
        for (name, value) in map {
            let path = format!("{path}.{name}");
            match value {
                Value::Object(inner) if is_kind(name, value) => {
                    kinds.push((kind_of(name), Some(Block::new(&path, inner, is_default))));
                }
                Value::Null if is_kind(name, value) => {
                    keys.note(format!("{path} is null: these layers are not rotated"));
                    kinds.push((kind_of(name), None));
                }
                _ if is_kind(name, value) => {
                    return Err(wrong_type(&path, value, "an object, or null"));
                }
                _ => keys.note(format!(
                    "{path} {} is not used: each kind of layer has its own settings",
                    show(value)
                )),
            }
        }
        Ok(Some(Self::ByKind(kinds)))
    }

    /// Files that give sliding layers a base of their own scale the full layers alone.
    fn split_by_base(keys: &mut Keys, outside: &Outside, block: Block<'a>) -> Self {
        if !outside.has_local_base {
            return Self::One(block);
        }
        let sliding = if outside.scales_both {
            block.clone()
        } else {
            if !block.path.is_empty() {
                keys.note(format!("{} counts for full layers only", block.path));
            }
            Block::empty()
        };
        Self::full_and_sliding(block, sliding)
    }

    pub(super) fn full_and_sliding(full: Block<'a>, sliding: Block<'a>) -> Self {
        Self::ByKind(vec![
            ("full".into(), Some(full)),
            ("sliding".into(), Some(sliding)),
        ])
    }
}

fn settings<'a>(
    keys: &mut Keys<'a>,
    name: &str,
) -> Result<Option<Given<&'a Map<String, Value>>>, Error> {
    let given = keys.object(&[name])?;
    if let Some(given) = &given
        && given.value.is_empty()
    {
        keys.note(format!("{} is empty: nothing is scaled by it", given.key));
        return Ok(None);
    }
    Ok(given)
}

/// What a block's kind needs from outside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    pub(super) trained: Option<usize>,
    pub(super) max: Option<usize>,
}

impl Block<'_> {
    /// The kind of frequencies, by the names in use.
    pub(super) fn rope_type(&mut self, family: &Family) -> Result<RopeType, Error> {
        let Some(Given { value, key }) = self.keys.word(&["rope_type", "type"])? else {
            return self.without_type();
        };
        let phi3 = family.name.starts_with("phi3") || family.name.starts_with("phi4");
        let rope_type = match value {
            "default" | "mrope" => RopeType::Default,
            "linear" => RopeType::Linear,
            "dynamic" => RopeType::Dynamic,
            "yarn" if phi3 => RopeType::LongRope,
            "yarn" | "deepseek_yarn" | "telechat3-yarn" => RopeType::Yarn,
            "longrope" | "su" => RopeType::LongRope,
            "llama3" => RopeType::Llama3,
            "proportional" => RopeType::Proportional,
            _ => {
                return Err(Error::Key {
                    key,
                    given: show(&Value::from(value)),
                    allowed: "default, linear, dynamic, yarn, longrope (or su), llama3, \
                              proportional or mrope"
                        .into(),
                    remedy: match value {
                        "axial" => "axial frequencies turn with two coordinates of an image, \
                                    not with a position in a text"
                            .into(),
                        _ => "its frequencies are not computed here; check the spelling".into(),
                    },
                });
            }
        };
        if value != rope_type.name() {
            let note = format!("{key} {value} is read as {}", rope_type.name());
            self.keys.note(note);
        }
        Ok(rope_type)
    }

    /// No kind is fine where nothing is to be scaled, and an error where something is.
    fn without_type(&mut self) -> Result<RopeType, Error> {
        let scales = [
            "factor",
            "alpha",
            "attention_factor",
            "short_factor",
            "long_factor",
            "low_freq_factor",
            "high_freq_factor",
            "beta_fast",
            "beta_slow",
            "mscale",
            "mscale_all_dim",
        ];
        match scales.iter().find(|name| self.keys.has(&[name])) {
            None => Ok(RopeType::Default),
            Some(name) => {
                let allowed = format!("the name of a kind, since {name} is given");
                Err(self.missing("rope_type", &allowed, "say which kind of scaling is meant"))
            }
        }
    }

    /// The rule and its parameters; every one taken by default is noted.
    pub(super) fn scaling(
        &mut self,
        rope_type: RopeType,
        family: &Family,
        lengths: Lengths,
    ) -> Result<Scaling, Error> {
        match rope_type {
            RopeType::Default | RopeType::None => Ok(Scaling::None),
            RopeType::Linear => Ok(Scaling::PositionInterpolation(self.factor()?)),
            RopeType::Proportional => {
                let factor = self.keys.positive(&["factor"])?;
                let factor = factor.map_or(1.0, |given| given.value);
                Ok(Scaling::PositionInterpolation(factor))
            }
            RopeType::Dynamic => self.dynamic(family),
            RopeType::Yarn => self.yarn(lengths),
            RopeType::Llama3 => self.llama3(),
            RopeType::LongRope => self.longrope(family, lengths),
        }
    }

    fn factor(&mut self) -> Result<f64, Error> {
        match self.keys.positive(&["factor"])? {
            Some(given) => Ok(self.noted_if_small(given)),
            None => Err(self.missing(
                "factor",
                "a number above zero",
                "give the extended length over the trained one",
            )),
        }
    }

    fn noted_if_small(&mut self, factor: Given<f64>) -> f64 {
        if factor.value < 1.0 {
            self.keys.note(format!(
                "{} {} is below 1: it speeds the pairs up instead of slowing them",
                factor.key, factor.value
            ));
        }
        factor.value
    }

    fn dynamic(&mut self, family: &Family) -> Result<Scaling, Error> {
        let fixed = family.name.starts_with("hunyuan") || !family.known();
        if fixed && let Some(alpha) = self.keys.positive(&["alpha"])? {
            self.keys.note(format!(
                "{} {} is a fixed stretch of the base: the current length does not count",
                alpha.key, alpha.value
            ));
            return Ok(Scaling::NtkAware(alpha.value));
        }
        Ok(Scaling::DynamicNtkWithFactor(self.factor()?))
    }

    fn yarn(&mut self, lengths: Lengths) -> Result<Scaling, Error> {
        let factor = match self.keys.positive(&["factor"])? {
            Some(given) => self.noted_if_small(given),
            None => self.implied_factor(lengths)?,
        };
        let beta_fast = self.or(&["beta_fast"], 32.0)?;
        let beta_slow = self.or(&["beta_slow"], 1.0)?;
        let ramp = match self.keys.flag(&["truncate"])? {
            Some(Given { value: false, .. }) => Ramp::Pairs,
            Some(_) => Ramp::WholePairs,
            None => {
                let note = format!("{}.truncate is missing: true", self.path);
                self.keys.note(note);
                Ramp::WholePairs
            }
        };
        Ok(Scaling::Yarn(Yarn {
            factor,
            beta_fast,
            beta_slow,
            ramp,
            attention_factor: self.yarn_attention(factor)?,
        }))
    }

    fn implied_factor(&mut self, lengths: Lengths) -> Result<f64, Error> {
        match (lengths.max, lengths.trained) {
            (Some(max), Some(trained)) if max != trained => {
                let factor = max as f64 / trained as f64;
                self.keys.note(format!(
                    "{}.factor is not given: {max} / {trained} = {factor}",
                    self.path
                ));
                Ok(factor)
            }
            _ => Err(self.missing(
                "factor",
                "a number above zero",
                "give the extended length over the trained one, or both lengths",
            )),
        }
    }

    fn or(&mut self, names: &[&str], default: f64) -> Result<f64, Error> {
        if let Some(given) = self.keys.positive(names)? {
            return Ok(given.value);
        }
        let note = format!("{}.{} is missing: {default}", self.path, names[0]);
        self.keys.note(note);
        Ok(default)
    }

    fn yarn_attention(&mut self, factor: f64) -> Result<AttentionFactor, Error> {
        let explicit = self.keys.positive(&["attention_factor"])?;
        let upper = self.keys.not_negative(&["mscale"])?;
        let lower = self.keys.not_negative(&["mscale_all_dim"])?;
        let telechat = self.keys.word(&["rope_type", "type"])?;
        if let Some(explicit) = explicit {
            for weight in [upper, lower].into_iter().flatten() {
                self.keys.note(format!(
                    "{} {} does not count for cosine and sine beside {}",
                    weight.key, weight.value, explicit.key
                ));
            }
            return Ok(AttentionFactor::Explicit(explicit.value));
        }
        match (upper, lower) {
            (Some(upper), Some(lower)) if upper.value != 0.0 && lower.value != 0.0 => {
                return Ok(AttentionFactor::Ratio {
                    mscale: upper.value,
                    mscale_all_dim: lower.value,
                });
            }
            (upper, lower) => {
                for weight in [upper, lower].into_iter().flatten() {
                    self.keys.note(format!(
                        "{} {} does not count for cosine and sine without its pair",
                        weight.key, weight.value
                    ));
                }
            }
        }
        if telechat.is_some_and(|given| given.value == "telechat3-yarn") {
            return Ok(AttentionFactor::Explicit(mscale(factor, 0.7)?));
        }
        let path = &self.path;
        let note = format!("{path}.attention_factor is missing: 0.1 ln(factor) + 1");
        self.keys.note(note);
        Ok(AttentionFactor::FromFactor)
    }

    fn llama3(&mut self) -> Result<Scaling, Error> {
        let factor = self.factor()?;
        let mut bound = |name: &str| match self.keys.positive(&[name])? {
            Some(given) => Ok(given.value),
            None => Err(self.missing(
                name,
                "a number above zero",
                "Llama 3.1 has low_freq_factor 1 and high_freq_factor 4",
            )),
        };
        let low_freq_factor = bound("low_freq_factor")?;
        let high_freq_factor = bound("high_freq_factor")?;
        Ok(Scaling::Llama3(Llama3 {
            factor,
            low_freq_factor,
            high_freq_factor,
        }))
    }

    fn longrope(&mut self, family: &Family, lengths: Lengths) -> Result<Scaling, Error> {
        let mut list = |name: &str| match self.keys.positives(&[name])? {
            Some(given) => Ok(given.value),
            None => Err(self.missing(
                name,
                "a list of numbers, one for each pair",
                "take the list from the file as it was published",
            )),
        };
        let short_factor = list("short_factor")?;
        let long_factor = list("long_factor")?;
        Ok(Scaling::LongRope(LongRope {
            short_factor,
            long_factor,
            attention: self.longrope_attention(family, lengths)?,
        }))
    }

    fn longrope_attention(
        &mut self,
        family: &Family,
        lengths: Lengths,
    ) -> Result<LongRopeAttention, Error> {
        if family.name == "phimoe" && self.keys.has(&["short_mscale", "long_mscale"]) {
            // Replaced by `mscale_by_length` once the length is known.
            return Ok(LongRopeAttention::Explicit(1.0));
        }
        let explicit = self.keys.positive(&["attention_factor"])?;
        let factor = self.keys.positive(&["factor"])?;
        match (explicit, factor, lengths.max) {
            (Some(explicit), factor, _) => {
                if let Some(factor) = factor {
                    self.keys.note(format!(
                        "{} {} does not count beside {}",
                        factor.key, factor.value, explicit.key
                    ));
                }
                Ok(LongRopeAttention::Explicit(explicit.value))
            }
            (None, Some(factor), _) => Ok(LongRopeAttention::FromFactor(factor.value)),
            (None, None, Some(max)) => {
                self.keys.note(format!(
                    "{}.attention_factor is missing: from max_position_embeddings {max}",
                    self.path
                ));
                Ok(LongRopeAttention::FromLength(max))
            }
            (None, None, None) => Err(self.missing(
                "factor",
                "a number above zero, or max_position_embeddings given",
                "give the extended length over the trained one",
            )),
        }
    }

    /// Phi-3.5-MoE's factor on cosine and sine: one up to the trained length, one past it.
    pub(super) fn mscale_by_length(
        &mut self,
        family: &Family,
        trained: usize,
        length: usize,
    ) -> Result<Option<f64>, Error> {
        if family.name != "phimoe" {
            return Ok(None);
        }
        let short = self.keys.positive(&["short_mscale"])?;
        let long = self.keys.positive(&["long_mscale"])?;
        match (short, long) {
            (Some(short), Some(long)) => Ok(Some(match length > trained {
                true => long.value,
                false => short.value,
            })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(self.missing("long_mscale", "a number above zero", "give both")),
            (None, Some(_)) => {
                Err(self.missing("short_mscale", "a number above zero", "give both"))
            }
        }
    }

    /// `mrope` shares the pairs out among time, height and width: all of them, none twice.
    pub(super) fn check_sections(&mut self, pairs: usize) -> Result<(), Error> {
        let Some(Given { value, key }) = self.keys.list(&["mrope_section"])? else {
            return Ok(());
        };
        let counts: Option<Vec<u64>> = value.iter().map(Value::as_u64).collect();
        let total = counts.and_then(|counts| {
            counts
                .iter()
                .try_fold(0_u64, |total, count| total.checked_add(*count))
        });
        if total != Some(pairs as u64) {
            return Err(Error::Key {
                key,
                given: show(&Value::Array(value.clone())),
                allowed: format!("counts of pairs that make {pairs} in all"),
                remedy: "share every pair of the rotated part out, none twice".into(),
            });
        }
        self.keys.note(format!(
            "{key}: the pairs are shared out among time, height and width; in a text the three \
             positions are one"
        ));
        Ok(())
    }
}
