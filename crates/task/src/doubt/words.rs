//! Whether every word of a step is accounted for: what changes something is not called while one is left.

use std::collections::BTreeSet;
use std::ops::Range;

use catalog::Entry;
use serde_json::Value;

use super::{measure, units};
use crate::fill::said::Said;
use crate::fill::{self, Filled};
use crate::literals::{Kind, Literal};
use crate::parameters::{self, Parameter, Role};
use crate::{verbs, vocabulary};

/// Words that change no meaning: articles, courtesy, pronouns, and the prepositions that stand before most values.
pub(super) const HARMLESS: &[&str] = &[
    "a",
    "also",
    "altogether",
    "an",
    "and",
    "are",
    "as",
    "at",
    "by",
    "called",
    "can",
    "could",
    "do",
    "exactly",
    "for",
    "from",
    "go",
    "have",
    "he",
    "he'd",
    "her",
    "hereby",
    "his",
    "i",
    "i'd",
    "i'll",
    "immediately",
    "in",
    "into",
    "is",
    "it",
    "it's",
    "its",
    "just",
    "kindly",
    "let",
    "let's",
    "me",
    "my",
    "named",
    "need",
    "now",
    "of",
    "ok",
    "okay",
    "on",
    "onto",
    "our",
    "please",
    "quickly",
    "s",
    "saying",
    "says",
    "she",
    "she'd",
    "simply",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "these",
    "they",
    "they'd",
    "this",
    "those",
    "titled",
    "to",
    "today",
    "us",
    "using",
    "via",
    "want",
    "we",
    "we'd",
    "we'll",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Words that a description may have in passing and that turn a sentence round; only a name accounts for them.
const TURNING: &[&str] = &[
    "above",
    "after",
    "again",
    "all",
    "almost",
    "another",
    "any",
    "apart",
    "around",
    "aside",
    "away",
    "before",
    "below",
    "besides",
    "beyond",
    "both",
    "each",
    "either",
    "else",
    "every",
    "everything",
    "few",
    "first",
    "half",
    "last",
    "least",
    "minus",
    "most",
    "nearly",
    "next",
    "only",
    "opposite",
    "other",
    "others",
    "out",
    "outside",
    "over",
    "plus",
    "previous",
    "rather",
    "rest",
    "same",
    "save",
    "several",
    "some",
    "than",
    "till",
    "twice",
    "under",
    "unlike",
    "until",
];

/// Prepositions that choose among things, so that no value before which they stand is what is meant.
const CHOOSING: &[&str] = &["like", "matching", "near", "than"];

/// The words that nothing accounts for, in their order; none of a tool that only reads.
pub(crate) fn left(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Vec<String> {
    if verbs::reads(entry) {
        return Vec::new();
    }
    let own = Own::of(entry);
    let reading = Reading {
        task,
        said,
        filled,
        verb: said.verb(),
        parameters: parameters::parameters(&entry.definition.input_schema()),
        taken: taken(said, filled),
    };
    let words = said.words.iter().zip(&said.places).enumerate();
    let left = words.filter(|(at, (word, place))| {
        !filled.turned.contains(at)
            && !is_wish(&said.words[..=*at])
            && !reading.accounts_for(word, place)
            && !own.has(word)
    });
    left.map(|(_, (word, _))| word.clone()).collect()
}

/// Whether the word turns a sentence round, or makes a difference of a number.
fn is_turning(word: &str) -> bool {
    TURNING.contains(&word) || measure::is_relative(word)
}

/// Whether the last word is that of "would like".
fn is_wish(words: &[String]) -> bool {
    let [.., before, last] = words else {
        return false;
    };
    last == "like" && (before == "would" || before.ends_with("'d") || before.ends_with("\u{2019}d"))
}

/// Where values stand that arguments have.
fn taken(said: &Said, filled: &Filled) -> Vec<Range<usize>> {
    let used = filled.used.iter().map(|at| said.literals[*at].span.clone());
    used.chain(filled.places.iter().cloned()).collect()
}

/// The stems of a tool's own words.
struct Own {
    /// Of the names of the server, the tool and the parameters.
    names: BTreeSet<String>,
    /// Of the title and the descriptions.
    texts: BTreeSet<String>,
    /// What is often said for the words of the name and the first sentence.
    meant: BTreeSet<String>,
}

// === impl Own ===

impl Own {
    fn of(entry: &Entry) -> Own {
        let definition = &entry.definition;
        let schema = definition.input_schema();
        let (mut names, mut texts) = (String::new(), String::new());
        for text in [entry.tool.server.as_str(), entry.tool.tool.as_str()] {
            names.extend([text, " "]);
        }
        for text in [definition.title.as_deref(), definition.description.as_deref()] {
            texts.extend([text.unwrap_or_default(), " "]);
        }
        collect(&schema, &mut names, &mut texts);
        let meant = verbs::sentence(entry).flat_map(|word| catalog::meant(&word.to_lowercase()));
        Own {
            meant: meant.map(stem).collect(),
            names: stems(&names),
            texts: stems(&texts),
        }
    }

    fn has(&self, word: &str) -> bool {
        let is_turning = is_turning(word);
        let mut parts = catalog::words(word).map(stem).peekable();
        let is_own = |part: String| {
            self.names.contains(&part)
                || !is_turning && (self.texts.contains(&part) || self.meant.contains(&part))
        };
        parts.peek().is_some() && parts.all(is_own)
    }
}

/// The names and the descriptions of the parameters, those within others too.
fn collect(schema: &Value, names: &mut String, texts: &mut String) {
    let Some(object) = schema.as_object() else {
        return;
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("description" | "title", Value::String(text)) => texts.extend([text.as_str(), " "]),
            ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                for (name, inner) in inner {
                    if key == "properties" {
                        names.extend([name.as_str(), " "]);
                    }
                    collect(inner, names, texts);
                }
            }
            (_, Value::Object(_)) => collect(value, names, texts),
            (_, Value::Array(items)) => items.iter().for_each(|item| collect(item, names, texts)),
            _ => {}
        }
    }
}

