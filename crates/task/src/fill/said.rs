//! What one step of a task says: its words, its literals with phrases and units, and what it refers to.

mod unfollowed;

use std::ops::Range;

use crate::literals::{Kind, Literal};
use crate::parameters::{Parameter, Role};
use crate::{places, vocabulary};

/// What one step says.
#[derive(Debug)]
pub(crate) struct Said {
    /// Its words in small letters, without those in quotation marks.
    pub(crate) words: Vec<String>,
    /// Where each of the words stands in the task.
    pub(crate) places: Vec<Range<usize>>,
    /// In their order; phrases and units, which may be part of others, after the marked ones.
    pub(crate) literals: Vec<Literal>,
    pub(crate) references: Vec<Reference>,
    /// Whether it asks for an answer, and for nothing to be done.
    pub(crate) is_question: bool,
    /// Words that turn something round: where they stand among the words, none for one within a name, and what they are.
    pub(crate) negations: Vec<(Option<usize>, String)>,
    /// Where it has words of time, repetition or condition that are followed only if a parameter takes them.
    pub(crate) unfollowed: Vec<Range<usize>>,
}

/// A word that stands for the result of an earlier step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    /// As the step has it.
    pub(crate) text: String,
    /// What of the result is meant: "the temperature", "that many cities".
    pub(crate) noun: Option<String>,
    /// Whether the word itself refers; "the temperature" does only if a result has one.
    pub(crate) is_certain: bool,
    /// Whether it counts something: "that many".
    pub(crate) counts: bool,
}

/// A plain word and where it stands; a literal is one word with nothing to say.
struct Word<'a> {
    span: Range<usize>,
    text: &'a str,
    lower: String,
    is_literal: bool,
    /// Whether a comma or the like follows.
    ends: bool,
}

// === impl Said ===

impl Said {
    /// Reads the step that stands at `span` of the task.
    pub(crate) fn read(task: &str, span: &Range<usize>, literals: &[Literal]) -> Said {
        let inside = |literal: &&Literal| literal.span.start >= span.start && literal.span.end <= span.end;
        let marked: Vec<Literal> = literals.iter().filter(inside).cloned().collect();
        let words = words(task, span, &marked);
        let mut literals = with_origins(task, marked);
        let units: Vec<Literal> = units(task, &literals);
        literals.extend(phrases(&words));
        literals.extend(units);
        let named = literals
            .iter()
            .filter(|literal| matches!(literal.kind, Kind::Name | Kind::Code));
        let said = named.flat_map(|literal| {
            let words = literal.text().into_iter().flat_map(catalog::words);
            words.map(|word| (word.to_lowercase(), literal.span.clone()))
        });
        let plain = words.iter().filter(|word| !word.is_literal);
        let plain = plain.map(|word| (word.lower.clone(), word.span.clone()));
        let (spoken, places) = plain.chain(said).unzip();
        Said {
            references: references(&words),
            is_question: is_question(&task[span.clone()]),
            negations: negations(&words, &literals),
            unfollowed: unfollowed::places(&words),
            words: spoken,
            places,
            literals,
        }
    }

    /// What a search is asked: the words, and for each literal what it is; names that `is_known` has are kept.
    pub(crate) fn query(&self, task: &str, span: &Range<usize>, is_known: &dyn Fn(&str) -> bool) -> String {
        let mut query = String::new();
        let mut at = span.start;
        for literal in self.literals.iter().filter(|literal| literal.kind.is_marked()) {
            query.push_str(task.get(at..literal.span.start).unwrap_or_default());
            let kept = literal.text().filter(|text| {
                matches!(literal.kind, Kind::Name | Kind::Code) && catalog::words(text).any(is_known)
            });
            // `acme/site` and `Europe/Berlin` may be something else than files.
            let is_file =
                |text: &str| text.contains('.') || text.starts_with(['/', '~']) || text.ends_with('/');
            let is_other = literal.kind == Kind::Path && !literal.text().is_some_and(is_file);
            let spoken = if is_other { "" } else { literal.kind.spoken() };
            query.push_str(kept.unwrap_or(spoken));
            query.push(' ');
            at = literal.span.end.max(at);
        }
        query.push_str(task.get(at..span.end).unwrap_or_default());
        query.push_str(self.asked_otherwise());
        let words = query.split_whitespace();
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let words: Vec<&str> = words
            .filter(|word| !vocabulary::is_referring(&bare(word)))
            .collect();
        words.join(" ")
    }

