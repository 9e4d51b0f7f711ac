//! A client's file as it may be shown: every text and number in it that could be a secret is hidden, its structure is not.

mod json;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use crate::document::Format;
use crate::secrets::names_secret;

/// What stands in the place of a text.
const HIDDEN: &str = "[hidden]";

/// Words that say what an entry is.
const PLAIN: [&str; 7] = ["", "stdio", "http", "sse", "streamable_http", "local", "remote"];

/// Longest word of a comment.
const LONGEST_WORD: usize = 16;

/// The text, as lines that stand for its own, with every value that is a text or a number hidden but those that are `shown`.
/// Comments are hidden too where they hold more than words, or speak of a secret.
pub fn masked(format: Format, text: &str, shown: &[String]) -> String {
    let mask = Mask { shown };
    match format {
        Format::Json => json::masked(&mask, text),
        Format::Toml => toml::masked(&mask, text),
        Format::Yaml => yaml::masked(&mask, text),
    }
}

/// What may be shown.
struct Mask<'a> {
    shown: &'a [String],
}

impl Mask<'_> {
    fn is_shown(&self, value: &str) -> bool {
        PLAIN.contains(&value) || self.shown.iter().any(|known| known == value)
    }
}

/// A comment: all of it is hidden where it speaks of a secret, else what follows a word that is none.
fn comment(text: &str) -> String {
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
