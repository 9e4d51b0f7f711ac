//! The text that is run: what the program is given, what all programs share, and the program itself.

use std::collections::BTreeMap;

use serde_json::Value;

/// Shared by all programs.
const PRELUDE: &str = include_str!("../probes/prelude.py");

/// A program with what it is given.
pub(crate) fn compose(source: &str, given: &Value) -> String {
    // A JSON string is also a Python string.
    let given = Value::String(given.to_string());
    format!("{PRELUDE}\ngiven = json.loads({given})\n{source}")
}

/// Reads `attempt: answer` lines; later ones win.
pub(crate) fn answers(printed: &str) -> BTreeMap<String, String> {
    let lines = printed.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(attempt, answer)| (attempt.to_owned(), answer.to_owned()))
        .collect()
}
