//! Texts of servers, made fit for messages.

/// The first characters of a text in one line, without control characters.
pub(crate) fn one_line(text: &str, max_characters: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .take(max_characters)
        .collect()
}
