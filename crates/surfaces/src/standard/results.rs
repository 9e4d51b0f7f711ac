//! Adds the fields that the client's era requires to results; the server's own text stays unchanged.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Methods whose modern results must say how long clients may cache them.
const CACHEABLE: [&str; 5] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

#[derive(Debug, Deserialize)]
pub(super) struct InputRequired {
    #[serde(rename = "resultType")]
    kind: Option<String>,
    /// Requests for the client, by the server's own keys.
    #[serde(default, rename = "inputRequests")]
    pub(super) requests: serde_json::Map<String, Value>,
    /// Opaque state of the server.
    #[serde(rename = "requestState")]
    pub(super) state: Option<Value>,
}

/// Adds the modern fields: `resultType`, and for some methods the cache lifetime.
pub(super) fn with_modern_fields(result: &str, method: &str) -> String {
    let Ok(fields) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(result) else {
        return result.to_owned();
    };
    let is_complete = fields
        .get("resultType")
        .is_none_or(|kind| kind.get() == "\"complete\"");
    let mut missing = vec![("resultType", "\"complete\"")];
    if is_complete && CACHEABLE.contains(&method) {
        missing.extend([("ttlMs", "0"), ("cacheScope", "\"private\"")]);
    }
    missing.retain(|(name, _)| !fields.contains_key(*name));
    let added: Vec<String> = missing
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

/// The server's requests for input, if the result is `input_required`.
pub(super) fn input_required(result: &str) -> Option<InputRequired> {
    const INPUT_REQUIRED: &str = "input_required";
    // Search the text first: few results contain the word, so few are parsed.
    let required: InputRequired = result
        .contains(INPUT_REQUIRED)
        .then(|| serde_json::from_str(result).ok())
        .flatten()?;
    (required.kind.as_deref() == Some(INPUT_REQUIRED)).then_some(required)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_added_where_they_are_missing() {
        let check = |result: &str, method: &str, expected: &str| {
            assert_eq!(with_modern_fields(result, method), expected, "{result}");
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
    fn a_question_is_distinguished_from_a_result_that_mentions_one() {
        assert!(input_required(r#"{"content":[{"text":"input_required"}]}"#).is_none());
        let asks = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#;
        let required = input_required(asks).expect("a question");
        assert_eq!(required.requests["a"]["method"], "roots/list");
        assert_eq!(required.state, Some(Value::from("s")));
    }
}
