//! The value that a program sees of a server's answer; mirrors the guest's `values.py`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Longest answer that is read, in bytes.
pub const MAX_LEARNED_RESULT: usize = 4 * 1024 * 1024;

/// Kinds of blocks other than text.
const BESIDE: [&str; 4] = ["audio", "image", "resource", "resource_link"];

#[derive(Deserialize)]
struct RawAnswer<'a> {
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(default, rename = "structuredContent")]
    structured: Value,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The value that a program sees. The first of these that exists: structured content, the JSON in the text, the text,
/// the other blocks.
///
/// `None` if the tool reports an error, the answer is too long, or the guest may read the answer differently.
pub fn program_value(answer: &RawValue) -> Option<Value> {
    if answer.get().len() > MAX_LEARNED_RESULT {
        return None;
    }
    let answer: RawAnswer<'_> = serde_json::from_str(answer.get()).ok()?;
    if answer.is_error {
        return None;
    }
    if !answer.structured.is_null() {
        return Some(answer.structured);
    }
    let content = answer.content.map_or("null", RawValue::get);
    let content: Value = serde_json::from_str(content).ok()?;
    match text_of(&content) {
        Some(text) => parsed(text),
        None => Some(if is_empty(&content) { Value::Null } else { content }),
    }
}

/// The kinds of blocks that are not part of the value, such as `image`, without duplicates.
pub fn other_block_kinds(answer: &RawValue) -> Vec<String> {
    let content = serde_json::from_str::<RawAnswer<'_>>(answer.get())
        .ok()
        .and_then(|answer| serde_json::from_str::<Value>(answer.content?.get()).ok());
    let Some(Value::Array(blocks)) = content else {
        return Vec::new();
    };
    let kinds = blocks.iter().filter_map(|block| block["type"].as_str());
    let beside: BTreeSet<&str> = kinds.filter(|kind| BESIDE.contains(kind)).collect();
    beside.into_iter().map(str::to_owned).collect()
}

/// The text blocks, joined by line ends; `None` without any.
fn text_of(content: &Value) -> Option<String> {
    if let Value::String(text) = content {
        return Some(text.clone());
    }
    let blocks = content.as_array()?.iter();
    let texts: Vec<&str> = blocks
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn is_empty(content: &Value) -> bool {
    match content {
        Value::Array(blocks) => blocks.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Null | Value::String(_) => true,
    }
}

fn parsed(text: String) -> Option<Value> {
    match serde_json::from_str(text.trim()) {
        Ok(value) => Some(value),
        Err(error) if python_may_read(&error) => None,
        Err(_) => Some(Value::String(text)),
    }
}

/// Whether Python may still parse the text: it accepts lone surrogates, numbers of any size, and a hundred times the
/// depth.
fn python_may_read(error: &serde_json::Error) -> bool {
    let error = error.to_string();
    let differences = ["surrogate", "hex escape", "out of range", "recursion limit"];
    differences.iter().any(|difference| error.contains(difference))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn check(answer: &Value, expected: Option<Value>) {
        let raw = to_raw_value(answer).expect("JSON");
        assert_eq!(program_value(&raw), expected, "{answer}");
    }

    fn text(text: &str) -> Value {
        json!({"content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn blocks_that_are_no_text_are_named_once() {
        let kinds = ["image", "text", "image", "resource", "other"].map(|kind| json!({"type": kind}));
        let raw = to_raw_value(&json!({ "content": kinds })).expect("JSON");
        assert_eq!(other_block_kinds(&raw), ["image", "resource"]);
        let raw = to_raw_value(&text("done")).expect("JSON");
        assert_eq!(other_block_kinds(&raw), [""; 0]);
    }

    #[test]
    fn a_value_is_what_the_program_gets() {
        check(
            &json!({"structuredContent": {"a": 1}, "content": []}),
            Some(json!({"a": 1})),
        );
        check(
            &json!({"structuredContent": null, "content": []}),
            Some(Value::Null),
        );
        check(&text(" {\"a\": [1]}\n"), Some(json!({"a": [1]})));
        check(&text("12"), Some(json!(12)));
        check(&text("plain"), Some(json!("plain")));
        check(&text("[INFO] started"), Some(json!("[INFO] started")));
        check(&text("{'a': 1}"), Some(json!("{'a': 1}")));
        let two = json!({"content": [{"type": "text", "text": "[1,"}, {"type": "image"}, {"type": "text", "text": "2]"}]});
        check(&two, Some(json!([1, 2])));
        check(&json!({"content": "bare"}), Some(json!("bare")));
        let image = json!([{"type": "image", "data": "x", "mimeType": "image/png"}]);
        check(&json!({"content": image}), Some(image));
        check(&json!({}), Some(Value::Null));
    }

    #[test]
    fn what_is_no_result_or_may_be_read_differently_tells_nothing() {
        check(&json!({"isError": true, "content": []}), None);
        check(&json!("no object"), None);
        check(&text("{\"a\": \"\\ud800\"}"), None);
        check(&text("[1e999]"), None);
        check(&text(&"[".repeat(1000)), None);
        check(&text(&"x".repeat(MAX_LEARNED_RESULT)), None);
    }
}
