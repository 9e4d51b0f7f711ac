//! A JSON value that keeps duplicate keys, which a map would drop silently.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use types::bulk::{self, Tree};

/// Objects keep order and duplicate keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue {
    Null,
    Bool(bool),
    /// A non-negative integer.
    Natural(u64),
    Number(f64),
    String(String),
    Array(Vec<JsonValue>),
    Object(Vec<(String, JsonValue)>),
}

impl JsonValue {
    /// Parses a whole file. The error is a position and a message.
    pub(crate) fn parse(bytes: &[u8]) -> Result<JsonValue, (String, String)> {
        check_size(bytes, Tree::Json)?;
        serde_json::from_slice(without_byte_order_mark(bytes)).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let text = error.to_string();
            let message = text
                .rsplit_once(" at line ")
                .map_or(text.as_str(), |(message, _)| message);
            (place, format!("not valid JSON: {message}"))
        })
    }

    /// Parses an editor's JSON, with comments and trailing commas.
    pub(crate) fn parse_with_comments(bytes: &[u8]) -> Result<JsonValue, (String, String)> {
        JsonValue::parse(&without_comments(bytes))
    }

    pub(crate) fn parse_toml(bytes: &[u8]) -> Result<JsonValue, (String, String)> {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            (
                String::new(),
                "not valid TOML: it holds bytes that are not valid UTF-8".to_owned(),
            )
        })?;
        check_size(bytes, Tree::Toml)?;
        toml::from_str(text).map_err(|error| {
            let before = error
                .span()
                .and_then(|span| text.get(..span.start))
                .unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            (
                format!("line {line}"),
                format!("not valid TOML: {}", error.message()),
            )
        })
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            JsonValue::Null => "null",
            JsonValue::Bool(_) => "a boolean",
            JsonValue::Natural(_) | JsonValue::Number(_) => "a number",
            JsonValue::String(_) => "a string",
            JsonValue::Array(_) => "an array",
            JsonValue::Object(_) => "an object",
        }
    }
}

/// Refuses a file that would take too much memory as a tree.
fn check_size(bytes: &[u8], tree: Tree) -> Result<(), (String, String)> {
    bulk::check_file(bytes, tree).map_err(|refused| (String::new(), refused.to_string()))
}

/// Strips the byte order mark that some editors write.
pub(crate) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonValueVisitor)
    }
}

struct JsonValueVisitor;

impl<'de> Visitor<'de> for JsonValueVisitor {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
        Ok(JsonValue::Natural(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
        Ok(u64::try_from(value).map_or(JsonValue::Number(value as f64), JsonValue::Natural))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(JsonValue::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(JsonValue::Object(entries))
    }
}

/// Replaces comments and trailing commas by blanks, which keeps positions.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut comma = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let length = match byte {
            b'"' => string_length(rest),
            b'/' if rest.starts_with(b"//") => {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            }
            b'/' if rest.starts_with(b"/*") => {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                end.map_or(rest.len(), |end| end + 4)
            }
            _ => 1,
        };
        match byte {
            b'/' if length > 1 => blank(&mut out[at..at + length]),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    blank(&mut out[comma..=comma]);
                }
            }
            b',' => comma = Some(at),
            _ if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += length;
    }
    out
}

/// Length of the string literal at the start, including quotes; everything if unclosed.
fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(bytes.len(), |end| end + 2)
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn deep_nesting_is_a_mistake() {
        for deep in ["[", "{\"a\":"] {
            let text = deep.repeat(100_000);
            assert!(JsonValue::parse(text.as_bytes()).is_err(), "{deep}");
            assert!(JsonValue::parse_with_comments(text.as_bytes()).is_err(), "{deep}");
        }
        let dotted = ".a".repeat(100_000);
        for text in [
            format!("a = {}", "[".repeat(100_000)),
            format!("a = {}", "{a = ".repeat(100_000)),
            format!("a{dotted} = 1"),
            format!("[a{dotted}]"),
        ] {
            let start = &text[..8];
            assert!(JsonValue::parse_toml(text.as_bytes()).is_err(), "{start}");
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(
            String::from_utf8(without_comments(text.as_bytes())).unwrap(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn comments_become_blanks() {
        check("{} // x\n1", "{}     \n1");
        check("[1, /* a,\n */ 2]", "[1,      \n    2]");
        check("[1, 2, ]", "[1, 2  ]");
        check("{\"a\": 1, // x\n}", "{\"a\": 1      \n}");
        check("[1,, 2]", "[1,, 2]");
        check("/*/ 1", "     ");
        check("\"// no, ]\"", "\"// no, ]\"");
        check("\"\\\"// x\" // y", "\"\\\"// x\"     ");
        check("a / b", "a / b");
    }

    proptest! {
        #[test]
        fn json_stays_as_it_is(text in "[\\[\\]{}\",:a/* \\\\\n]{0,40}") {
            if let Ok(value) = serde_json::from_str::<JsonValue>(&text) {
                prop_assert_eq!(JsonValue::parse_with_comments(text.as_bytes()), Ok(value));
            }
        }
    }
}
