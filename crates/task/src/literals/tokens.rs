//! Words as spaces divide them, without the punctuation around them.

use std::ops::Range;

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) span: Range<usize>,
    pub(super) text: &'a str,
}

/// Punctuation that ends a sentence or closes what was opened, not part of the word before it.
const CLOSING: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '\u{201d}', '\u{2019}', '\u{bb}', '\u{2026}',
];

/// The word that begins at `start`, if one does.
pub(super) fn token(text: &str, start: usize) -> Option<Token<'_>> {
    let rest = &text[start..];
    // Lists without spaces are several words; only the commas of thousands are within one.
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let end = rest.find(ends).unwrap_or(rest.len());
    let end = match is_thousands(rest, end) {
        true => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        false => end,
    };
    let word = &rest[..end];
    let word = word.trim_end_matches(CLOSING);
    (!word.is_empty()).then(|| Token {
        span: start..start + word.len(),
        text: word,
    })
}

/// Where the next word may begin after one that was nothing.
pub(super) fn after(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let first = rest.chars().next().map_or(1, char::len_utf8);
    let is_word = rest.starts_with(char::is_alphanumeric);
    if !is_word {
        return start + first;
    }
    let end = rest.find(|c: char| c.is_whitespace() || ",;(\"".contains(c));
    start + end.unwrap_or(rest.len())
}

/// Whether the comma parts thousands: `1,000`.
fn is_thousands(word: &str, comma: usize) -> bool {
    let bytes = word.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    comma > 0
        && bytes.get(comma) == Some(&b',')
        && digit(comma - 1)
        && (1..=3).all(|ahead| digit(comma + ahead))
        && !digit(comma + 4)
}
