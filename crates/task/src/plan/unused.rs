//! What a step says and its call does not use.

use catalog::Entry;
use serde_json::Value;

use super::Argument;
use crate::fill::Filled;
use crate::fill::said::Said;
use crate::literals::{Kind, Literal};

/// The values and references of the step that no argument has.
pub(super) fn unused(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Vec<String> {
    let server = Some(entry.tool.server.as_str());
    let is_value = |literal: &Literal| {
        literal.kind.is_marked()
            && literal.text() != server
            && !is_abbreviation(literal, entry)
            && !counts_list(literal, filled)
    };
    let literals = said.literals.iter().enumerate();
    let values = literals.filter(|(at, literal)| !filled.used.contains(at) && is_value(literal));
    let values = values.map(|(_, literal)| match literal.text() {
        Some(text) if literal.kind == Kind::Quoted && literal.key.is_none() => text.to_owned(),
        _ => task[literal.span.clone()].to_owned(),
    });
    let references = said.references.iter().enumerate();
    let counts = references.filter(|(at, reference)| reference.counts && !filled.referred.contains(at));
    values
        .chain(counts.map(|(_, reference)| reference.text.clone()))
        .collect()
}

/// Whether the literal is a word of the tool's own, such as `ISBN` before the number, and no value.
fn is_abbreviation(literal: &Literal, entry: &Entry) -> bool {
    let text = literal.text().filter(|_| literal.kind == Kind::Name);
    let one = |text: &str| text.strip_suffix('s').unwrap_or(text).to_owned();
    let text = text.map(one).unwrap_or_default();
    let schema = entry.definition.input_schema().to_string();
    let described = entry.definition.description.as_deref().unwrap_or_default();
    let words = [schema.as_str(), described];
    let mut words = words
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    text.len() > 1
        && text.chars().all(|c| c.is_ascii_uppercase())
        && words.any(|word| one(word).eq_ignore_ascii_case(&text))
}

/// Whether the number only says how many values a list has: "3 numbers: 3, 4 and 8".
fn counts_list(literal: &Literal, filled: &Filled) -> bool {
    let lists = filled
        .arguments
        .iter()
        .filter_map(|(_, argument)| match argument {
            Argument::Value(Value::Array(items)) => Some(items.len()),
            _ => None,
        });
    let number = literal.value.as_u64();
    lists
        .into_iter()
        .any(|length| u64::try_from(length).ok() == number)
}