fn stems(text: &str) -> BTreeSet<String> {
    catalog::words(text).map(stem).collect()
}

fn stem(word: &str) -> String {
    catalog::stem(word.to_lowercase())
}

/// One step and the call that was found for it.
struct Reading<'a> {
    task: &'a str,
    said: &'a Said,
    filled: &'a Filled,
    verb: Option<&'a str>,
    parameters: Vec<Parameter>,
    taken: Vec<Range<usize>>,
}

// === impl Reading ===

impl Reading<'_> {
    /// Whether the word says nothing, is the verb, or belongs to a value. Values that nothing takes are told elsewhere.
    fn accounts_for(&self, word: &str, place: &Range<usize>) -> bool {
        let covers = |span: &Range<usize>| span.start <= place.start && place.end <= span.end;
        let is_value = |literal: &Literal| literal.kind.is_marked() && covers(&literal.span);
        HARMLESS.contains(&word)
            || self.verb.is_some_and(|verb| stem(verb) == stem(word))
            || self.taken.iter().any(covers)
            || self.said.literals.iter().any(is_value)
            || self.refers(word)
            || !is_turning(word) && self.measures(place)
            || self.leads(word, place)
            || self.bounds(word, place)
    }

    /// Whether it is a word of what stands for an earlier result that is passed.
    fn refers(&self, word: &str) -> bool {
        let mut referred = self.filled.referred.iter().map(|at| &self.said.references[*at]);
        referred.any(|reference| {
            reference
                .text
                .split(' ')
                .any(|own| own.eq_ignore_ascii_case(word))
        })
    }

    /// Whether it is the unit of a number that is passed, which is compared with the tool's, or the scale of its degrees.
    fn measures(&self, place: &Range<usize>) -> bool {
        let mut used = self.filled.used.iter().map(|at| (*at, &self.said.literals[*at]));
        used.any(|(at, literal)| {
            let is_id = self.taker(at).is_some_and(|taker| taker.role == Role::Id);
            let between = self.task.get(literal.span.end..place.start);
            let says = between.map(|between| between.trim_matches([' ', '-']).to_lowercase());
            let is_unit = says.is_some_and(|says| {
                says.is_empty()
                    || matches!(says.as_str(), "degree" | "degrees" | "\u{b0}") && {
                        let scale = self.task[place.clone()].to_lowercase();
                        !units::named(&scale).is_empty()
                    }
            });
            literal.kind == Kind::Number && !is_id && literal.after.is_some() && is_unit
        })
    }

    /// Whether it stands before a value and leads to the parameter that took it: "before 2026-05-01".
    fn leads(&self, word: &str, place: &Range<usize>) -> bool {
        let is_lead = vocabulary::is_preposition(word) || matches!(word, "after" | "before");
        let leads_to = |(at, name): &(usize, String)| {
            let literal = &self.said.literals[*at];
            let mut before = literal.before.iter().map(String::as_str);
            let nearest = before.find(|word| !matches!(*word, "a" | "an" | "the"));
            let is_near = nearest == Some(word) && place.end <= literal.span.start;
            let taker = self.parameters.iter().find(|parameter| parameter.name == *name);
            // Numbers and days are compared with what stands before them.
            let is_compared = matches!(literal.kind, Kind::Number | Kind::Date | Kind::Time);
            is_near && (is_compared || taker.is_some_and(|taker| fill::leads_to(taker, literal) > 0.0))
        };
        is_lead && !CHOOSING.contains(&word) && self.filled.takers.iter().any(leads_to)
    }

    /// Whether it bounds a number for whose bound the parameter is: "at most 50".
    fn bounds(&self, word: &str, place: &Range<usize>) -> bool {
        let mut takers = self.filled.takers.iter();
        takers.any(|(at, _)| {
            let literal = &self.said.literals[*at];
            let between = self.task.get(place.end..literal.span.start);
            let is_before = between.is_some_and(|between| between.trim().is_empty());
            let is_bound = || {
                self.taker(*at)
                    .is_some_and(|taker| fill::is_bound(taker, literal))
            };
            literal.kind == Kind::Number && is_before && measure::is_inexact(word) && is_bound()
        })
    }

    fn taker(&self, literal: usize) -> Option<&Parameter> {
        let taker = self.filled.takers.iter().find(|(at, _)| *at == literal);
        taker.and_then(|(_, name)| self.parameters.iter().find(|parameter| parameter.name == *name))
    }
}
