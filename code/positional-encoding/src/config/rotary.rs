//! From the keys of a rotary model to its tables of frequencies.

use super::block::{Block, Blocks, LOCAL_BASE, Lengths, Outside};
use super::family::Family;
use super::head::{Head, missing};
use super::keys::{Given, Keys, show};
use super::layers::{self, Layer};
use super::{RopeType, Table};
use crate::error::number;
use crate::scaling::{self, Frequencies, LongRopeAttention, Ramp, Scaling, Trained};
use crate::{Error, rope};

const BASE: &[&str] = &[
    "global_rope_theta",
    "rope_theta",
    "rotary_emb_base",
    "rope_embedding_base",
    "rotary_embedding_base",
    "rotary_base",
    "rope_base",
];

/// One table for each kind of layer that differs.
pub(super) fn tables(
    keys: &mut Keys,
    family: &Family,
    length: Option<usize>,
) -> Result<Vec<Table>, Error> {
    refuse_compressed(keys)?;
    let head = Head::read(keys, family)?;
    refuse_qwen_past_its_length(keys, &head, length)?;
    let outside = Outside::read(keys, family)?;
    let blocks = Blocks::read(keys, &outside)?;
    let by_kind = matches!(blocks, Blocks::ByKind(_));
    let blocks = with_own_widths(blocks, &head);
    let kinds_matter = matches!(blocks, Blocks::ByKind(_));
    let mut layers = layers::read(keys, family, kinds_matter)?;
    let blocks = without_null_kinds(blocks, &mut layers);
    let mut tables = Vec::new();
    for (kind, block) in kinds(keys, blocks, &layers)? {
        let mut table = match block {
            Some(block) => Reading {
                keys,
                family,
                head: &head,
                kind: &kind,
                by_kind,
                length,
            }
            .table(block)?,
            None => still(&head, length),
        };
        table.layers = kind;
        tables.push(table);
    }
    let mut tables = merged(tables);
    number_layers(keys, &mut tables, &layers);
    note_length(keys, &tables, length);
    Ok(tables)
}

/// One set of settings, told apart where full and sliding layers differ in the width of a head.
fn with_own_widths<'a>(blocks: Blocks<'a>, head: &Head) -> Blocks<'a> {
    match blocks {
        Blocks::One(block) if head.full_head_dim.is_some() || head.sliding_head_dim.is_some() => {
            Blocks::full_and_sliding(block.clone(), block)
        }
        other => other,
    }
}

/// Marks the layers of kinds whose settings are null as layers that are not rotated.
fn without_null_kinds<'a>(blocks: Blocks<'a>, layers: &mut [Layer]) -> Blocks<'a> {
    let Blocks::ByKind(kinds) = blocks else {
        return blocks;
    };
    let (mut rotated, still): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(_, block)| block.is_some());
    let is_still = |kind: &str| still.iter().any(|(name, _)| name == kind);
    for layer in layers.iter_mut().filter(|layer| is_still(&layer.kind)) {
        layer.rotated = false;
    }
    if !still.is_empty() && layers.is_empty() {
        rotated.push(("none".into(), None));
    }
    Blocks::ByKind(rotated)
}

/// DeepSeek-V4 turns its compressed layers by other frequencies than the rest, and the rest
/// by others than the file's scaling says.
fn refuse_compressed(keys: &mut Keys) -> Result<(), Error> {
    match keys.find(&["compress_rope_theta"]) {
        None => Ok(()),
        Some(given) => Err(Error::Key {
            key: given.key,
            given: show(given.value),
            allowed: "missing: frequencies of compressed layers are not computed here".into(),
            remedy: "read the model's own code for the layers that compress".into(),
        }),
    }
}

/// The first Qwen stretches its base past the trained length by a rule of its own.
fn refuse_qwen_past_its_length(
    keys: &mut Keys,
    head: &Head,
    length: Option<usize>,
) -> Result<(), Error> {
    let Some(Given { value: true, key }) = keys.flag(&["use_dynamic_ntk"])? else {
        return Ok(());
    };
    match (&head.max_length, length) {
        (Some(max), Some(length)) if length > max.value => Err(Error::Key {
            key,
            given: format!("true, and the length {length}"),
            allowed: format!("false past {} {}", max.key, max.value),
            remedy: "its rule is not one of those computed here; ask for a shorter length".into(),
        }),
        _ => {
            keys.note(format!(
                "{key} true changes nothing up to the trained length"
            ));
            Ok(())
        }
    }
}

