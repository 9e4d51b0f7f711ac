//! Reduces a call's arguments to types by name and a hash.
//!
//! The values are stored only if the settings say so.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::config::ArgumentDetail;

const MAX_FIELDS: usize = 64;
/// Arguments longer than this many bytes are stored as shape and hash, even if the settings store values.
const MAX_FULL: usize = 1024 * 1024;

/// The record of one call's arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// JSON object: declared names with the types of their values.
    pub(crate) shape: String,
    /// SHA-256 of the arguments as compact JSON with sorted names, in hexadecimal.
    pub(crate) hash: String,
    /// Bytes of the compact JSON.
    pub(crate) bytes: u64,
    /// The compact JSON, if the settings store values.
    pub(crate) full: Option<String>,
}

// === impl Arguments ===

impl Arguments {
    /// Records declared names; counts undeclared names, because they may be data themselves.
    pub(crate) fn of(
        arguments: &Value,
        is_declared: impl Fn(&str) -> bool,
        kept: ArgumentDetail,
    ) -> Arguments {
        let mut text = String::new();
        canonical(arguments, &mut text);
        Arguments {
            shape: shape(arguments, is_declared),
            hash: hex(&Sha256::digest(&text)),
            bytes: text.len() as u64,
            full: (kept == ArgumentDetail::Full && text.len() <= MAX_FULL).then_some(text),
        }
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        self.shape.len() + self.hash.len() + self.full.as_ref().map_or(0, String::len)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

fn shape(arguments: &Value, is_declared: impl Fn(&str) -> bool) -> String {
    let Value::Object(fields) = arguments else {
        return type_of(arguments).to_owned();
    };
    let mut shape = Map::new();
    let mut others = 0_usize;
    for (name, value) in fields {
        if shape.len() < MAX_FIELDS && is_declared(name) {
            shape.insert(name.clone(), Value::from(type_of(value)));
        } else {
            others += 1;
        }
    }
    if others > 0 {
        shape.insert("...".to_owned(), Value::from(others));
    }
    Value::Object(shape).to_string()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Compact JSON with sorted names, so that equal arguments have equal texts.
fn canonical(value: &Value, out: &mut String) {
    let separated = |out: &mut String, first: bool| {
        if !first {
            out.push(',');
        }
    };
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separated(out, index == 0);
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (index, (name, value)) in fields.into_iter().enumerate() {
                separated(out, index == 0);
                let _ = write!(out, "{}:", Value::from(name.as_str()));
                canonical(value, out);
            }
            out.push('}');
        }
        plain => {
            let _ = write!(out, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(arguments: &Value) -> Arguments {
        Arguments::of(arguments, |name| !name.contains('@'), ArgumentDetail::Shape)
    }

    #[test]
    fn a_shape_has_types_and_no_values() {
        let arguments = json!({
            "name": "Ann", "age": 7, "share": 0.5, "on": true, "none": null, "tags": ["x"], "more": {"k": "v"},
            "ann@example.org": 1,
        });
        let expected = r#"{"name":"string","age":"integer","share":"number","on":"boolean","none":"null","tags":"array","more":"object","...":1}"#;
        assert_eq!(of(&arguments).shape, expected);
        assert_eq!(of(&json!([1])).shape, "array");
        let many: Map<String, Value> = (0..100).map(|n| (format!("f{n}"), json!(n))).collect();
        assert!(of(&Value::Object(many)).shape.ends_with(r#""...":36}"#));
    }

    #[test]
    fn equal_arguments_have_equal_hashes_in_any_order() {
        let one: Value = serde_json::from_str(r#"{"a": {"x": [1, "\u00e4"], "y": 2}, "b": null}"#).unwrap();
        let same: Value = serde_json::from_str(r#"{"b":null,"a":{"y":2,"x":[1,"ä"]}}"#).unwrap();
        assert_eq!(of(&one).hash, of(&same).hash);
        assert_ne!(of(&one).hash, of(&json!({"b": null})).hash);
        let kept = Arguments::of(&one, |_| true, ArgumentDetail::Full);
        assert_eq!(
            kept.full.as_deref(),
            Some(r#"{"a":{"x":[1,"ä"],"y":2},"b":null}"#)
        );
        assert_eq!(kept.bytes, kept.full.unwrap().len() as u64);
        let huge = Arguments::of(&json!("x".repeat(MAX_FULL)), |_| true, ArgumentDetail::Full);
        assert_eq!((huge.full, huge.bytes), (None, 1024 * 1024 + 2));
    }
}
