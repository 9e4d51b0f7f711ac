//! How well a part of a clause fits a parameter: by kind, neighbouring words, and the parameter's name.

use super::candidates::Candidate;
use crate::parameters::{ID, NAME, Parameter, Role, ValueType};
use crate::vocabulary::{PREPOSITIONS, WordList};
use crate::words::{WordKind, first_value};

/// A neighbouring word names the parameter.
const NAMED: f32 = 1.0;
/// A preposition leads to the parameter.
const LED: f32 = 0.6;

const SOURCES: WordList = WordList("base from input origin sender source src");
const TARGETS: WordList = WordList("dest destination into new output recipient recipients target to value");

/// Each line: words before a value, with words in the names of the parameters they lead to.
const LEADS: &str = include_str!("../../data/leads.txt");

/// Score of the candidate; `None` if it does not fit. An optional parameter must be meant.
pub(super) fn score(parameter: &Parameter, candidate: &Candidate<'_>) -> Option<f32> {
    let base = match &parameter.value_type {
        _ if is_misdirected(parameter, candidate) => None,
        ValueType::Boolean => None,
        ValueType::Number => (candidate.word.kind == WordKind::Number).then_some(1.0),
        ValueType::Object => candidate.word.value.is_object().then_some(1.0),
        ValueType::List if candidate.word.value.is_array() => Some(1.0),
        ValueType::Any if matches!(candidate.word.kind, WordKind::Json | WordKind::Number) => Some(0.8),
        ValueType::Text | ValueType::Any | ValueType::List => of_text(parameter, candidate),
    }?;
    let around = around(parameter, candidate);
    let is_meant =
        parameter.is_required || around > 0.0 || base >= 1.0 && candidate.word.kind != WordKind::Number;
    is_meant.then_some(base + around)
}

/// Whether a changing tool may receive the candidate: a number's unit is not a name, and a noun
/// after an article or another preposition is not a text.
pub(super) fn is_certain(parameter: &Parameter, candidate: &Candidate<'_>) -> bool {
    let is_text =
        parameter.role == Role::Prose && !matches!(candidate.word.kind, WordKind::Quoted | WordKind::Json);
    let is_thing = candidate.is_noun && !parameter.is_called(candidate.lead);
    let is_led = !PREPOSITIONS.has(candidate.lead) || around(parameter, candidate) > 0.0;
    !candidate.is_unit && (!is_text || is_led && !is_thing)
}

/// Score of the words around the candidate.
pub(super) fn around(parameter: &Parameter, candidate: &Candidate<'_>) -> f32 {
    let is_named = !candidate.after.is_empty() && parameter.is_called(candidate.after);
    if is_named {
        NAMED
    } else {
        led(parameter, candidate.lead)
    }
}

/// Score of the word before a value.
pub(super) fn led(parameter: &Parameter, lead: &str) -> f32 {
    let mut leads = LEADS.lines().filter_map(|line| line.split_once(": "));
    let is_led =
        leads.any(|(words, names)| WordList(words).has(lead) && parameter.is_one_of(WordList(names)));
    match is_led {
        _ if !lead.is_empty() && parameter.is_called(lead) => NAMED,
        true => LED,
        false => 0.0,
    }
}

/// Whether "from" precedes a target's value, or "to" a source's.
fn is_misdirected(parameter: &Parameter, candidate: &Candidate<'_>) -> bool {
    let (is_source, is_target) = (parameter.is_one_of(SOURCES), parameter.is_one_of(TARGETS));
    match candidate.lead {
        "from" => is_target && !is_source,
        "to" | "into" => is_source && !is_target,
        _ => false,
    }
}

fn of_text(parameter: &Parameter, candidate: &Candidate<'_>) -> Option<f32> {
    let (role, text) = (parameter.role, candidate.word.value.as_str().unwrap_or_default());
    match candidate.word.kind {
        _ if parameter.zone(Some(text)).is_some() => Some(1.0),
        // "In oslo" names a place; "for my party" does not.
        WordKind::Plain if candidate.is_noun || candidate.lead == "like" => None,
        // "3 commits" is a count, not a name.
        WordKind::Number if candidate.after.ends_with('s') => None,
        // A quoted path fits a path better than another text.
        WordKind::Quoted => match first_value(text).filter(|word| word.span.end == text.len()) {
            Some(word) if of_kind(role, word.kind) == Some(1.0) => Some(0.95),
            _ => of_kind(role, WordKind::Quoted),
        },
        // `*.txt` is a pattern even without quotation marks.
        _ if role == Role::Verbatim && text.contains('*') => Some(0.9),
        // An id is one word.
        WordKind::Name if role == ID && text.contains(' ') => None,
        kind => of_kind(role, kind),
    }
}

/// Score of a kind of value for a role.
fn of_kind(role: Role, kind: WordKind) -> Option<f32> {
    match (role, kind) {
        (Role::Is(own), kind) if own == kind => Some(1.0),
        (Role::Prose | Role::Verbatim, WordKind::Quoted) => Some(1.0),
        (Role::Prose, WordKind::Json) => Some(0.8),
        (_, WordKind::Json) | (Role::Prose, WordKind::Number) | (Role::Verbatim, _) => None,
        (Role::Is(WordKind::Path | WordKind::Url | WordKind::Email), WordKind::Quoted) => Some(0.4),
        (_, WordKind::Quoted) => Some(0.8),
        (ID, WordKind::Path | WordKind::Number | WordKind::Name) => Some(0.6),
        (NAME | Role::Prose | Role::Unknown, WordKind::Name | WordKind::Code | WordKind::Plain) => Some(0.5),
        (Role::Is(WordKind::Path), WordKind::Name | WordKind::Code) | (NAME, WordKind::Path) => Some(0.3),
        (Role::Prose | Role::Unknown, _) => Some(0.3),
        _ => None,
    }
}