/// The kinds of layer that attend, each with its settings; without where it is not rotated.
fn kinds<'a>(
    keys: &mut Keys,
    blocks: Blocks<'a>,
    layers: &[Layer],
) -> Result<Vec<(String, Option<Block<'a>>)>, Error> {
    let mut kinds = match blocks {
        Blocks::One(block) => vec![(name_of_all(layers), Some(block))],
        Blocks::ByKind(kinds) => of_layers(keys, kinds, layers)?,
    };
    kinds.sort_by_key(|(kind, _)| match kind.as_str() {
        "full" => 0,
        "sliding" => 1,
        _ => 2,
    });
    let mut attending = layers
        .iter()
        .filter(|layer| layers::attends(&layer.kind))
        .peekable();
    if attending.peek().is_some() && attending.clone().all(|layer| !layer.rotated) {
        keys.note("no layer is rotated: the settings are not used".into());
        return Ok(vec![("none".into(), None)]);
    }
    if attending.any(|layer| !layer.rotated) {
        kinds.retain(|(_, block)| block.is_some());
        kinds.push(("none".into(), None));
    }
    Ok(kinds)
}

/// One name for all rotated layers: their kind, where others are not rotated and it is one.
fn name_of_all(layers: &[Layer]) -> String {
    let mut rotated = layers
        .iter()
        .filter(|layer| layer.rotated && layers::attends(&layer.kind))
        .map(|layer| layer.kind.as_str());
    let first = rotated.next();
    let common = first.filter(|first| rotated.all(|kind| kind == *first));
    match (layers.iter().all(|layer| layer.rotated), common) {
        (false, Some("")) => "full".into(),
        (false, Some(kind)) => kind.into(),
        _ => "all".into(),
    }
}

fn of_layers<'a>(
    keys: &mut Keys,
    kinds: Vec<(String, Option<Block<'a>>)>,
    layers: &[Layer],
) -> Result<Vec<(String, Option<Block<'a>>)>, Error> {
    let there = |kind: &str| layers.iter().any(|layer| layer.kind == kind);
    if kinds.iter().all(|(kind, _)| kind == "none") {
        return Ok(kinds);
    }
    if !kinds.iter().any(|(kind, _)| there(kind)) {
        if !layers.is_empty() {
            keys.note("which layer is of which kind is not known".into());
        }
        return Ok(kinds);
    }
    for layer in layers
        .iter()
        .filter(|layer| layer.rotated && layers::attends(&layer.kind))
    {
        if !kinds.iter().any(|(kind, _)| *kind == layer.kind) {
            return Err(Error::Key {
                key: "rope_parameters".into(),
                given: format!("without settings for {}_attention", layer.kind),
                allowed: "settings for every kind in layer_types".into(),
                remedy: "add them, null for layers that are not rotated".into(),
            });
        }
    }
    let turns = |kind: &str| {
        let mut of_kind = layers.iter().filter(|layer| layer.kind == kind);
        of_kind.any(|layer| layer.rotated)
    };
    let (kept, unused): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|(kind, _)| turns(kind));
    for (kind, _) in unused {
        keys.note(format!(
            "no rotated layer is of the kind {kind}: its settings are not used"
        ));
    }
    Ok(kept)
}

/// Kinds whose tables are the same become one.
fn merged(tables: Vec<Table>) -> Vec<Table> {
    let rotated = tables
        .iter()
        .filter(|table| table.rope_type != RopeType::None);
    let first = rotated.clone().next().cloned();
    let Some(first) = first.filter(|first| {
        rotated.clone().count() > 1 && rotated.clone().all(|table| table.same_angles(first))
    }) else {
        return tables;
    };
    let still = tables
        .into_iter()
        .filter(|table| table.rope_type == RopeType::None);
    let all = Table {
        layers: "all".into(),
        ..first
    };
    std::iter::once(all).chain(still).collect()
}

