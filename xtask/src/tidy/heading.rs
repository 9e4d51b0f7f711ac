//! Rule: a Rust file opens with one `//!` sentence of purpose.

use super::file::{File, Problem};

pub(super) fn check(file: &File) -> Vec<Problem> {
    if !file.is_rust() {
        return Vec::new();
    }
    let paragraph: Vec<&str> = file
        .text
        .lines()
        .map_while(|line| line.strip_prefix("//! ").map(str::trim))
        .take_while(|line| !line.is_empty())
        .collect();
    let sentence = paragraph.join(" ");
    let wrong = if sentence.is_empty() {
        "the file does not open with a `//!` sentence of purpose"
    } else if !sentence.ends_with('.') {
        "the `//!` sentence does not end with a full stop"
    } else if sentences(&sentence) > 1 {
        "the file opens with more than one sentence; put an empty `//!` line after the first"
    } else {
        return Vec::new();
    };
    vec![file.problem(1, wrong)]
}

/// A sentence ends at the text's end, or before a space and a capital letter.
fn sentences(text: &str) -> usize {
    let inner = text
        .match_indices(". ")
        .filter(|(at, _)| text[at + 2..].starts_with(char::is_uppercase))
        .count();
    inner + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&File { path, text }).len()
    }

    #[test]
    fn one_sentence_passes() {
        assert_eq!(count("a.rs", "//! Finds things.\n\nuse std::fs;\n"), 0);
        assert_eq!(
            count(
                "a.rs",
                "//! Finds things that lie\n//! on two lines.\n//!\n//! More. And more.\n"
            ),
            0
        );
        assert_eq!(
            count("a.rs", "//! Speaks version 1.2 of it, e.g. to old clients.\n"),
            0
        );
        assert_eq!(count("a.py", "import os\n"), 0);
    }

    #[test]
    fn anything_else_fails() {
        assert_eq!(count("a.rs", "use std::fs;\n"), 1);
        assert_eq!(count("a.rs", "\n//! Finds things.\n"), 1);
        assert_eq!(count("a.rs", "//! placeholder\nfn main() {}\n"), 1);
        assert_eq!(count("a.rs", "//! Finds things. Keeps them.\n"), 1);
        assert_eq!(count("a.rs", ""), 1);
    }
}
