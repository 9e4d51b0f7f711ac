//! Decides which parts of a client's file may be shown, in any format.

use crate::secrets::names_secret;

/// Replaces a text.
pub(super) const HIDDEN: &str = "[hidden]";

/// Words for the kind of an entry.
const PLAIN: [&str; 7] = ["", "stdio", "http", "sse", "streamable_http", "local", "remote"];

/// Longest word in a comment that may be shown, in bytes.
const LONGEST_WORD: usize = 16;

pub(super) struct Mask<'a> {
    pub(super) shown: &'a [String],
}

impl Mask<'_> {
    pub(super) fn is_shown(&self, value: &str) -> bool {
        PLAIN.contains(&value) || self.shown.iter().any(|known| known == value)
    }
}

/// Hides a comment that mentions a secret. In other comments, hides everything after the first part that is not a
/// word.
pub(super) fn comment(text: &str) -> String {
    let marks = ['#', '/', '*'];
    let bare = |word: &str| {
        let word = word.trim_start_matches(marks).trim_end_matches(marks);
        word.trim_matches(['.', ',', ';', '!', '?', '(', ')', '-'])
            .to_owned()
    };
    let is_word = |word: &str| word.chars().all(char::is_alphabetic) && word.len() <= LONGEST_WORD;
    let speaks = text.split_whitespace().any(|word| names_secret(&bare(word)));
    let mut out = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let is_mark = bare(word.trim_end()).is_empty();
        if !is_mark && (speaks || !is_word(&bare(word.trim_end()))) {
            let start = word.len() - word.trim_start_matches(marks).len();
            out.push_str(&word[..start]);
            out.push_str(HIDDEN);
            return out;
        }
        out.push_str(word);
    }
    out
}