fn number_layers(keys: &mut Keys, tables: &mut [Table], layers: &[Layer]) {
    if layers.is_empty() {
        return;
    }
    let rotated = |table: &&Table| table.rope_type != RopeType::None;
    let alone = tables.iter().filter(rotated).count() == 1;
    for table in tables.iter_mut() {
        let belongs = |layer: &Layer| {
            layers::attends(&layer.kind)
                && match table.layers.as_str() {
                    "none" => !layer.rotated,
                    "all" => layer.rotated,
                    kind => layer.rotated && (layer.kind == kind || alone && layer.kind.is_empty()),
                }
        };
        let indices = (0..layers.len()).filter(|i| belongs(&layers[*i]));
        table.layer_indices = Some(indices.collect::<Vec<_>>()).filter(|all| !all.is_empty());
    }
    let other = layers
        .iter()
        .filter(|layer| !layers::attends(&layer.kind))
        .count();
    if other > 0 {
        keys.note(format!(
            "{other} of {} layers mix tokens without attention: nothing is rotated there",
            layers.len()
        ));
    }
}

fn note_length(keys: &mut Keys, tables: &[Table], length: Option<usize>) {
    let Some(max) = tables.iter().find_map(|table| table.max_length) else {
        return;
    };
    if let Some(length) = length.filter(|length| *length > max) {
        keys.note(format!(
            "length {length} is beyond the {max} positions the file declares"
        ));
    }
}

/// The table of layers that are not rotated.
fn still(head: &Head, length: Option<usize>) -> Table {
    Table {
        layers: "none".into(),
        layer_indices: None,
        rope_type: RopeType::None,
        source: None,
        layout: None,
        head_dim: head.head_dim,
        rotary_dim: 0,
        base: None,
        trained_length: None,
        max_length: head.max_length.as_ref().map(|given| given.value),
        length,
        unscaled: Vec::new(),
        inv_freq: Vec::new(),
        attention_factor: 1.0,
        softmax_scale_factor: 1.0,
        pairs_never_turning: Some(0),
    }
}

/// The reading of one kind of layer.
struct Reading<'r, 'a> {
    keys: &'r mut Keys<'a>,
    family: &'r Family,
    head: &'r Head,
    kind: &'r str,
    /// Whether each kind of layer has settings of its own.
    by_kind: bool,
    length: Option<usize>,
}

impl Reading<'_, '_> {
    fn table(mut self, mut block: Block) -> Result<Table, Error> {
        let rope_type = block.rope_type(self.family)?;
        let base = self.base(&mut block)?;
        let (head_dim, rotary_dim) = self.widths(&mut block, rope_type)?;
        let lengths = self.lengths(&mut block, rope_type)?;
        let rule = block.scaling(rope_type, self.family, lengths)?;
        self.check_lengths(&block, rope_type, &rule, lengths);
        let trained = Trained {
            rotary_dim,
            base: base.value,
            length: lengths.trained.unwrap_or(1),
        };
        let length = self.length.or(lengths.trained);
        let current = length.unwrap_or(1);
        let names = Names {
            block: &block,
            base: &base,
            trained: self.trained_key(&block, rope_type),
            long: current > trained.length,
        };
        let whole = unscaled(&trained, &names)?;
        let (unscaled, mut scaled) = match rope_type {
            RopeType::Proportional => self.proportional(&mut block, &trained, head_dim, &rule)?,
            _ => {
                let scaled = rule.frequencies(&trained, current);
                (whole, scaled.map_err(|error| names.name(error))?)
            }
        };
        self.note_base(&base);
        if rope_type == RopeType::LongRope
            && let Some(factor) = block.mscale_by_length(self.family, trained.length, current)?
        {
            scaled.attention_factor = factor;
        }
        block.check_sections(unscaled.len())?;
        let softmax_scale_factor = self.softmax(&mut block, rope_type, &rule)?;
        check_finite(&block, scaled.attention_factor)?;
        check_finite(&block, softmax_scale_factor)?;
        let source = Some(block.path.clone()).filter(|path| !path.is_empty());
        self.note_unread(block, rope_type);
        let never = |trained| scaling::pairs_never_turning(&unscaled, trained);
        Ok(Table {
            layers: String::new(),
            layer_indices: None,
            rope_type,
            source,
            layout: Some(self.head.layout),
            head_dim,
            rotary_dim,
            base: Some(base.value),
            trained_length: lengths.trained,
            max_length: lengths.max,
            length,
            pairs_never_turning: lengths.trained.map(never),
            unscaled,
            inv_freq: scaled.inv_freq,
            attention_factor: scaled.attention_factor,
            softmax_scale_factor,
        })
    }

