//! Splits text into the word pieces of the embedding's vocabulary: the longest known beginning, then the longest known
//! rest.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::{folded, words};

/// The number of each piece: its line in the file.
static VOCABULARY: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let pieces = include_str!("../../assets/tool-embedding/vocabulary.txt").lines();
    pieces
        .enumerate()
        .map(|(number, piece)| (piece, number))
        .collect()
});

/// Prefix of a piece inside a word.
const WITHIN: &str = "##";

/// The numbers of a text's pieces, in order; drops words outside the vocabulary.
pub(super) fn pieces(text: &str) -> Vec<usize> {
    words(text).flat_map(|word| of_word(&folded(word))).collect()
}

fn of_word(word: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let prefix = if found.is_empty() { "" } else { WITHIN };
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let longest = ends.rev().find_map(|end| {
            let number = VOCABULARY.get(format!("{prefix}{}", &rest[..end]).as_str())?;
            Some((*number, end))
        });
        let Some((number, end)) = longest else {
            break;
        };
        found.push(number);
        rest = &rest[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_spelt_with_the_longest_pieces() {
        let check = |text: &str, expected: &[&str]| {
            let numbers: Vec<usize> = expected.iter().map(|piece| VOCABULARY[piece]).collect();
            assert_eq!(pieces(text), numbers, "{text}");
        };
        check("createIssue", &["create", "issue"]);
        check("kubectl", &["ku", "##be", "##ct", "##l"]);
        check("Caf\u{e9}", &["cafe"]);
        check("", &[]);
        check("list \u{1f600}\u{10ffff} files", &["list", "files"]);
    }
}
