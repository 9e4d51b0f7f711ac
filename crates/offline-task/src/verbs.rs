//! Whether a tool changes something, and whether a tool does what a clause asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use catalog::Entry;
use serde_json::Value;

use crate::clauses::Clause;
use crate::vocabulary::{self, NOUNS, PREPOSITIONS, STOP_WORDS, VERBS};

/// First words of tools' names and descriptions; each may be a verb.
pub(crate) fn of_tools(entries: &[Arc<Entry>]) -> BTreeSet<String> {
    let words = entries.iter().flat_map(|entry| first_words(entry));
    words.filter(|word| !STOP_WORDS.has(word)).collect()
}

/// Whether the tool does what the clause asks for. A changing tool needs its own verb or a synonym;
/// questions and verbs of reading never call one.
pub(crate) fn agrees(clause: &Clause<'_>, entry: &Entry) -> bool {
    let reads = reads(entry);
    let Some(verb) = clause.verb() else {
        return reads;
    };
    if !reads && !clause.is_instruction {
        return false;
    }
    let own: Vec<String> = first_words(entry).collect();
    let says_verb = own.iter().any(|word| VERBS.has(word));
    // The catalog also knows words of other languages.
    let meant = catalog::synonyms(verb).into_iter().filter(|_| VERBS.has(verb));
    let meanings: BTreeSet<String> = meant.chain([verb]).map(stem).collect();
    let is_meant = |word: &str| meanings.contains(&stem(word));
    let is_same = |word: &String| vocabulary::are_synonyms(verb, word) || is_meant(word);
    own.iter().any(is_same)
        || match reads {
            true => sentence(entry).any(is_meant) || !says_verb && vocabulary::is_read_only(verb),
            false => !says_verb && catalog::words(&entry.tool.tool).any(is_meant),
        }
}

/// Whether a call changes nothing: by the definition's hints, else by the first words of name and
/// description.
pub(crate) fn reads(entry: &Entry) -> bool {
    let definition: Value = serde_json::from_str(entry.definition.definition().get()).unwrap_or_default();
    let hint = |name: &str| definition["annotations"][name].as_bool();
    if let Some(reads) = hint("readOnlyHint") {
        return reads;
    }
    let changes = |word: &str| VERBS.has(word) && !NOUNS.has(word) && !vocabulary::is_read_only(word);
    let name = catalog::words(&entry.tool.tool).next().unwrap_or_default();
    let name = name.to_lowercase();
    if hint("destructiveHint") == Some(true) || changes(&name) {
        return false;
    }
    let description = description(entry).to_lowercase();
    let mut words = description.split_whitespace();
    // "Computes/evaluates the expression" has two verbs.
    let verbs: Vec<&str> = words.next().unwrap_or_default().split('/').collect();
    let is_noun = words.next().is_some_and(|second| PREPOSITIONS.has(second)) && !VERBS.has(verbs[0]);
    let changes_nothing = !verbs.iter().any(|verb| changes(verb.trim_end_matches('s')));
    vocabulary::is_read_only(&name)
        || is_noun
        || changes_nothing && verbs.into_iter().any(vocabulary::is_read_only)
}

/// Words of a tool's name, title and first sentence.
pub(crate) fn sentence(entry: &Entry) -> impl Iterator<Item = &str> {
    let title = entry.definition.title.as_deref().unwrap_or_default();
    let sentence = description(entry).split(['.', '\n']).next().unwrap_or_default();
    let texts = [entry.tool.tool.as_str(), title, sentence];
    texts.into_iter().flat_map(catalog::words)
}

/// Reduces singular and plural, and the forms of a verb, to one form.
pub(crate) fn stem(word: &str) -> String {
    catalog::stem(word.to_lowercase())
}

fn description(entry: &Entry) -> &str {
    entry.definition.description.as_deref().unwrap_or_default()
}

fn first_words(entry: &Entry) -> impl Iterator<Item = String> {
    let first = |text: &str| catalog::words(text).next().map(str::to_lowercase);
    [first(&entry.tool.tool), first(description(entry))]
        .into_iter()
        .flatten()
}
