//! Which words begin an instruction, and whether a tool does what such a word asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use catalog::Entry;

use crate::vocabulary;

/// The words with which names and descriptions of tools begin, where they may be verbs.
pub(crate) fn of_tools(entries: &[Arc<Entry>]) -> BTreeSet<String> {
    let words = entries.iter().flat_map(|entry| first_words(entry));
    words.filter(|word| !vocabulary::is_small(word)).collect()
}

/// Whether the tool does what the verb asks for: to remove something is not to read it. A tool that says no verb, and a step
/// that begins with none, are told apart by their other words only.
pub(crate) fn agree(verb: Option<&str>, entry: &Entry) -> bool {
    let Some(verb) = verb.filter(|verb| vocabulary::is_imperative(verb)) else {
        return true;
    };
    let does: Vec<String> = first_words(entry)
        .filter(|word| vocabulary::is_imperative(word))
        .collect();
    if does.is_empty() {
        return true;
    }
    let asked: BTreeSet<String> = catalog::meant(verb).into_iter().chain([verb]).map(stem).collect();
    let title = entry.definition.title.as_deref().unwrap_or_default();
    let description = entry.definition.description.as_deref().unwrap_or_default();
    let sentence = description.split(['.', '\n']).next().unwrap_or_default();
    let mut says = [entry.tool.tool.as_str(), title, sentence]
        .into_iter()
        .flat_map(catalog::words);
    let is_alike = does.iter().any(|word| vocabulary::are_alike(verb, word));
    is_alike || says.any(|word| asked.contains(&stem(&word.to_lowercase())))
}

fn first_words(entry: &Entry) -> impl Iterator<Item = String> {
    let first = |text: &str| catalog::words(text).next().map(str::to_lowercase);
    let described = entry.definition.description.as_deref().and_then(first);
    [first(&entry.tool.tool), described].into_iter().flatten()
}

fn stem(word: &str) -> String {
    catalog::stem(word.to_owned())
}
