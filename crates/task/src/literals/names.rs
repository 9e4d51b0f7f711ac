//! Names: words with capitals that do not only begin a sentence.

use super::tokens::token;
use super::{Kind, Literal};

/// Small words that names have inside.
const INNER: &[&str] = &[
    "al", "da", "de", "del", "der", "di", "du", "la", "le", "of", "van", "von",
];

/// Capitalised words that are no names.
const NO_NAMES: &[&str] = &[
    "I", "I'd", "I'll", "I'm", "OK", "Ok", "The", "A", "An", "My", "Please",
];

/// Words of one name.
const LONGEST: usize = 6;

/// The name that begins at `start`. A word that only begins its sentence is one if another capital follows and it is no verb.
pub(super) fn name(text: &str, start: usize, is_verb: &dyn Fn(&str) -> bool) -> Option<Literal> {
    let first = word(text, start)?;
    let begins = begins_sentence(&text[..start]);
    if begins && is_verb(&text[start..first].to_lowercase()) {
        return None;
    }
    let mut end = first;
    let mut words = 1;
    while words < LONGEST {
        let Some(next) = next(text, end) else { break };
        (end, words) = (next, words + 1);
    }
    if begins && words == 1 {
        return None;
    }
    let end = with_state(text, end).unwrap_or(end);
    let name = text[start..end]
        .trim_end_matches("'s")
        .trim_end_matches("\u{2019}s");
    Some(Literal::new(start..start + name.len(), Kind::Name, name))
}

/// Where the capitalised word ends that begins here.
fn word(text: &str, start: usize) -> Option<usize> {
    let token = token(text, start)?;
    let is_name = token.text.starts_with(char::is_uppercase) && !NO_NAMES.contains(&token.text);
    let is_word = token
        .text
        .chars()
        .all(|c| c.is_alphanumeric() || "'-.&\u{2019}".contains(c));
    (is_name && is_word).then_some(token.span.end)
}

/// Where the name ends if it goes on with the next word, perhaps over a small one.
fn next(text: &str, end: usize) -> Option<usize> {
    let start = end + text[end..].strip_prefix(' ').map(|_| 1)?;
    if let Some(end) = word(text, start) {
        // "SKU MG-105": an id follows what it is an id of.
        return (!super::is_code(&text[start..end])).then_some(end);
    }
    let small = token(text, start)?;
    if !INNER.contains(&small.text) {
        return None;
    }
    let start = small.span.end + text[small.span.end..].strip_prefix(' ').map(|_| 1)?;
    word(text, start)
}

/// `, CA` after a place belongs to it.
fn with_state(text: &str, end: usize) -> Option<usize> {
    let rest = text[end..].strip_prefix(", ")?;
    let state: Vec<char> = rest.chars().take(3).collect();
    let is_state = state.len() >= 2
        && state[..2].iter().all(char::is_ascii_uppercase)
        && !state.get(2).is_some_and(|c| c.is_alphanumeric());
    is_state.then_some(end + 4)
}

fn begins_sentence(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '(']);
    before.is_empty() || before.ends_with(['.', '!', '?', ';', ':', '\n', ')', '-', '*'])
}
