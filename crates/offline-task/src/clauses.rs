//! Step 2: the clauses of a task, one for each instruction or question.

use std::ops::Range;

use crate::vocabulary::{self, ASKS_FOR_TIME, CONDITIONS, COURTESY, DETERMINERS, NOUNS, QUESTIONS, WordList};
use crate::words::{Pause, Word};

#[derive(Debug, Clone)]
pub(crate) struct Clause<'a> {
    pub(crate) words: &'a [Word],
    /// The clause is a condition or repetition, or depends on one.
    pub(crate) is_conditional: bool,
    pub(crate) is_question: bool,
    /// Index of the word that says what to do; `None` in a question.
    pub(crate) verb: Option<usize>,
    /// Only courtesy stands before the verb.
    pub(crate) is_instruction: bool,
}

/// Words that join an instruction to the one before.
const JOINING: WordList = WordList(include_str!("../data/words/joining.txt"));

/// Words that may stand before the verb of an instruction: "I would like to".
const OPENING: WordList = WordList("i i'd let let's like need to us want we we'd would");

/// After these, a possible verb is a noun: "email of a customer".
const AFTER_NOUNS: WordList = WordList("and are is of or was were");

// === impl Clause ===

impl<'a> Clause<'a> {
    /// Reads a clause without its joining words; `None` for greetings and thanks.
    fn read(words: &'a [Word]) -> Option<Clause<'a>> {
        let first = words.iter().position(|word| !JOINING.has(&word.lower))?;
        let words =
            Some(&words[first..]).filter(|words| words.iter().any(|word| !COURTESY.has(&word.lower)))?;
        let says = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
        let count = |from: usize, is_it: &dyn Fn(&str) -> bool| {
            from + words[from..].iter().take_while(|word| is_it(&word.lower)).count()
        };
        let first = count(0, &|word| COURTESY.has(word));
        // "Could you" asks for an action.
        let asks = matches!(
            (says(first), says(first + 1)),
            ("can" | "could" | "will" | "would", "you")
        );
        let begins = says(first).split(['\'', '\u{2019}']).next().unwrap_or_default();
        let is_asked = words.last().is_some_and(|word| word.pause == Pause::Question);
        let is_question = !asks && (is_asked || QUESTIONS.has(begins));
        let is_opening = |word: &str| OPENING.has(word) || COURTESY.has(word);
        let start = count(first + 2 * usize::from(asks), &is_opening);
        let noun = count(start, &|word| DETERMINERS.has(word));
        let verb = Some(noun).filter(|at| !is_question && !says(*at).is_empty());
        // "When is it due" asks for a time.
        let asks_when = begins == "when" && QUESTIONS.has(says(first + 1));
        let repeats = says(0) == "for" && matches!(says(1), "all" | "each" | "every");
        let mut rest = words[first + usize::from(asks_when)..].iter();
        Some(Clause {
            words,
            is_conditional: repeats || rest.any(|word| CONDITIONS.has(&word.lower)),
            is_question,
            verb: verb.or_else(|| {
                let says = |word: &Word| vocabulary::is_content(&word.lower);
                words.iter().position(says).filter(|_| !is_question)
            }),
            is_instruction: noun == start && verb.is_some(),
        })
    }

    /// Bytes of the clause in the task.
    pub(crate) fn span(&self) -> Range<usize> {
        let start = self.words.first().map_or(0, |word| word.span.start);
        start..self.words.last().map_or(start, |word| word.span.end)
    }

    pub(crate) fn verb(&self) -> Option<&str> {
        self.verb.map(|at| self.words[at].lower.as_str())
    }

    /// Whether the word is the verb, or precedes an instruction's verb: "could you please".
    pub(crate) fn is_verb(&self, at: usize) -> bool {
        let is_before = |verb| at == verb || self.is_instruction && at < verb;
        self.verb.is_some_and(is_before)
    }

    /// Whether the clause asks for the time or the date.
    pub(crate) fn asks_for_time(&self) -> bool {
        self.words.iter().any(|word| ASKS_FOR_TIME.has(&word.lower))
    }
}

pub(crate) fn clauses<'a>(words: &'a [Word], is_verb: &dyn Fn(&str) -> bool) -> Vec<Clause<'a>> {
    let is_new_sentence = |at: usize| at == 0 || words[at - 1].ends_sentence();
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    let mut start = 0;
    let mut is_conditional = false;
    for end in 1..=words.len() {
        if end < words.len() && !is_new_sentence(end) && !begins(words, end, is_verb) {
            continue;
        }
        // The rest of the sentence after a condition may depend on it.
        is_conditional &= !is_new_sentence(start);
        if let Some(mut clause) = Clause::read(&words[start..end]) {
            is_conditional |= clause.is_conditional;
            clause.is_conditional = is_conditional;
            clauses.push(clause);
        }
        start = end;
    }
    clauses
}

/// Whether the word at `at` begins an instruction inside a sentence.
fn begins(words: &[Word], at: usize, is_verb: &dyn Fn(&str) -> bool) -> bool {
    let (before, word) = (&words[at - 1], &words[at]);
    if JOINING.has(&before.lower) {
        return false;
    }
    let is_parted = before.pause == Pause::Comma;
    let joining = words[at..].iter().take_while(|word| JOINING.has(&word.lower));
    let count = joining.count();
    let has_then = words[at..at + count].iter().any(|word| word.lower == "then");
    let is_joined = is_parted || word.lower == "and";
    let is_condition = is_parted && CONDITIONS.has(&word.lower);
    has_then || is_condition || is_joined && begins_instruction(&words[at + count..], is_verb)
}

fn begins_instruction(words: &[Word], is_verb: &dyn Fn(&str) -> bool) -> bool {
    match words {
        [word, ..] if word.pause == Pause::Comma || !is_verb(&word.lower) => false,
        [_, next, ..] => !AFTER_NOUNS.has(&next.lower),
        [word] => !NOUNS.has(&word.lower),
        [] => false,
    }
}
