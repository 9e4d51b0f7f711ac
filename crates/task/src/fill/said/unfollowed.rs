//! Words of time, of repetition and of conditions that no call follows unless one of its parameters takes them.

use std::ops::Range;

use super::Word;
use crate::vocabulary;

/// Words that put off, repeat, restrict or leave open what is asked for, whatever stands around them; `length` knows those in "-ly".
const ALONE: &[&str] = &[
    "again",
    "always",
    "april",
    "august",
    "december",
    "depending",
    "february",
    "friday",
    "fridays",
    "january",
    "july",
    "june",
    "later",
    "maybe",
    "midnight",
    "monday",
    "mondays",
    "newer",
    "noon",
    "november",
    "october",
    "older",
    "overnight",
    "pending",
    "perhaps",
    "saturday",
    "saturdays",
    "september",
    "someday",
    "sometime",
    "sometimes",
    "soon",
    "sunday",
    "sundays",
    "thrice",
    "thursday",
    "thursdays",
    "today's",
    "tomorrow",
    "tomorrow's",
    "tonight",
    "tonight's",
    "tuesday",
    "tuesdays",
    "twice",
    "upon",
    "wednesday",
    "wednesdays",
    "weekdays",
    "weekends",
    "yesterday",
    "yesterday's",
];

/// Words that do so one after the other; `TIME` stands for a span of time.
const TOGETHER: &[&[&str]] = &[
    &["next", TIME],
    &["this", TIME],
    &["coming", TIME],
    &["following", TIME],
    &["last", TIME],
    &["past", TIME],
    &["previous", TIME],
    &["per", TIME],
    &["in", "a", TIME],
    &["in", "an", TIME],
    &["within", "a", TIME],
    &["within", "an", TIME],
    &["in", "the", TIME],
    &["at", TIME],
    &["in", "march"],
    &["in", "may"],
    &["as", "appropriate"],
    &["as", "necessary"],
    &["as", "needed"],
    &["as", "required"],
    &["as", "soon"],
    &["so", "long", "as"],
    &["where", "necessary"],
    &["where", "needed"],
    &["where", "possible"],
    &["in", "the", "event"],
    &["given", "that"],
    &["on", "condition"],
    &["subject", "to"],
    &["from", "now", "on"],
];

/// A span of time in a pattern.
const TIME: &str = "TIME";

/// Spans of time.
const TIMES: &[&str] = &[
    "afternoon",
    "day",
    "evening",
    "fortnight",
    "hour",
    "minute",
    "moment",
    "month",
    "morning",
    "night",
    "quarter",
    "second",
    "time",
    "week",
    "weekend",
    "while",
    "year",
];

/// Words after "should" that make a condition of it: "should she agree".
const SUBJECTS: &[&str] = &[
    "a", "any", "anybody", "anyone", "anything", "he", "her", "his", "i", "it", "my", "nobody", "our", "she",
    "somebody", "someone", "that", "the", "their", "there", "these", "they", "this", "we", "you", "your",
];

/// Words in "-ly" that ask for nothing besides, or that are no adverbs. Others say how, which no call follows: "temporarily".
const FREE: &[&str] = &[
    "actually",
    "assembly",
    "basically",
    "carefully",
    "completely",
    "correctly",
    "directly",
    "entirely",
    "exactly",
    "family",
    "finally",
    "fully",
    "immediately",
    "kindly",
    "literally",
    "merely",
    "mostly",
    "promptly",
    "properly",
    "quickly",
    "really",
    "safely",
    "securely",
    "simply",
    "successfully",
    "supply",
    "totally",
    "truly",
    "urgently",
];

/// Where such words stand. What follows "after" and "before" belongs to them, since a parameter may take it.
pub(super) fn places(words: &[Word<'_>]) -> Vec<Range<usize>> {
    let is_verb = |word: &Word<'_>| {
        !word.is_literal && !vocabulary::is_small(&word.lower) && !vocabulary::is_opening(&word.lower)
    };
    let verb = words.iter().position(is_verb);
    let mut places: Vec<Range<usize>> = Vec::new();
    for at in 0..words.len() {
        let begin = words[at].span.start;
        let Some(last) = length(words, at, verb).map(|length| &words[at + length - 1]) else {
            continue;
        };
        if places.last().is_none_or(|before| before.end <= begin) {
            places.push(begin..last.span.end);
        }
    }
    places
}

/// How many words from `at` on are not followed.
fn length(words: &[Word<'_>], at: usize, verb: Option<usize>) -> Option<usize> {
    let says = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_literal = |at: usize| words.get(at).is_some_and(|word| word.is_literal);
    let matches = |pattern: &[&str]| {
        let mut pattern = pattern.iter().enumerate();
        pattern.all(|(ahead, word)| match *word {
            TIME => TIMES.contains(&says(at + ahead)),
            word => says(at + ahead) == word,
        })
    };
    let is_adverb = says(at).len() > 4
        && says(at).ends_with("ly")
        && !FREE.contains(&says(at))
        && !vocabulary::is_imperative(says(at));
    if ALONE.contains(&says(at)) || is_adverb {
        return Some(1);
    }
    if let Some(pattern) = TOGETHER.iter().find(|pattern| matches(pattern)) {
        return Some(pattern.len());
    }
    match says(at) {
        // "Cancel every order" is about the orders.
        "each" | "every" if verb.is_none_or(|verb| at != verb + 1) => {
            Some(if says(at + 1).is_empty() { 1 } else { 2 })
        }
        // "What should I pack" asks.
        "should" if at > 0 && vocabulary::is_question(says(at - 1)) => None,
        "should" if SUBJECTS.contains(&says(at + 1)) || is_literal(at + 1) => Some(2),
        "after" | "before" => {
            let value = at + 1 + usize::from(!is_literal(at + 1));
            // "After Ann agrees" is no value.
            let is_clause = !says(value + 1).is_empty()
                && !words[value].ends
                && !vocabulary::is_small(says(value + 1))
                && !vocabulary::is_preposition(says(value + 1));
            Some(if is_literal(value) && !is_clause {
                value + 1 - at
            } else {
                1
            })
        }
        _ => None,
    }
}
