//! Cutting a task into its steps: at sentence ends, at lines, and where "and", "then" or a comma stands before a verb.

use std::ops::Range;

use crate::literals::Literal;
use crate::vocabulary;

/// One instruction of the task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clause {
    /// Where it begins, with what joins it to the one before.
    pub(crate) begins: usize,
    /// Where it stands in the text.
    pub(crate) span: Range<usize>,
    /// Whether it is, or depends on, a condition or a repetition.
    pub(crate) is_conditional: bool,
    /// Whether it only tells something, for the instruction before it perhaps.
    pub(crate) is_telling: bool,
}

/// Words that join an instruction to the one before it.
const JOINING: &[&str] = &[
    "after",
    "afterwards",
    "also",
    "and",
    "finally",
    "first",
    "firstly",
    "lastly",
    "next",
    "please",
    "second",
    "secondly",
    "that",
    "then",
    "third",
];

/// Words after which an instruction begins in any case.
const ALWAYS: &[&str] = &["afterwards", "finally", "lastly", "then"];

/// After these a word that may be a verb is a noun: "email of a customer".
const AFTER_NOUNS: &[&str] = &["and", "are", "is", "of", "or", "was", "were"];

/// Verbs that are nouns where nothing follows them: "name and email".
const NOUNS: &[&str] = &[
    "archive", "call", "change", "copy", "count", "display", "email", "format", "group", "list", "mail",
    "order", "plan", "post", "record", "report", "review", "search", "set", "share", "sum", "tag", "test",
    "train", "update", "watch",
];

/// Verbs that ask whether something is so, which is no condition.
const ASKING: &[&str] = &[
    "ask",
    "check",
    "determine",
    "know",
    "see",
    "tell",
    "verify",
    "wonder",
];

/// One word and where it stands.
struct Word<'a> {
    span: Range<usize>,
    /// In small letters, without punctuation.
    says: String,
    /// As it stands.
    raw: &'a str,
}

/// The instructions of a text in their order. No cut goes through a literal.
pub(crate) fn clauses(text: &str, literals: &[Literal], is_verb: &dyn Fn(&str) -> bool) -> Vec<Clause> {
    let words = words(text, literals);
    let mut clauses = Vec::new();
    let mut start = 0;
    for at in 0..words.len() {
        // What is told has verbs of its own.
        let tells = is_telling(&words[start..]) && !is_new_sentence(text, &words, at);
        if at > start && !tells && begins(text, &words, at, is_verb) {
            clauses.extend(clause(&words[start..at]));
            start = at;
        }
    }
    clauses.extend(clause(&words[start..]));
    let is_sentence = |at: usize| {
        let first = words.iter().position(|word| word.span.start == at);
        first.is_some_and(|at| is_new_sentence(text, &words, at))
    };
    for at in 1..clauses.len() {
        // Of what follows a condition in its sentence nobody knows whether it is part of it.
        clauses[at].is_conditional |= clauses[at - 1].is_conditional && !is_sentence(clauses[at].begins);
    }
    clauses
}

/// The words of a text; a literal is one word.
fn words<'a>(text: &'a str, literals: &[Literal]) -> Vec<Word<'a>> {
    let mut words: Vec<Word<'a>> = Vec::new();
    let mut at = 0;
    let mut ahead = literals.iter().peekable();
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + skipped;
        while ahead.next_if(|literal| literal.span.end <= start).is_some() {}
        let literal = ahead.peek().map(|literal| literal.span.clone());
        let covered = literal.clone().filter(|span| span.start <= start);
        let from = covered.as_ref().map_or(start, |span| span.end);
        let rest = &text[from..];
        let mut end = from + rest.find(char::is_whitespace).unwrap_or(rest.len());
        // What opens before a literal belongs to it.
        if let (None, Some(span)) = (&covered, literal.filter(|span| span.start < end)) {
            end = span.end;
        }
        let raw = &text[start..end];
        let says = if covered.is_some() { "" } else { raw };
        let says = says.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        words.push(Word {
            span: start..end,
            says,
            raw,
        });
        at = end;
    }
    words
}

/// Whether an instruction begins with the word at `at`.
fn begins(text: &str, words: &[Word<'_>], at: usize, is_verb: &dyn Fn(&str) -> bool) -> bool {
    if is_new_sentence(text, words, at) {
        return true;
    }
    let (before, word) = (&words[at - 1], &words[at]);
    let is_joined = before.raw.ends_with(',');
    if is_joined && vocabulary::is_condition(&word.says) || word.says == "then" && !is_joining(before) {
        return true;
    }
    let joins = word.says == "and" || word.raw == "&" || is_joined;
    let follows = words[at..]
        .iter()
        .position(|word| !is_joining(word))
        .map(|ahead| at + ahead);
    let always = words[at..follows.unwrap_or(words.len())]
        .iter()
        .any(|word| ALWAYS.contains(&word.says.as_str()));
    joins && !is_joining(before) && (always || follows.is_some_and(|at| is_instruction(words, at, is_verb)))
}

fn is_new_sentence(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| &words[at]) else {
        return true;
    };
    text[before.span.end..words[at].span.start].contains('\n') || ends_sentence(before)
}

fn is_joining(word: &Word<'_>) -> bool {
    JOINING.contains(&word.says.as_str())
}

