//! What a model type means where its file is silent: the rows of `families.txt`.

use serde_json::{Map, Value};

const FAMILIES: &str = include_str!("families.txt");

/// The defaults of one model type. `None` where the type has no default, or is not known.
#[derive(Debug, Clone, Default)]
pub(super) struct Family {
    /// The row's model type; empty for a type that has no row.
    pub(super) name: String,
    pub(super) hidden_size: Option<usize>,
    pub(super) heads: Option<usize>,
    pub(super) head_dim: Option<usize>,
    pub(super) layers: Option<usize>,
    pub(super) length: Option<usize>,
    pub(super) base: Option<f64>,
    flags: Vec<String>,
}

impl Family {
    /// The row of a model type, by its name, its other names, or its name less `_text`.
    pub(super) fn of(model_type: &str) -> Option<Self> {
        row(model_type)
            .or_else(|| row(other_name(model_type)?))
            .or_else(|| row(model_type.strip_suffix("_text")?))
    }

    /// The row of a class name as `architectures` lists them: `LlamaForCausalLM`.
    pub(super) fn of_architecture(class: &str) -> Option<Self> {
        let end = ["For", "Model", "LMHead"]
            .iter()
            .filter_map(|part| class.find(part))
            .min()?;
        let stem = plain(&class[..end]);
        rows()
            .find(|fields| plain(fields[0]) == stem)
            .and_then(|fields| row(fields[0]))
            .or_else(|| {
                let (_, name) = other_names().find(|(other, _)| plain(other) == stem)?;
                row(name)
            })
    }

    pub(super) fn known(&self) -> bool {
        !self.name.is_empty()
    }

    pub(super) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    /// The text after `name=` among the row's flags.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.flags
            .iter()
            .find_map(|flag| flag.strip_prefix(name)?.strip_prefix('='))
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.setting(name)?.parse().ok()
    }

    pub(super) fn count(&self, name: &str) -> Option<usize> {
        self.setting(name)?.parse().ok()
    }

    /// The entries of a head that are not rotated and those that are, kept apart.
    pub(super) fn split_head(&self) -> Option<(usize, usize)> {
        let (still, rotated) = self.setting("mla")?.split_once('+')?;
        Some((still.parse().ok()?, rotated.parse().ok()?))
    }

    /// The `rope_parameters` that the type has where a file has none.
    pub(super) fn rope_parameters(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.setting("rope")?).ok()
    }
}

fn lines() -> impl Iterator<Item = &'static str> {
    FAMILIES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields.get(1) != Some(&"="))
}

fn other_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    lines().filter_map(|line| line.split_once(" = "))
}

fn other_name(model_type: &str) -> Option<&'static str> {
    other_names()
        .find(|(other, _)| *other == model_type)
        .map(|(_, name)| name)
}

fn row(model_type: &str) -> Option<Family> {
    let line = lines().find(|line| line.split_whitespace().next() == Some(model_type))?;
    let fields: Vec<_> = line.split_whitespace().collect();
    if fields[1] == "=" {
        return None;
    }
    Some(Family {
        name: fields[0].into(),
        hidden_size: fields[1].parse().ok(),
        heads: fields[2].parse().ok(),
        head_dim: fields[3].parse().ok(),
        layers: fields[4].parse().ok(),
        length: fields[5].parse().ok(),
        base: fields[6].parse().ok(),
        flags: fields[7..].iter().map(|flag| (*flag).into()).collect(),
    })
}

/// A name in lower case, letters and digits only.
fn plain(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_families_has_its_seven_columns_and_known_flags() {
        let words = [
            "interleaved",
            "softmax",
            "scaling=both",
            "padding",
            "learned",
            "alibi",
            "t5",
            "sinusoidal",
            "relative",
            "none",
            "partial",
            "rotary_dim",
            "mla",
            "local",
            "pattern",
            "first",
            "nope",
            "original",
            "global_head_dim",
            "rope",
            "offset",
        ];
        for fields in rows() {
            assert!(fields.len() >= 7, "{fields:?}");
            for column in &fields[1..7] {
                assert!(
                    *column == "-" || column.parse::<f64>().is_ok(),
                    "{fields:?}"
                );
            }
            for flag in &fields[7..] {
                let name = flag.split('=').next().unwrap_or_default();
                assert!(words.contains(flag) || words.contains(&name), "{flag}");
            }
            let family = Family::of(fields[0]).unwrap();
            assert_eq!(
                family.setting("rope").is_some(),
                family.rope_parameters().is_some()
            );
            assert_eq!(
                family.setting("mla").is_some(),
                family.split_head().is_some()
            );
        }
    }

    #[test]
    fn every_other_name_leads_to_a_row() {
        for (other, name) in other_names() {
            assert!(
                row(name).is_some() && row(other).is_none(),
                "{other} = {name}"
            );
        }
    }

    #[test]
    fn an_architecture_names_its_family() {
        let family = |class| Family::of_architecture(class).map(|family| family.name);
        assert_eq!(family("LlamaForCausalLM").as_deref(), Some("llama"));
        assert_eq!(family("GPTNeoXForCausalLM").as_deref(), Some("gpt_neox"));
        assert_eq!(family("XLMRobertaModel").as_deref(), Some("xlm-roberta"));
        assert_eq!(family("Nothing"), None);
    }
}