    fn note_base(&mut self, base: &Given<f64>) {
        if base.value <= 1.0 {
            self.keys.note(format!(
                "{} {} is not above 1: the last pair turns no slower than the first",
                base.key,
                number(base.value)
            ));
        }
    }

    /// The key that gave the length that a rule stretches from.
    fn trained_key(&self, block: &Block, rope_type: RopeType) -> String {
        const ORIGINAL: &str = "original_max_position_embeddings";
        let inside = || {
            let key = format!("{}.{ORIGINAL}", block.path);
            block.keys.has(&[ORIGINAL]).then_some(key)
        };
        let outside = || self.head.original.as_ref().map(|given| given.key.clone());
        let max = || self.head.max_length.as_ref().map(|given| given.key.clone());
        let key = match (rope_type, self.by_kind) {
            (RopeType::Dynamic, _) => max(),
            (_, true) => inside().or_else(outside).or_else(max),
            (_, false) => outside().or_else(inside).or_else(max),
        };
        key.unwrap_or_else(|| ORIGINAL.into())
    }

    /// The base: inside the block, then outside it, then the model type's.
    fn base(&mut self, block: &mut Block) -> Result<Given<f64>, Error> {
        let inside = block.keys.positive(&["rope_theta"])?;
        let sliding = self.by_kind && self.kind == "sliding";
        let outside = match sliding {
            true => self.keys.positive(LOCAL_BASE)?,
            false => self.keys.positive(BASE)?,
        };
        let given = match (inside, outside) {
            (Some(inside), Some(outside)) if block.is_default => {
                self.note_other_base(&outside, &inside);
                outside
            }
            (Some(inside), Some(outside)) => {
                self.note_other_base(&inside, &outside);
                inside
            }
            (Some(given), None) | (None, Some(given)) => given,
            (None, None) => return self.default_base(sliding),
        };
        self.times_ratio(given)
    }

    /// ChatGLM's factor on the base.
    fn times_ratio(&mut self, base: Given<f64>) -> Result<Given<f64>, Error> {
        let Some(ratio) = self.keys.positive(&["rope_ratio"])? else {
            return Ok(base);
        };
        let value = base.value * ratio.value;
        if value.is_finite() && value > 0.0 {
            return Ok(Given { value, ..base });
        }
        Err(Error::Key {
            key: ratio.key,
            given: number(ratio.value),
            allowed: format!(
                "such that its product with the base {} is a base",
                number(base.value)
            ),
            remedy: "compare with the file as it was published".into(),
        })
    }

    fn note_other_base(&mut self, used: &Given<f64>, other: &Given<f64>) {
        if used.value != other.value {
            self.keys.note(format!(
                "{} {} counts, {} {} does not",
                used.key, used.value, other.key, other.value
            ));
        }
    }

    fn default_base(&mut self, sliding: bool) -> Result<Given<f64>, Error> {
        if sliding && let Some(local) = self.family.number("local") {
            return Ok(missing(self.keys, self.family, LOCAL_BASE[0], local));
        }
        if sliding && let Some(given) = self.keys.positive(BASE)? {
            return Ok(given);
        }
        let base = match self.family.base {
            Some(base) => missing(self.keys, self.family, "rope_theta", base),
            None => {
                let note = "rope_theta is missing: 10000, as in the paper";
                self.keys.note(note.into());
                Given {
                    value: 10_000.0,
                    key: "rope_theta".into(),
                }
            }
        };
        self.times_ratio(base)
    }