/// Whether the word at `at` is a verb that begins an instruction.
fn is_instruction(words: &[Word<'_>], at: usize, is_verb: &dyn Fn(&str) -> bool) -> bool {
    let word = &words[at];
    if !is_verb(&word.says) || word.raw.ends_with(',') {
        return false;
    }
    match words.get(at + 1) {
        Some(next) => !AFTER_NOUNS.contains(&next.says.as_str()),
        None => !NOUNS.contains(&word.says.as_str()),
    }
}

/// Whether the word is the last of a sentence; an abbreviation is not.
fn ends_sentence(word: &Word<'_>) -> bool {
    let raw = word.raw.trim_end_matches(['"', '\'', ')', '\u{201d}']);
    let is_short = raw.ends_with('.')
        && (word.says.len() == 1 || matches!(word.says.as_str(), "e.g" | "i.e" | "etc" | "dr" | "mr" | "ms"));
    raw.ends_with(['.', '!', '?', ';'])
        && !(is_short && word.says.chars().all(char::is_alphabetic))
        && !(word.says.contains('.') && is_short)
}

/// The instruction of these words, without what joins it to others and without its number in a list.
fn clause(words: &[Word<'_>]) -> Option<Clause> {
    let joins = |word: &Word<'_>| is_joining(word) || is_marker(word.raw);
    let first = words.iter().position(|word| !joins(word))?;
    let begins = words[0].span.start;
    let words = &words[first..];
    let (begin, end) = (words.first()?, words.last()?);
    let says = |at: usize| words.get(at).map_or("", |word| word.says.as_str());
    let repeats = says(0) == "for" && matches!(says(1), "all" | "each" | "every");
    let inner = (1..words.len()).any(|at| is_condition(words, at));
    Some(Clause {
        begins,
        span: begin.span.start..end.span.end,
        is_conditional: vocabulary::is_condition(says(0)) && !asks_when(says(0), says(1)) || repeats || inner,
        is_telling: is_telling(words),
    })
}

/// "When is it due" asks for a time; "when it is due" is a condition.
fn asks_when(first: &str, second: &str) -> bool {
    first == "when" && vocabulary::is_question(second)
}

/// Whether the sentence tells something: what is, or what somebody did.
fn is_telling(words: &[Word<'_>]) -> bool {
    let says = |at: usize| words.get(at).map_or("", |word| word.says.as_str());
    let did = |word: &str| word.ends_with("ed") && word != "need";
    vocabulary::is_telling(says(0)) || says(0) == "i" && did(says(1))
}

/// Whether the word begins a condition within its instruction. "until" a date, "at once" and "check if" begin none.
fn is_condition(words: &[Word<'_>], at: usize) -> bool {
    let before = words[at - 1].says.as_str();
    let says = |at: usize| words.get(at).map_or("", |word| word.says.as_str());
    match says(at) {
        "if" | "unless" | "when" | "whenever" | "while" | "otherwise" => !ASKING.contains(&before),
        "once" => before != "at",
        "assuming" | "provided" | "providing" => true,
        "until" => !says(at + 1).is_empty(),
        "long" => before == "as" && says(at + 1) == "as",
        "case" => before == "in" && says(at + 1) != "of",
        _ => false,
    }
}

/// `1.`, `2)`, `-`, `*`: what stands before an entry of a list.
fn is_marker(raw: &str) -> bool {
    let number = raw.strip_suffix(['.', ')']);
    let is_number =
        number.is_some_and(|number| number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit()));
    is_number || matches!(raw, "-" | "*" | "\u{2022}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literals::literals;

    fn cut(text: &str) -> Vec<String> {
        let is_verb = |word: &str| vocabulary::is_imperative(word) || word == "multiply";
        let found = literals(text, &is_verb);
        let clauses = clauses(text, &found, &is_verb).into_iter();
        clauses
            .map(|clause| {
                let mark = if clause.is_conditional { "? " } else { "" };
                format!("{mark}{}", &text[clause.span])
            })
            .collect()
    }

    #[test]
    fn a_task_is_cut_before_its_instructions() {
        let check = |text: &str, expected: &[&str]| assert_eq!(cut(text), expected, "{text}");
        check("Get the weather", &["Get the weather"]);
        check(
            "Compute 5 + 3 and get weather for San Francisco",
            &["Compute 5 + 3", "get weather for San Francisco"],
        );
        check("Compute 10 * 5, then get it.", &["Compute 10 * 5,", "get it."]);
        check("Add 5 and 3, 4 and 6", &["Add 5 and 3, 4 and 6"]);
        check("Read a.txt. After that, send it", &["Read a.txt.", "send it"]);
        check(
            "1. Read a.txt\n2) send it\n- multiply it",
            &["Read a.txt", "send it", "multiply it"],
        );
        check(
            "Find \"a, then delete; b\" and open it",
            &["Find \"a, then delete; b\"", "open it"],
        );
        check("Get name and email of Ada", &["Get name and email of Ada"]);
        check("Get name and email", &["Get name and email"]);
        check("Read the file and summarize", &["Read the file", "summarize"]);
        check(
            "Get it, if it is above 20, save it",
            &["Get it,", "? if it is above 20,", "? save it"],
        );
        check("Send a mail if it rains", &["? Send a mail if it rains"]);
        check("When is it due?", &["When is it due?"]);
        check(
            "I borrowed and read it. List it",
            &["I borrowed and read it.", "List it"],
        );
        check("Check if it rains", &["Check if it rains"]);
        check("Delete it once it is read", &["? Delete it once it is read"]);
        check(
            "Delete it as long as it is old",
            &["? Delete it as long as it is old"],
        );
        check(
            "Send it when it rains. Read it",
            &["? Send it when it rains.", "Read it"],
        );
        check(
            "For each user, send a mail",
            &["? For each user,", "? send a mail"],
        );
        check("Use e.g. 3.5 points, please", &["Use e.g. 3.5 points, please"]);
        check("and", &[]);
    }
}
