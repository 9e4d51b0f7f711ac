//! The value that a program sees of a server's answer: the rule of the guest's `values.py`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Longest answer that is looked at, in bytes.
pub const LARGEST_RESULT: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(default, rename = "structuredContent")]
    structured: Value,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The value that a program sees: structured content, else the JSON that the text is, else the text, else the other blocks.
/// `None` if the tool reports an error, the answer is too long to be looked at, or the guest may read it differently.
pub fn seen(answer: &RawValue) -> Option<Value> {
    if answer.get().len() > LARGEST_RESULT {
        return None;
    }
    let answer: Answer<'_> = serde_json::from_str(answer.get()).ok()?;
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

/// The text blocks, joined by line ends; `None` if there is none.
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

/// Python takes halves of characters, numbers of any size and a hundred times the depth.
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
        assert_eq!(seen(&raw), expected, "{answer}");
    }

    fn text(text: &str) -> Value {
        json!({"content": [{"type": "text", "text": text}]})
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
        check(&text(&"x".repeat(LARGEST_RESULT)), None);
    }
}
