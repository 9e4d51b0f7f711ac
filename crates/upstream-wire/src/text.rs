//! Makes servers' texts fit for messages.

/// In one line, without control characters.
pub(crate) fn one_line(text: &str, max_characters: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .take(max_characters)
        .collect()
}
