//! What a step says and its call does not use.

use std::ops::Range;

use catalog::Entry;
use serde_json::Value;

use super::Argument;
use crate::fill::Filled;
use crate::fill::said::Said;
use crate::literals::{Kind, Literal};
use crate::{doubt, parameters, verbs};

/// The values and references of the step that no argument has.
pub(super) fn unused(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Vec<String> {
    let server = Some(entry.tool.server.as_str());
    let is_value = |literal: &Literal| {
        literal.kind.is_marked()
            && literal.text() != server
            && !is_abbreviation(literal, entry)
            && !counts_list(literal, filled)
            && !doubt::is_own_unit(task, said, entry, filled, literal)
    };
    let literals = said.literals.iter().enumerate();
    let values = literals.filter(|(at, literal)| !filled.used.contains(at) && is_value(literal));
    let values = values.map(|(_, literal)| match literal.text() {
        Some(text) if literal.kind == Kind::Quoted && literal.key.is_none() => text.to_owned(),
        _ => task[literal.span.clone()].to_owned(),
    });
    let references = said.references.iter().enumerate();
    let counts = references.filter(|(at, reference)| reference.counts && !filled.referred.contains(at));
    let left = said
        .unfollowed
        .iter()
        .filter(|place| !is_taken(&task[(*place).clone()], place, said, entry, filled));
    values
        .chain(counts.map(|(_, reference)| reference.text.clone()))
        .chain(left.map(|place| task[place.clone()].to_owned()))
        .collect()
}

/// Whether an argument has these words, or a value among them: "daily" as a choice, a date after "before"; or the tool is
/// about them: "Set the daily limit".
fn is_taken(text: &str, place: &Range<usize>, said: &Said, entry: &Entry, filled: &Filled) -> bool {
    let text = text.to_lowercase();
    let is_it = |word: &str| word.to_lowercase() == text;
    let passes = |(name, argument): &(String, Argument)| match argument {
        Argument::Value(Value::String(value)) => catalog::words(value).any(is_it),
        // "recursively" of `recursive`
        Argument::Value(Value::Bool(_)) => catalog::words(name)
            .any(|word| is_it(word) || word.len() >= 5 && text.starts_with(&word.to_lowercase())),
        _ => false,
    };
    let bound = ["after", "before"]
        .into_iter()
        .find(|word| text.starts_with(word));
    let mut used = filled.used.iter().filter(|at| {
        let used = &said.literals[**at].span;
        used.start < place.end && place.start < used.end
    });
    let is_used = used.any(|at| bound.is_none_or(|bound| takes_bound(*at, bound, entry, filled)));
    let is_own = bound.is_none() && verbs::sentence(entry).any(is_it);
    is_own || is_used || filled.arguments.iter().any(passes)
}

/// Whether the parameter that took the literal is for what comes after, or before, it: no `date` takes "after 2026-05-01".
fn takes_bound(literal: usize, bound: &str, entry: &Entry, filled: &Filled) -> bool {
    let taker = filled.takers.iter().find(|(taken, _)| *taken == literal);
    let parameters = parameters::parameters(&entry.definition.input_schema());
    let taker = taker.and_then(|(_, name)| parameters.iter().find(|parameter| parameter.name == *name));
    let names: &[&str] = match bound {
        "after" => &["after", "begin", "from", "min", "since", "start"],
        _ => &["before", "deadline", "due", "end", "max", "to", "until"],
    };
    taker.is_some_and(|taker| {
        let mut said = catalog::words(&taker.about).chain(verbs::sentence(entry));
        taker.words.iter().any(|word| names.contains(&word.as_str()))
            || said.any(|word| word.eq_ignore_ascii_case(bound))
    })
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