    /// What tools say for what people ask in other words: "how late is it", "what day is it".
    fn asked_otherwise(&self) -> &'static str {
        let says = |word: &str| self.words.iter().any(|own| own == word);
        let is_of_now = self.is_question && (says("it") || says("today") || says("now"));
        let is_of_clock = self.words.iter().any(|word| places::is_of_clock(word));
        match is_of_now && is_of_clock && !says("time") {
            true => " current time",
            false => "",
        }
    }

    /// Its first word that is not small, which is a verb in most; what "do" and "have" ask for: "do a sum", "have it shipped".
    pub(crate) fn verb(&self) -> Option<&str> {
        let says = |word: &&str| !vocabulary::is_small(word) && !vocabulary::is_opening(word);
        let mut words = self.words.iter().map(String::as_str).filter(says);
        let is_done = |word: &&str| word.ends_with("ed");
        match words.next() {
            Some("do") => words.next().or_else(|| {
                let mut literals = self.literals.iter();
                let reckons = literals.any(|literal| literal.kind == Kind::Expression);
                reckons.then_some("compute")
            }),
            Some("have") => words.filter(is_done).find_map(vocabulary::imperative_of),
            first => first,
        }
    }

    /// Whether an article makes a noun of that word.
    pub(crate) fn begins_with_noun(&self) -> bool {
        let verb = self.verb();
        let at = self.words.iter().position(|word| Some(word.as_str()) == verb);
        let before = at.and_then(|at| self.words.get(at.checked_sub(1)?));
        if self.words.first().is_some_and(|word| word == "do") {
            return false;
        }
        before.is_some_and(|word| vocabulary::is_determiner(word))
    }

    /// Whether "of" right after its first word makes a noun of that: "transfer of 50 dollars failed".
    pub(crate) fn tells_of_deed(&self) -> bool {
        let is_next = self
            .places
            .get(..2)
            .is_some_and(|places| places[0].end + 1 == places[1].start);
        let says = self.words.get(..2);
        is_next && says.is_some_and(|words| vocabulary::is_imperative(&words[0]) && words[1] == "of")
    }

    /// Whether it leaves a choice: "or" between two values, or anywhere.
    pub(crate) fn leaves_choice(&self, task: &str, is_anywhere: bool) -> bool {
        let is_between = |pair: &[Literal]| {
            let between = task.get(pair[0].span.end..pair[1].span.start).unwrap_or_default();
            matches!(between.trim(), "or" | ", or")
        };
        is_anywhere && self.words.iter().any(|word| word == "or") || self.literals.windows(2).any(is_between)
    }

    /// Whether it has a word after "to", which may be where something is to go; "to it" says nothing.
    pub(crate) fn leads_somewhere(&self) -> bool {
        let leads = |pair: &[String]| {
            matches!(pair[0].as_str(), "as" | "into" | "onto" | "to") && !vocabulary::is_referring(&pair[1])
        };
        self.words.windows(2).any(leads)
    }

    /// Whether it is nothing but a greeting or thanks.
    pub(crate) fn is_courtesy(&self) -> bool {
        self.words.iter().all(|word| vocabulary::is_courtesy(word))
            && self.literals.iter().all(|literal| !literal.kind.is_marked())
    }

    /// Whether a literal could hardly be meant for anything but a parameter.
    pub(crate) fn tells(&self, parameter: &Parameter, literal: &Literal) -> bool {
        let is_calculation = parameter.role == Role::Expression && literal.kind == Kind::Expression;
        let asks_time = || self.words.iter().any(|word| places::is_of_clock(word));
        is_calculation || parameter.zone(literal).is_some() && asks_time()
    }

    /// Whether it only asks to see what came before.
    pub(crate) fn only_shows(&self) -> bool {
        let counts = |word: &&String| !vocabulary::is_small(word) && !vocabulary::is_referring(word);
        let mut words = self.words.iter().filter(counts);
        let is_bare = self.literals.iter().all(|literal| !literal.kind.is_marked());
        is_bare && words.next().is_some_and(|word| vocabulary::is_showing(word)) && words.next().is_none()
    }
}

/// Who is asked or asked about where a sentence begins with "do", "have" or "will".
const ASKED: &[&str] = &["he", "i", "she", "they", "we", "you"];