    /// The width of the head and of the part whose frequencies are spaced out.
    fn widths(&mut self, block: &mut Block, rope_type: RopeType) -> Result<(usize, usize), Error> {
        let own = match self.kind {
            "full" => self.head.full_head_dim,
            "sliding" => self.head.sliding_head_dim,
            _ => None,
        };
        let head_dim = own.unwrap_or(self.head.head_dim);
        if rope_type == RopeType::Proportional {
            check_even("head_dim", &head_dim.to_string(), head_dim)?;
            return Ok((head_dim, head_dim));
        }
        if let Some(Given { value, key }) = &self.head.rotary_dim
            && !block.keys.has(&["partial_rotary_factor"])
        {
            if let Some(part) = &self.head.part
                && (head_dim as f64 * part.value) as usize != *value
            {
                self.keys.note(format!(
                    "{key} {value} counts, {} {} does not",
                    part.key, part.value
                ));
            }
            if *value > head_dim {
                return Err(Error::Key {
                    key: key.clone(),
                    given: value.to_string(),
                    allowed: format!("at most the head's width, {head_dim}"),
                    remedy: "compare with the file as it was published".into(),
                });
            }
            check_even(key, &value.to_string(), *value)?;
            return Ok((head_dim, *value));
        }
        let part = self.part(block)?;
        let rotary_dim = (head_dim as f64 * part.value) as usize;
        let given = match part.value {
            1.0 => head_dim.to_string(),
            value => format!(
                "{} of a head of {head_dim}, {rotary_dim} entries",
                number(value)
            ),
        };
        check_even(&part.key, &given, rotary_dim)?;
        Ok((head_dim, rotary_dim))
    }

    /// The rotated part of a head.
    fn part(&mut self, block: &mut Block) -> Result<Given<f64>, Error> {
        let inside = block.keys.positive(&["partial_rotary_factor"])?;
        let part = match (
            inside,
            self.head.part.clone(),
            self.family.number("partial"),
        ) {
            (Some(inside), Some(outside), _) if block.is_default => {
                self.note_other_base(&outside, &inside);
                outside
            }
            (Some(inside), outside, _) => {
                if let Some(outside) = outside {
                    self.note_other_base(&inside, &outside);
                }
                inside
            }
            (None, Some(outside), _) => outside,
            (None, None, Some(default)) => {
                missing(self.keys, self.family, "partial_rotary_factor", default)
            }
            (None, None, None) => Given {
                value: 1.0,
                key: "head_dim".into(),
            },
        };
        if part.value <= 1.0 {
            return Ok(part);
        }
        Err(Error::Key {
            key: part.key,
            given: number(part.value),
            allowed: "above 0 and at most 1".into(),
            remedy: "give the part of a head that is rotated, 1 for the whole".into(),
        })
    }

    /// The trained and the declared length, as far as the kind needs them.
    fn lengths(&mut self, block: &mut Block, rope_type: RopeType) -> Result<Lengths, Error> {
        const ORIGINAL: &str = "original_max_position_embeddings";
        let max = self.head.max_length.as_ref().map(|given| given.value);
        let inside = block.keys.count(&[ORIGINAL])?;
        let outside = self.head.original.clone();
        let original = match (outside, inside) {
            (Some(outside), Some(inside)) if outside.value != inside.value => {
                let (used, other) = match self.by_kind {
                    true => (inside, outside),
                    false => (outside, inside),
                };
                self.keys.note(format!(
                    "{} {} counts, {} {} does not",
                    used.key, used.value, other.key, other.value
                ));
                Some(used)
            }
            (outside, inside) => outside.or(inside),
        };
        let extends = matches!(
            rope_type,
            RopeType::Yarn | RopeType::LongRope | RopeType::Llama3
        );
        let trained = match original {
            Some(original)
                if rope_type == RopeType::Dynamic && original.key != "max_trained_positions" =>
            {
                self.keys.note(format!(
                    "{} {} does not count: dynamic stretches from max_position_embeddings on",
                    original.key, original.value
                ));
                max
            }
            Some(original) => Some(original.value),
            None if extends => self.default_original(max),
            None => max,
        };
        if trained.is_none() && (extends || rope_type == RopeType::Dynamic) {
            return Err(Error::Key {
                key: "max_position_embeddings".into(),
                given: "missing".into(),
                allowed: format!("a whole number, which {} needs", rope_type.name()),
                remedy: "give the length the model was trained at".into(),
            });
        }
        if trained.is_none() {
            self.keys.note(
                "max_position_embeddings is missing: which pairs never turn is not known".into(),
            );
        }
        Ok(Lengths { trained, max })
    }

