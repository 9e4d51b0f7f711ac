//! Results as text: fields that a client's era wants are put before those that the server sent, which stay as they are.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Results that clients of the modern era may keep for a while, and how long is part of them.
const CACHEABLE: [&str; 5] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// What a server wants to know before it answers.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    #[serde(rename = "resultType")]
    kind: Option<String>,
    /// Requests for the client, by the server's own keys.
    #[serde(default, rename = "inputRequests")]
    pub(super) requests: serde_json::Map<String, Value>,
    /// The server's own notes, not ours to read.
    #[serde(rename = "requestState")]
    pub(super) state: Option<Value>,
}

/// The result as a client of the modern era wants it: `resultType`, and how long it may be kept.
pub(super) fn modern(result: &str, method: &str) -> String {
    let Ok(fields) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(result) else {
        return result.to_owned();
    };
    let is_complete = fields
        .get("resultType")
        .is_none_or(|kind| kind.get() == "\"complete\"");
    let mut wanted = vec![("resultType", "\"complete\"")];
    if is_complete && CACHEABLE.contains(&method) {
        wanted.extend([("ttlMs", "0"), ("cacheScope", "\"private\"")]);
    }
    wanted.retain(|(name, _)| !fields.contains_key(*name));
    let added: Vec<String> = wanted
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    let rest = result.trim_start().strip_prefix('{').unwrap_or(result);
    match (added.is_empty(), fields.is_empty()) {
        (true, _) => result.to_owned(),
        (false, true) => format!("{{{}}}", added.join(",")),
        (false, false) => format!("{{{},{rest}", added.join(",")),
    }
}

/// What the server wants to know, if the result is that question.
pub(super) fn wanted(result: &str) -> Option<Wanted> {
    const ASKS: &str = "input_required";
    // The word is rare, so that the whole text is only looked through where it occurs.
    let wanted: Wanted = result
        .contains(ASKS)
        .then(|| serde_json::from_str(result).ok())
        .flatten()?;
    (wanted.kind.as_deref() == Some(ASKS)).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_added_where_they_are_missing() {
        let check = |result: &str, method: &str, expected: &str| {
            assert_eq!(modern(result, method), expected, "{result}");
        };
        check("{}", "tools/call", r#"{"resultType":"complete"}"#);
        check(
            r#"{"content": [1.50]}"#,
            "tools/call",
            r#"{"resultType":"complete","content": [1.50]}"#,
        );
        check(
            r#"{"tools":[],"ttlMs":5}"#,
            "tools/list",
            r#"{"resultType":"complete","cacheScope":"private","tools":[],"ttlMs":5}"#,
        );
        let whole = r#"{"resultType":"complete","x":12345678901234567890123}"#;
        check(whole, "tools/call", whole);
        let asks = r#"{"resultType":"input_required","inputRequests":{}}"#;
        check(asks, "resources/read", asks);
    }

    #[test]
    fn a_question_is_told_from_a_result_that_speaks_of_one() {
        assert!(wanted(r#"{"content":[{"text":"input_required"}]}"#).is_none());
        let asks = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#;
        let wanted = wanted(asks).expect("a question");
        assert_eq!(wanted.requests["a"]["method"], "roots/list");
        assert_eq!(wanted.state, Some(Value::from("s")));
    }
}