/// Whether a sentence asks for an answer; "can you" and the like ask for a deed.
fn is_question(sentence: &str) -> bool {
    let words: Vec<String> = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .skip_while(|word| vocabulary::is_opening(word) && !word.contains('\'') && word != "like")
        .collect();
    let says = |at: usize| {
        words.get(at).map_or("", |word| {
            word.split(['\'', '\u{2019}']).next().unwrap_or_default()
        })
    };
    if matches!(says(0), "can" | "could" | "will" | "would") && says(1) == "you" {
        return false;
    }
    // "Do it now", "have it shipped": they ask only of somebody.
    let is_asked = !matches!(says(0), "do" | "have" | "will") || ASKED.contains(&says(1));
    let wonders = |word: &String| matches!(word.as_str(), "know" | "wonder" | "wondering");
    let asks = |word: &String| matches!(word.as_str(), "how" | "whether" | "why");
    let is_told = vocabulary::is_imperative(says(0));
    // "Ship what is left" tells nothing.
    let is_of = |at: usize| is_told && at > 0 && matches!(says(at - 1), "that" | "what" | "which" | "who");
    let tells = |at: usize| matches!(says(at), "are" | "had" | "has" | "is" | "was" | "were") && !is_of(at);
    let ends = sentence.trim_end_matches(['"', '\'', ')', ' ']).ends_with('?');
    ends || vocabulary::is_question(says(0)) && is_asked
        || (0..3).any(tells)
        || words.iter().take(5).any(wonders)
        || !is_told && words.iter().any(asks)
}

fn negations(words: &[Word<'_>], literals: &[Literal]) -> Vec<(Option<usize>, String)> {
    let plain = words.iter().filter(|word| !word.is_literal).enumerate();
    let plain = plain.map(|(at, word)| (Some(at), word.lower.clone()));
    let named = literals
        .iter()
        .filter(|literal| literal.kind == Kind::Name && literal.key.is_none())
        .filter_map(Literal::text)
        .flat_map(str::split_whitespace)
        .map(|word| (None, word.to_lowercase()));
    let turns = |(_, word): &(Option<usize>, String)| vocabulary::is_negation(word);
    plain.chain(named).filter(turns).collect()
}

fn words<'a>(task: &'a str, span: &Range<usize>, literals: &[Literal]) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    let mut at = span.start;
    for literal in literals {
        words.extend(plain(task, at..literal.span.start.max(at)));
        words.push(Word {
            span: literal.span.clone(),
            text: "",
            lower: String::new(),
            is_literal: true,
            ends: task[literal.span.end..].starts_with([',', ';', '.']),
        });
        at = literal.span.end.max(at);
    }
    words.extend(plain(task, at..span.end.max(at)));
    words
}

fn plain(task: &str, span: Range<usize>) -> impl Iterator<Item = Word<'_>> {
    let from = span.start;
    let text = &task[span];
    text.split_whitespace().filter_map(move |raw| {
        let start = from + (raw.as_ptr() as usize - text.as_ptr() as usize);
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let begin = start + (word.as_ptr() as usize - raw.as_ptr() as usize);
        (!word.is_empty()).then(|| Word {
            span: begin..begin + word.len(),
            text: word,
            lower: word.to_lowercase(),
            is_literal: false,
            ends: raw.ends_with([',', ';', ':', '.']),
        })
    })
}

/// A name right after a number is what it counts or is measured in, as in "100 USD to EUR".
fn with_origins(task: &str, mut literals: Vec<Literal>) -> Vec<Literal> {
    for at in 1..literals.len() {
        let [before, literal] = &mut literals[at - 1..=at] else {
            continue;
        };
        let adjacent = before.kind == Kind::Number && &task[before.span.end..literal.span.start] == " ";
        if adjacent && literal.kind == Kind::Name {
            literal.before.insert(0, "from".to_owned());
        }
    }
    literals
}

/// The units of the numbers, as what something is converted from.
fn units(task: &str, literals: &[Literal]) -> Vec<Literal> {
    let numbers = literals.iter().filter(|literal| literal.kind == Kind::Number);
    let unit = |number: &Literal| {
        let length = number.after.as_ref()?.len();
        let rest = &task[number.span.end..];
        let start = number.span.end + rest.len() - rest.trim_start_matches([' ', '-']).len();
        let text = task.get(start..start + length)?;
        let taken = literals.iter().any(|other| other.span.contains(&start));
        (!taken && text.starts_with(char::is_alphabetic)).then(|| Literal {
            span: start..start + length,
            kind: Kind::Unit,
            value: text.into(),
            key: None,
            before: vec!["from".to_owned()],
            after: None,
        })
    };
    numbers.filter_map(unit).collect()
}

/// Plain words after a preposition, and those after the first word, which may be the object of the instruction.
fn phrases(words: &[Word<'_>]) -> Vec<Literal> {
    let mut phrases = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let begins =
            at == 0 && vocabulary::is_imperative(&word.lower) || vocabulary::is_preposition(&word.lower);
        if begins && !word.ends {
            phrases.extend(phrases_after(words, at));
        }
    }
    phrases
}