    fn default_original(&mut self, max: Option<usize>) -> Option<usize> {
        const ORIGINAL: &str = "original_max_position_embeddings";
        if let Some(default) = self.family.count("original") {
            return Some(missing(self.keys, self.family, ORIGINAL, default).value);
        }
        let max = max?;
        let note = format!("{ORIGINAL} is missing: {max}, max_position_embeddings");
        self.keys.note(note);
        Some(max)
    }

    /// Notes lengths that do not fit the factor.
    fn check_lengths(&mut self, block: &Block, kind: RopeType, rule: &Scaling, lengths: Lengths) {
        let (Some(trained), Some(max)) = (lengths.trained, lengths.max) else {
            return;
        };
        if kind == RopeType::Linear && trained == max {
            self.keys.note(format!(
                "the length before scaling is not given: {max} is read as trained and declared"
            ));
        }
        let factor = match rule {
            Scaling::Yarn(yarn) => Some(yarn.factor),
            Scaling::LongRope(lists) => match lists.attention {
                LongRopeAttention::FromFactor(factor) => Some(factor),
                _ => None,
            },
            _ => None,
        };
        if let Some(factor) = factor
            && (factor * trained as f64).round() != max as f64
        {
            self.keys.note(format!(
                "{}.factor {factor} times {trained} is not max_position_embeddings {max}; the \
                 factor counts",
                block.path
            ));
        }
        if rope_type_depends_on_length(kind) {
            self.keys.note(format!(
                "{} depends on the current length alone: keys kept after rotation belong to the \
                 length they were rotated at",
                kind.name()
            ));
        }
        let unrounded = matches!(rule, Scaling::Yarn(yarn) if yarn.ramp == Ramp::Pairs);
        if self.by_kind && unrounded && !block.is_default {
            self.keys.note(format!(
                "{}.truncate false is honoured; transformers 5.24.0 looks for it outside and rounds",
                block.path
            ));
        }
    }

    /// Exponents over the whole head, and the pairs past the rotated part still.
    fn proportional(
        &mut self,
        block: &mut Block,
        trained: &Trained,
        head_dim: usize,
        rule: &Scaling,
    ) -> Result<(Vec<f64>, Frequencies), Error> {
        let part = self.part(block)?;
        let pairs = (head_dim as f64 * part.value / 2.0).floor() as usize;
        if pairs == 0 {
            let given = format!("{} of a head of {head_dim}, no pair", number(part.value));
            check_even(&part.key, &given, 0)?;
        }
        let unscaled = rope::proportional_inv_freq(head_dim, 2 * pairs, trained.base)?;
        let factor = match rule {
            Scaling::PositionInterpolation(factor) => *factor,
            _ => 1.0,
        };
        let inv_freq: Vec<f64> = unscaled.iter().map(|w| w / factor).collect();
        if inv_freq.iter().any(|w| !w.is_finite()) {
            return Err(too_fast(format!("{}.factor", block.path), number(factor)));
        }
        self.keys.note(format!(
            "proportional: {pairs} of {} pairs turn, spaced as if all did",
            unscaled.len()
        ));
        let frequencies = Frequencies {
            inv_freq,
            attention_factor: 1.0,
        };
        Ok((unscaled, frequencies))
    }

    /// What the family multiplies the softmax scale by, beside the factor on cosine and sine.
    fn softmax(
        &mut self,
        block: &mut Block,
        rope_type: RopeType,
        rule: &Scaling,
    ) -> Result<f64, Error> {
        if rope_type == RopeType::Default {
            return Ok(1.0);
        }
        let weight = block.keys.not_negative(&["mscale_all_dim"])?;
        let Some(weight) = weight.filter(|given| given.value != 0.0) else {
            return Ok(1.0);
        };
        if !self.family.has("softmax") {
            self.keys.note(format!(
                "{} does not change the softmax scale of this model type",
                weight.key
            ));
            return Ok(1.0);
        }
        let factor = match (rule, block.keys.positive(&["factor"])?) {
            (Scaling::Yarn(yarn), _) => yarn.factor,
            (_, Some(given)) => given.value,
            (_, None) => 1.0,
        };
        scaling::softmax_scale_factor(factor, weight.value)
    }

