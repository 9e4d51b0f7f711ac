//! Whether a call covers all words of its clause.
//!
//! A tool that changes something is not called while a word is left over.

use std::collections::BTreeSet;

use catalog::Entry;

use crate::clauses::Clause;
use crate::fill::Filled;
use crate::verbs::{self, stem};
use crate::vocabulary::{self, ASKS_FOR_TIME, COURTESY, QUESTIONS, REFERRING, STOP_WORDS, WordList};
use crate::words::{Pause, WordKind};

/// Words that reverse a sentence, ignored in a tool's description.
const TURNING: WordList = WordList(include_str!("../data/words/turning.txt"));

pub(crate) struct Coverage<'a> {
    clause: &'a Clause<'a>,
    filled: &'a Filled,
    reads: bool,
    server: &'a str,
    /// Stems of: the tool's name, the parameters with a value, words that describe the tool.
    known: BTreeSet<String>,
}

/// A word that reverses the clause or leaves a choice; completes a sentence about the clause.
pub(crate) fn reversal(clause: &Clause<'_>) -> Option<String> {
    let mut says = clause.words.iter().map(|word| &word.lower);
    let word = says.find(|word| vocabulary::is_negation(word) || *word == "or")?;
    Some(match word.as_str() {
        "or" => "says 'or'; say which one is meant".to_owned(),
        _ => format!(
            "says '{word}', which codeyard cannot follow; say only what is to be done, and put values in quotation marks"
        ),
    })
}

// === impl Coverage ===

impl<'a> Coverage<'a> {
    pub(crate) fn new(clause: &'a Clause<'a>, entry: &'a Entry, filled: &'a Filled) -> Coverage<'a> {
        let reads = verbs::reads(entry);
        let arguments = filled.arguments.iter().map(|(name, _)| name.as_str());
        let names = arguments.chain([entry.tool.server.as_str(), &entry.tool.tool]);
        let mut known: BTreeSet<String> = names.flat_map(catalog::words).map(stem).collect();
        let described = verbs::sentence(entry).filter(|word| reads || !TURNING.has(&word.to_lowercase()));
        known.extend(described.map(stem));
        Coverage {
            clause,
            filled,
            reads,
            server: &entry.tool.server,
            known,
        }
    }

    /// Values and words that the call does not cover, as the task spells them.
    pub(crate) fn left(&self, task: &str) -> Vec<String> {
        let words = self.clause.words.iter().enumerate();
        let left = words.filter(|(at, word)| !self.covers(*at) && word.text() != Some(self.server));
        left.map(|(_, word)| match (word.kind, word.text()) {
            (WordKind::Quoted, Some(text)) if word.key.is_none() => text.to_owned(),
            _ => task[word.span.clone()].to_owned(),
        })
        .collect()
    }

    /// A number that a neighbouring word may change; completes a sentence about the clause: "2
    /// hours" for minutes, "about 50".
    pub(crate) fn changed_number(&self, task: &str) -> Option<String> {
        let words = self.clause.words;
        words.windows(2).enumerate().find_map(|(at, pair)| {
            let is_number = |at: usize| words[at].kind == WordKind::Number && self.filled.used[at];
            let is_open = |at: usize| !words[at].is_value() && !self.covers(at);
            let is_changed = is_number(at) && is_open(at + 1) || is_open(at) && is_number(at + 1);
            (is_changed && pair[0].pause == Pause::None).then(|| {
                format!(
                    "has the number {:?}, but the tool takes only a number; write the number alone, in the tool's unit",
                    &task[pair[0].span.start..pair[1].span.end]
                )
            })
        })
    }

    /// Whether the word is an argument's, empty, the verb or before the verb, or the tool's.
    fn covers(&self, at: usize) -> bool {
        let word = &self.clause.words[at];
        let mut parts = catalog::words(&word.lower).map(stem).peekable();
        let is_known = parts.peek().is_some() && parts.all(|part| self.known.contains(&part));
        self.filled.used[at]
            || self.clause.is_verb(at)
            || is_known
            || vocabulary::is_harmless(&word.lower)
            || self.reads && is_empty(&word.lower)
    }
}

/// Whether the word requests nothing from a tool that reads.
fn is_empty(word: &str) -> bool {
    let word = word.split(['\'', '\u{2019}']).next().unwrap_or_default();
    STOP_WORDS.has(word)
        || COURTESY.has(word)
        || QUESTIONS.has(word)
        || REFERRING.has(word)
        || ASKS_FOR_TIME.has(word)
}
