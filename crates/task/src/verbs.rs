//! Which words begin an instruction, and whether a tool does what such a word asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use catalog::Entry;
use serde::Deserialize;

use crate::fill::said::Said;
use crate::vocabulary;

/// The words with which names and descriptions of tools begin, where they may be verbs.
pub(crate) fn of_tools(entries: &[Arc<Entry>]) -> BTreeSet<String> {
    let words = entries.iter().flat_map(|entry| first_words(entry));
    words.filter(|word| !vocabulary::is_small(word)).collect()
}

/// Whether the tool does what the step asks for: to remove something is not to read it, and a question asks for no deed. A
/// tool that changes something must be asked for with its own verb, or one that is often said for it.
pub(crate) fn agree(said: &Said, entry: &Entry) -> bool {
    let reads = reads(entry);
    if said.is_question && !reads {
        return false;
    }
    let Some(verb) = said.verb() else { return reads };
    let is_known = vocabulary::is_imperative(verb);
    let does: Vec<String> = first_words(entry).collect();
    let says_verb = does.iter().any(|word| vocabulary::is_imperative(word));
    if reads && (!is_known || !says_verb && vocabulary::is_reading(verb)) {
        return true;
    }
    if !reads && said.tells_of_deed() || !is_known && said.begins_with_noun() {
        return false;
    }
    let is_alike = does.iter().any(|word| vocabulary::are_alike(verb, word));
    let means = Means::of(verb);
    is_alike
        || match (reads, says_verb) {
            (false, true) => does.iter().any(|word| means.has(word)),
            (false, false) => catalog::words(&entry.tool.tool).any(|word| means.has(word)),
            (true, _) => sentence(entry).any(|word| means.has(word)),
        }
}

/// The stems of a verb and of what is often said for it.
struct Means(BTreeSet<String>);

impl Means {
    fn of(verb: &str) -> Means {
        Means(catalog::meant(verb).into_iter().chain([verb]).map(stem).collect())
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&stem(&word.to_lowercase()))
    }
}

/// The words of a tool's name, title and first sentence.
pub(crate) fn sentence(entry: &Entry) -> impl Iterator<Item = &str> {
    let title = entry.definition.title.as_deref().unwrap_or_default();
    let description = entry.definition.description.as_deref().unwrap_or_default();
    let sentence = description.split(['.', '\n']).next().unwrap_or_default();
    [entry.tool.tool.as_str(), title, sentence]
        .into_iter()
        .flat_map(catalog::words)
}

/// Whether a call of the tool changes nothing: by what its definition says, else by the words that it begins with.
pub(crate) fn reads(entry: &Entry) -> bool {
    let definition: Hinted = serde_json::from_str(entry.definition.definition().get()).unwrap_or_default();
    let hints = definition.annotations.unwrap_or_default();
    if let Some(reads) = hints.read_only {
        return reads;
    }
    let named = catalog::words(&entry.tool.tool).next().map(str::to_lowercase);
    let named = named.unwrap_or_default();
    if hints.destructive == Some(true) {
        return false;
    }
    if vocabulary::is_reading(&named) {
        return true;
    }
    let description = entry.definition.description.as_deref().unwrap_or_default();
    let mut described = catalog::words(description).map(str::to_lowercase);
    let first = described.next().unwrap_or_default();
    let second = described.next().unwrap_or_default();
    let is_noun = vocabulary::is_preposition(&second) && !vocabulary::is_imperative(&first);
    let is_reckoned = matches!(first.as_str(), "figure" | "work" | "works") && second == "out";
    let changes = |word: &str| vocabulary::is_imperative(word) && !is_named_so(word);
    // "Reckons/evaluates": the second word explains the first, which is not known.
    let is_explained = description.len() > first.len()
        && description.is_char_boundary(first.len())
        && description[first.len()..].starts_with('/')
        && !vocabulary::is_imperative(first.trim_end_matches('s'));
    let is_reading = vocabulary::is_reading(&first) || (is_explained && vocabulary::is_reading(&second));
    !changes(&named) && (is_reading || is_noun || is_reckoned)
}

/// Whether the verb is a noun as often: "order status".
fn is_named_so(word: &str) -> bool {
    matches!(
        word,
        "email" | "group" | "mail" | "order" | "plan" | "record" | "report" | "review" | "train"
    )
}

/// What a definition says of its calls.
#[derive(Default, Deserialize)]
struct Hinted {
    annotations: Option<Hints>,
}

#[derive(Default, Deserialize)]
struct Hints {
    #[serde(rename = "readOnlyHint")]
    read_only: Option<bool>,
    #[serde(rename = "destructiveHint")]
    destructive: Option<bool>,
}

fn first_words(entry: &Entry) -> impl Iterator<Item = String> {
    let first = |text: &str| catalog::words(text).next().map(str::to_lowercase);
    let described = entry.definition.description.as_deref().and_then(first);
    [first(&entry.tool.tool), described].into_iter().flatten()
}

fn stem(word: &str) -> String {
    catalog::stem(word.to_owned())
}