    fn note_unread(&mut self, block: Block, rope_type: RopeType) {
        let unread = block.keys.unread();
        for note in block.keys.notes {
            self.keys.note(note);
        }
        let name = rope_type.name();
        let unused = |(path, value)| format!("{path} {} is not used by {name}", show(value));
        self.keys.note_unused(unread.into_iter().map(unused));
    }
}

fn rope_type_depends_on_length(rope_type: RopeType) -> bool {
    matches!(rope_type, RopeType::Dynamic | RopeType::LongRope)
}

fn check_even(key: &str, given: &str, rotary_dim: usize) -> Result<(), Error> {
    if rotary_dim > 0 && rotary_dim.is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::Key {
        key: key.into(),
        given: given.into(),
        allowed: "such that an even number of entries, two or more, is rotated".into(),
        remedy: "rotation turns pairs; compare with the file as it was published".into(),
    })
}

/// Frequencies before scaling, all finite.
fn unscaled(trained: &Trained, names: &Names) -> Result<Vec<f64>, Error> {
    let unscaled = trained.inv_freq().map_err(|error| names.name(error))?;
    match unscaled.iter().all(|w| w.is_finite()) {
        true => Ok(unscaled),
        false => Err(too_fast(names.base.key.clone(), number(trained.base))),
    }
}

fn too_fast(key: String, given: String) -> Error {
    Error::Key {
        key,
        given,
        allowed: "large enough for every frequency to be finite".into(),
        remedy: "compare with the file as it was published".into(),
    }
}

fn check_finite(block: &Block, factor: f64) -> Result<(), Error> {
    if factor.is_finite() {
        return Ok(());
    }
    Err(Error::Key {
        key: block.path.clone(),
        given: format!("one whose mscale or mscale_all_dim makes a factor of {factor}"),
        allowed: "one whose factors are finite".into(),
        remedy: "compare with the file as it was published".into(),
    })
}

/// The keys of a file behind the arguments of a scaling rule.
struct Names<'n, 'a> {
    block: &'n Block<'a>,
    base: &'n Given<f64>,
    trained: String,
    /// Whether the current length is past the trained one.
    long: bool,
}

impl Names<'_, '_> {
    /// An error of a scaling rule, said in the names and the values of the file.
    fn name(&self, error: Error) -> Error {
        match error {
            Error::Parameter {
                name,
                given,
                allowed,
                remedy,
            } => match name {
                "inv_freq" => self.too_fast(),
                "base" if self.base.value > 1.0 => Error::Key {
                    key: self.base.key.clone(),
                    given: number(self.base.value),
                    allowed: "a base that stays finite when it is stretched".into(),
                    remedy: "ask for a shorter length, or compare the factor with the file as it \
                             was published"
                        .into(),
                },
                _ => Error::Key {
                    key: self.key(name),
                    given: self.given(name, given),
                    allowed,
                    remedy,
                },
            },
            Error::Shape {
                name,
                given,
                expected,
                remedy,
            } => Error::Key {
                key: self.key(name),
                given: format!("a list of {}", given.first().copied().unwrap_or_default()),
                allowed: format!("a list of shape {expected}"),
                remedy,
            },
            other => other,
        }
    }

    fn key(&self, name: &str) -> String {
        match (name, self.block.path.as_str()) {
            ("base", _) => self.base.key.clone(),
            ("length", _) => self.trained.clone(),
            ("rotary_dim", _) => "head_dim".into(),
            (name, "") => name.into(),
            (name, path) => format!("{path}.{name}"),
        }
    }

    /// A number as the file spells it, where the rule had another: stretched, or rounded.
    fn given(&self, name: &str, given: String) -> String {
        match self.block.keys.peek(name) {
            Some(value) if given.parse::<f64>().is_ok() => show(value),
            _ => given,
        }
    }

    fn too_fast(&self) -> Error {
        let lists = match self.long {
            true => ["factor", "long_factor"],
            false => ["factor", "short_factor"],
        };
        let divisor = lists.iter().rev().find(|name| self.block.keys.has(&[name]));
        match divisor {
            Some(name) => {
                let value = self.block.keys.peek(name).map_or("missing".into(), show);
                too_fast(self.key(name), value)
            }
            None => too_fast(self.base.key.clone(), number(self.base.value)),
        }
    }
}
