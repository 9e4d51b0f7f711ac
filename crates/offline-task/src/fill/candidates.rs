//! Possible arguments in a clause, each with the words around it.

use crate::clauses::Clause;
use crate::vocabulary::{self, DETERMINERS, PREPOSITIONS, REFERRING, WordList};
use crate::words::{Pause, Word, WordKind};

/// A word that may be a value.
#[derive(Debug, Clone)]
pub(crate) struct Candidate<'a> {
    pub(crate) word: &'a Word,
    /// Index in the clause.
    pub(crate) at: usize,
    /// The word that leads to the value, or empty.
    pub(crate) lead: &'a str,
    pub(crate) lead_at: Option<usize>,
    /// The word after the value, or empty.
    pub(crate) after: &'a str,
    /// An article or possessive stands before or after the value.
    pub(crate) is_noun: bool,
    /// The value follows a number: "10 km".
    pub(crate) is_unit: bool,
}

/// Words skipped between a value and the word that leads to it.
const FILLERS: WordList = WordList("a an be equal equals is of the value");

/// Every word of the clause, in order.
pub(super) fn candidates<'a>(clause: &Clause<'a>) -> impl Iterator<Item = Candidate<'a>> {
    let words = clause.words;
    (0..words.len()).map(|at| Candidate::read(words, at))
}

// === impl Candidate ===

impl<'a> Candidate<'a> {
    fn read(words: &'a [Word], at: usize) -> Candidate<'a> {
        let word = &words[at];
        let previous = at
            .checked_sub(1)
            .map(|at| &words[at])
            .filter(|before| before.pause == Pause::None);
        let is_after_number = previous.is_some_and(|before| before.kind == WordKind::Number);
        let is_unit = word.kind != WordKind::Number && is_after_number;
        let mut before = (0..at).rev().filter(|_| !is_unit);
        let lead_at = before.find(|at| !FILLERS.has(&words[*at].lower));
        let next = words.get(at + 1).filter(|_| word.pause == Pause::None);
        let after = next.map_or("", |next| next.lower.as_str());
        Candidate {
            word,
            at,
            // "100 USD to EUR" converts from USD.
            lead: lead_at.map_or(if is_unit { "from" } else { "" }, |at| &words[at].lower),
            lead_at,
            after,
            is_noun: after == "s" || previous.is_some_and(|before| DETERMINERS.has(&before.lower)),
            is_unit,
        }
    }

    /// Whether a plain word may be a value: it follows a preposition or a number and ends its
    /// phrase. In "for birthday parties" the words describe each other.
    pub(super) fn is_word_of_value(&self) -> bool {
        let word = self.word.lower.as_str();
        let says = vocabulary::is_content(word) && !REFERRING.has(word) && !vocabulary::is_time(word);
        let is_next = self.lead_at.is_some_and(|at| at + 1 == self.at);
        says && (self.is_unit || is_next && PREPOSITIONS.has(self.lead))
            && !vocabulary::is_content(self.after)
    }
}
