//! English words that say how a sentence is built, and the verbs of instructions.
//!
//! No word here names a tool.

/// A list of words in small letters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordList(pub(crate) &'static str);

// === impl WordList ===

impl WordList {
    pub(crate) fn has(self, word: &str) -> bool {
        self.0.split_whitespace().any(|listed| listed == word)
    }
}

/// Verbs that begin an instruction. The first words of tools count as verbs too.
pub(crate) const VERBS: WordList = WordList(include_str!("../data/words/verbs.txt"));
/// First words of tools that change nothing: verbs of reading and reckoning, and nouns for what they report.
const READING: WordList = WordList(include_str!("../data/words/reading.txt"));
/// A group of verbs that people say for each other a line.
const SYNONYMS: &str = include_str!("../data/words/synonyms.txt");
/// Verbs that are nouns as often: "name and email", `order_status`.
pub(crate) const NOUNS: WordList = WordList("email group list mail order plan record report review train");
/// Words that reverse what is said. Words that end in "n't" count too.
const NEGATIONS: WordList = WordList(include_str!("../data/words/negations.txt"));
/// Greetings, thanks and other words that may stand before an instruction.
pub(crate) const COURTESY: WordList = WordList(include_str!("../data/words/courtesy.txt"));
/// Words that begin a question.
pub(crate) const QUESTIONS: WordList = WordList(include_str!("../data/words/questions.txt"));
/// Words that refer to the result of an earlier step.
pub(crate) const REFERRING: WordList = WordList(include_str!("../data/words/referring.txt"));
/// Words that carry no meaning of their own.
pub(crate) const SMALL: WordList = WordList(include_str!("../data/words/small.txt"));
/// Articles and possessives: the word after them is a noun.
pub(crate) const DETERMINERS: WordList = WordList("a an another any her his its my our some the their your");
/// Words that make their clause depend on something.
pub(crate) const CONDITIONS: WordList = WordList(include_str!("../data/words/conditions.txt"));
/// Words that lead to a value.
pub(crate) const PREPOSITIONS: WordList = WordList(include_str!("../data/words/prepositions.txt"));
/// Words by which people ask for the time or the day.
pub(crate) const CLOCK: WordList = WordList(include_str!("../data/words/clock.txt"));
/// Words of time and repetition, and times that only a clock knows.
const TIMES: WordList = WordList(include_str!("../data/words/times.txt"));
/// Words that an instruction may have beside its values where a tool changes something.
const HARMLESS: WordList = WordList(include_str!("../data/words/harmless.txt"));

pub(crate) fn is_negation(word: &str) -> bool {
    NEGATIONS.has(word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
}

/// Whether a tool whose name or description begins with the word changes nothing.
pub(crate) fn is_reading(word: &str) -> bool {
    READING.has(word) || word.strip_suffix('s').is_some_and(|word| READING.has(word))
}

/// Whether people say the one verb for the other.
pub(crate) fn are_synonyms(one: &str, other: &str) -> bool {
    SYNONYMS.lines().any(|group| {
        [one, other]
            .iter()
            .all(|verb| group.split(' ').any(|word| word == *verb))
    })
}

/// Whether the word changes nothing of what an instruction asks for.
pub(crate) fn is_harmless(word: &str) -> bool {
    HARMLESS.has(word)
}

/// Whether the word says something by itself.
pub(crate) fn is_content(word: &str) -> bool {
    !word.is_empty() && !SMALL.has(word) && !PREPOSITIONS.has(word)
}

/// Whether the word is a time that only a clock knows.
pub(crate) fn is_time(word: &str) -> bool {
    TIMES.has(word) || CLOCK.has(word)
}