/// The words after the one at `at`, up to the next preposition, literal or comma; "and" parts them.
fn phrases_after(words: &[Word<'_>], at: usize) -> Vec<Literal> {
    let stops = |word: &&Word<'_>| !word.is_literal && !vocabulary::is_preposition(&word.lower);
    let mut following: Vec<&Word<'_>> = Vec::new();
    for word in words[at + 1..].iter().take_while(stops) {
        following.push(word);
        if word.ends {
            break;
        }
    }
    // What stands right before a literal says what that is.
    let qualifies = words
        .get(at + 1 + following.len())
        .is_some_and(|next| next.is_literal)
        && !following.last().is_some_and(|last| last.ends);
    if qualifies {
        return Vec::new();
    }
    let parts = following.split(|word| matches!(word.lower.as_str(), "and" | "or"));
    parts
        .flat_map(|part| [phrase(part, &words[at].lower), named(part)])
        .flatten()
        .collect()
}

/// "users" of "the table users": a word that follows what it may be the name of.
fn named(words: &[&Word<'_>]) -> Option<Literal> {
    let mut plain = words.iter().filter(|word| !vocabulary::is_small(&word.lower));
    let (noun, word) = (plain.next()?, plain.next()?);
    let article = words.iter().rfind(|before| before.span.end <= noun.span.start);
    let mut named = phrase(&[word], &noun.lower).filter(|_| plain.next().is_none())?;
    named.before.extend(article.map(|article| article.lower.clone()));
    Some(named)
}

fn phrase(words: &[&Word<'_>], before: &str) -> Option<Literal> {
    let first = words.iter().position(|word| !vocabulary::is_small(&word.lower))?;
    let article = words[..first].last().map(|word| word.lower.clone());
    let words = &words[first..];
    let says = |word: &&Word<'_>| {
        !vocabulary::is_relative_time(&word.lower) && !vocabulary::is_referring(&word.lower)
    };
    let (begin, end) = (words.first()?, words.last()?);
    let text: Vec<&str> = words.iter().map(|word| word.text).collect();
    words.iter().all(says).then(|| Literal {
        span: begin.span.start..end.span.end,
        kind: Kind::Phrase,
        value: text.join(" ").into(),
        key: None,
        before: [before.to_owned()].into_iter().chain(article).collect(),
        after: None,
    })
}

/// Whether the words stand for something that is elsewhere, and are not meant as they stand: "the notes", "Ann's notes".
pub(super) fn is_thing(task: &str, literal: &Literal) -> bool {
    let is_phrase = literal.kind == Kind::Phrase;
    // A phrase has the word that leads to it first, then its article.
    let before = literal.before.iter().take(if is_phrase { 2 } else { 1 });
    let text = literal.text().unwrap_or_default().to_lowercase();
    let own = text.split(' ').filter(|_| is_phrase);
    let owns = |word: &str| word.ends_with("'s") || word.ends_with("\u{2019}s");
    let mut words = own.chain(before.map(String::as_str));
    // A name stands without its "'s".
    let after = task[literal.span.end..].split(' ').next().unwrap_or_default();
    owns(after) || words.any(|word| vocabulary::is_determiner(word) || owns(word))
}

/// What the words refer to of what came before.
fn references(words: &[Word<'_>]) -> Vec<Reference> {
    let mut references = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = |ahead: usize| words.get(at + ahead).filter(|word| !word.is_literal);
        let noun = |ahead: usize| {
            let word = next(ahead).filter(|_| !word.ends)?;
            let is_noun = !vocabulary::is_small(&word.lower) && !vocabulary::is_preposition(&word.lower);
            is_noun.then(|| word.lower.clone())
        };
        let counts = word.lower == "that" && next(1).is_some_and(|next| next.lower == "many");
        let is_certain = vocabulary::is_referring(&word.lower);
        if !is_certain && word.lower != "the" {
            continue;
        }
        let noun = match word.lower.as_str() {
            "it" | "them" => None,
            "that" if counts => noun(2),
            _ => noun(1).filter(|noun| !vocabulary::is_referring(noun)),
        };
        if !is_certain && noun.is_none() {
            continue;
        }
        let shown = match (&noun, counts) {
            (Some(noun), true) => format!("{} many {noun}", word.text),
            (Some(noun), false) => format!("{} {noun}", word.text),
            (None, _) => word.text.to_owned(),
        };
        references.push(Reference {
            text: shown,
            noun,
            is_certain,
            counts,
        });
    }
    references
}
