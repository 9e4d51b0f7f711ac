//! English words of sentence structure, and verbs of instructions.
//!
//! No word here names a tool.

/// Lower-case words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordList(pub(crate) &'static str);

// === impl WordList ===

impl WordList {
    pub(crate) fn has(self, word: &str) -> bool {
        self.0.split_whitespace().any(|listed| listed == word)
    }
}

/// Verbs that begin an instruction; the first words of tools' names count too.
pub(crate) const VERBS: WordList = WordList(include_str!("../data/words/verbs.txt"));
/// First words of tools that change nothing: verbs of reading and calculating, nouns for what they report.
const READ_ONLY: WordList = WordList(include_str!("../data/words/reading.txt"));
/// One group of synonyms per line.
const SYNONYMS: &str = include_str!("../data/words/synonyms.txt");
/// Verbs that are nouns as often: "name and email", `order_status`.
pub(crate) const NOUNS: WordList = WordList("email group list mail order plan record report review train");
/// Words that negate a sentence; words that end in "n't" count too.
const NEGATIONS: WordList = WordList(include_str!("../data/words/negations.txt"));
/// Greetings, thanks and other words before an instruction.
pub(crate) const COURTESY: WordList = WordList(include_str!("../data/words/courtesy.txt"));
pub(crate) const QUESTIONS: WordList = WordList(include_str!("../data/words/questions.txt"));
/// Words for the result of an earlier step.
pub(crate) const REFERRING: WordList = WordList(include_str!("../data/words/referring.txt"));
/// Words without a meaning of their own.
pub(crate) const STOP_WORDS: WordList = WordList(include_str!("../data/words/small.txt"));
/// Articles and possessives; a noun follows.
pub(crate) const DETERMINERS: WordList = WordList("a an another any her his its my our some the their your");
/// Words that make their clause conditional.
pub(crate) const CONDITIONS: WordList = WordList(include_str!("../data/words/conditions.txt"));
/// Words that introduce a value, also verb forms such as `called` and `containing`.
pub(crate) const PREPOSITIONS: WordList = WordList(include_str!("../data/words/prepositions.txt"));
/// Words that ask for the time or the date.
pub(crate) const ASKS_FOR_TIME: WordList = WordList(include_str!("../data/words/clock.txt"));
/// Words of time and repetition, such as `tomorrow`, `again` and `weekly`.
const TIME_WORDS: WordList = WordList(include_str!("../data/words/times.txt"));
/// Words that an instruction may contain without passing them to the tool. For tools that only read,
/// `coverage::is_empty` allows more.
const IGNORABLE: WordList = WordList(include_str!("../data/words/harmless.txt"));

pub(crate) fn is_negation(word: &str) -> bool {
    NEGATIONS.has(word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
}

/// Whether a tool that begins with the word changes nothing.
pub(crate) fn is_read_only(word: &str) -> bool {
    READ_ONLY.has(word) || word.strip_suffix('s').is_some_and(|word| READ_ONLY.has(word))
}

pub(crate) fn are_synonyms(one: &str, other: &str) -> bool {
    SYNONYMS.lines().any(|group| {
        [one, other]
            .iter()
            .all(|verb| group.split(' ').any(|word| word == *verb))
    })
}

/// Whether the word leaves an instruction's meaning unchanged.
pub(crate) fn is_harmless(word: &str) -> bool {
    IGNORABLE.has(word)
}

pub(crate) fn is_content(word: &str) -> bool {
    !word.is_empty() && !STOP_WORDS.has(word) && !PREPOSITIONS.has(word)
}

/// Whether the word is about time or repetition, such as `tomorrow`, `weekly` or `now`.
pub(crate) fn is_time(word: &str) -> bool {
    TIME_WORDS.has(word) || ASKS_FOR_TIME.has(word)
}
