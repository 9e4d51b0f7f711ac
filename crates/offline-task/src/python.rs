//! Values and comments in Python syntax; no text of a task can end either.

use catalog::{python_scalar, python_string};
use serde_json::Value;
use types::is_unseen;

/// A literal on one line.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(self::value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", string(name), self::value(value));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        scalar => python_scalar(scalar, usize::MAX).unwrap_or_default(),
    }
}

pub(crate) fn string(text: &str) -> String {
    python_string(text, usize::MAX)
}

/// A text on one line, cut after `max` characters, for a comment or a message.
pub(crate) fn line(text: &str, max: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || is_unseen(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(max) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}
