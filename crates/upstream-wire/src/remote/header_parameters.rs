//! Call arguments that a server asks for in headers, by the annotation `x-mcp-header` in its schema.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

pub(super) const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";
/// Depth of annotated properties.
const MAX_DEPTH: usize = 16;
/// Enclose a value in Base64 that a header cannot hold.
const ENCODING: (&str, &str) = ("=?base64?", "?=");

pub(super) fn headers(schema: &Value, arguments: &Value) -> Vec<(HeaderName, HeaderValue)> {
    let mut found = Vec::new();
    collect(schema, arguments, MAX_DEPTH, &mut found);
    found
}

/// Checks the annotations in a tool's definition. Each must name a different header and sit on a string,
/// integer or boolean that is reached through properties alone. A tool with other annotations must not be
/// called over HTTP.
///
/// # Errors
/// A message about the first wrong annotation.
pub fn check(definition: &str) -> Result<(), String> {
    if !definition.contains(ANNOTATION) {
        return Ok(());
    }
    let definition: Value = serde_json::from_str(definition).map_err(|error| error.to_string())?;
    let schema = &definition["inputSchema"];
    let mut words = HashSet::new();
    check_properties(schema, &mut words)?;
    match annotations(schema) {
        all if all == words.len() => Ok(()),
        _ => Err(format!("it has `{ANNOTATION}` outside a property")),
    }
}

fn check_properties(schema: &Value, words: &mut HashSet<String>) -> Result<(), String> {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(mark) = schema.get(ANNOTATION) {
            let wrong = |what: &str| Err(format!("`{ANNOTATION}` of its parameter '{name}' {what}"));
            let Some(word) = mark.as_str().filter(|word| !word.is_empty()) else {
                return wrong("is not a string with some text");
            };
            if !word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
            {
                return wrong("is not a header name");
            }
            if !matches!(schema["type"].as_str(), Some("string" | "integer" | "boolean")) {
                return wrong("is on a parameter other than a string, integer or boolean");
            }
            if !words.insert(word.to_ascii_lowercase()) {
                return wrong("is used twice");
            }
        }
        check_properties(schema, words)?;
    }
    Ok(())
}

/// Counts annotations anywhere in the schema.
fn annotations(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| usize::from(key == ANNOTATION) + annotations(value))
            .sum(),
        Value::Array(items) => items.iter().map(annotations).sum(),
        _ => 0,
    }
}

fn collect(schema: &Value, arguments: &Value, depth: usize, found: &mut Vec<(HeaderName, HeaderValue)>) {
    let (Some(properties), Some(depth)) = (schema["properties"].as_object(), depth.checked_sub(1)) else {
        return;
    };
    for (name, schema) in properties {
        let argument = &arguments[name];
        let text = match argument {
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => Some(argument.to_string()),
            _ => None,
        };
        let header = schema[ANNOTATION]
            .as_str()
            .and_then(|mark| HeaderName::from_bytes(format!("{PREFIX}{mark}").as_bytes()).ok());
        found.extend(header.zip(text.and_then(|text| header_value(&text))));
        collect(schema, argument, depth, found);
    }
}

/// Encodes the text if a header cannot hold it.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    let is_plain = text.chars().all(|c| matches!(c, ' '..='~'))
        && text.trim_ascii() == text
        && !(text.starts_with(ENCODING.0) && text.ends_with(ENCODING.1));
    if is_plain {
        return HeaderValue::from_str(text).ok();
    }
    let (before, after) = ENCODING;
    HeaderValue::from_str(&format!("{before}{}{after}", BASE64_STANDARD.encode(text))).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_arguments_become_headers() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limit": {"type": "integer", "x-mcp-header": "Limit"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "list": {"type": "array", "x-mcp-header": "List"},
            "odd": {"type": "string", "x-mcp-header": "a b"},
            "deep": {"properties": {"er": {"type": "string", "x-mcp-header": "Deeper"}}},
        }});
        let arguments = json!({
            "region": " eu", "limit": 3, "dry": true, "list": [1], "odd": "x", "deep": {"er": "y"}
        });
        let mut found: Vec<String> = headers(&schema, &arguments)
            .iter()
            .map(|(name, value)| format!("{name}={}", value.to_str().expect("text")))
            .collect();
        found.sort();
        assert_eq!(
            found,
            [
                "mcp-param-deeper=y",
                "mcp-param-dry=true",
                "mcp-param-limit=3",
                "mcp-param-region=\u{3d}?base64?IGV1?="
            ]
        );
    }

    #[test]
    fn marks_that_mean_nothing_are_found() {
        let check = |schema: Value, expected: &str| {
            let definition = json!({"name": "t", "inputSchema": schema}).to_string();
            let found = check(&definition).err().unwrap_or_default();
            assert!(
                found.contains(expected) && found.is_empty() == expected.is_empty(),
                "{found}"
            );
        };
        let marked = |kind: &str, word: Value| json!({"type": kind, "x-mcp-header": word});
        let property = |schema: Value| json!({"properties": {"p": schema}});
        check(json!({}), "");
        check(property(marked("string", json!("Region"))), "");
        check(property(property(marked("integer", json!("Deep")))), "");
        check(
            property(marked("string", json!(""))),
            "is not a string with some text",
        );
        check(
            property(marked("string", json!(7))),
            "is not a string with some text",
        );
        check(property(marked("string", json!("a b"))), "not a header name");
        check(
            property(marked("number", json!("N"))),
            "other than a string, integer or boolean",
        );
        check(
            property(marked("array", json!("A"))),
            "other than a string, integer or boolean",
        );
        let twice =
            json!({"properties": {"a": marked("string", json!("X")), "b": marked("string", json!("x"))}});
        check(twice, "used twice");
        let hidden = json!({"type": "array", "items": marked("string", json!("I"))});
        check(property(hidden), "outside a property");
        check(marked("string", json!("Root")), "outside a property");
    }

    #[test]
    fn values_that_no_header_can_hold_are_wrapped() {
        let check = |text: &str, expected: &str| {
            assert_eq!(header_value(text).expect("a value"), expected, "{text:?}");
        };
        check("plain text", "plain text");
        check("", "");
        check("line\nbreak", "=?base64?bGluZQpicmVhaw==?=");
        check("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
        check("tab\t", "=?base64?dGFiCQ==?=");
    }
}
