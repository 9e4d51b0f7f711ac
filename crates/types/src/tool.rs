//! Tools of upstream servers in the core: names, schemas, and the definition as received.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::bulk;

/// Values in one definition, which take some MiB when parsed. The largest real definitions hold a few
/// thousand.
const MAX_VALUES: usize = 20_000;

/// Key in a definition's `_meta`: the result may be any value.
pub const ANY_RESULT: &str = "codeyard/any-result";

/// One tool of one server, by its names in configuration and definition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolRef {
    /// Name in the configuration.
    pub server: String,
    /// Name in the definition.
    pub tool: String,
}

impl ToolRef {
    /// From both names.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            tool: tool.into(),
        }
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.server, self.tool)
    }
}

/// One tool definition, stored as the received text: thousands of parsed schemas take ten times the memory.
/// The fields that every search and listing reads are stored beside it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// As in the definition.
    pub name: String,
    /// Display name for people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    definition: Box<RawValue>,
    /// Where the definition's text has the input schema.
    input_schema: Range<usize>,
}

/// Why a definition is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The definition is not JSON, or too deeply nested.
    #[error("a definition that cannot be read: {cause}")]
    Unreadable {
        /// The parser's message.
        cause: String,
    },
    /// The definition holds too many values.
    #[error(
        "tool '{name}' has a definition of {values} values, more than the {MAX_VALUES} that are read; shorten its schemas"
    )]
    TooLarge {
        /// As in the definition.
        name: String,
        /// Values in the definition.
        values: usize,
    },
    /// `name` is missing or not a text.
    #[error("a tool without a name")]
    NoName,
    /// `inputSchema` is missing.
    #[error("tool '{name}' has no inputSchema")]
    NoInputSchema {
        /// As in the definition.
        name: String,
    },
    /// `inputSchema` is not an object.
    #[error("the inputSchema of tool '{name}' is not an object")]
    BadInputSchema {
        /// As in the definition.
        name: String,
    },
}

/// The relevant fields, unread.
#[derive(serde::Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputSchema")]
    input_schema: Option<&'a RawValue>,
}

/// Accepts any JSON that can be read as a [`Value`], which bounds the depth; stores nothing.
struct Readable;

/// A server with the tools that it last listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTools {
    /// Name in the configuration.
    pub name: String,
    /// The configured description, otherwise the server's own.
    pub description: Option<String>,
    /// The configured working directory.
    pub cwd: Option<PathBuf>,
    /// `None` until the server is asked, unless a cached list exists.
    pub tools: Option<Arc<[Arc<Tool>]>>,
}

// === impl Tool ===

impl Tool {
    /// Stores only the text and the fields that are often read.
    pub fn parse(definition: Box<RawValue>) -> Result<Tool, DefinitionError> {
        let text = definition.get();
        if !text.starts_with('{') {
            return Err(DefinitionError::NoName);
        }
        let unreadable = |error: serde_json::Error| DefinitionError::Unreadable {
            cause: error.to_string(),
        };
        serde_json::from_str::<Readable>(text).map_err(unreadable)?;
        let fields: Fields<'_> = serde_json::from_str(text).map_err(unreadable)?;
        let name = string(fields.name).ok_or(DefinitionError::NoName)?;
        let values = bulk::values(text.as_bytes());
        if values > MAX_VALUES {
            return Err(DefinitionError::TooLarge { name, values });
        }
        let input_schema = match fields.input_schema.map(RawValue::get) {
            Some(schema) if schema.starts_with('{') => {
                // The schema is a part of the same text.
                let start = schema.as_ptr().addr() - text.as_ptr().addr();
                start..start + schema.len()
            }
            Some(_) => return Err(DefinitionError::BadInputSchema { name }),
            None => return Err(DefinitionError::NoInputSchema { name }),
        };
        Ok(Tool {
            title: string(fields.title),
            description: string(fields.description),
            name,
            input_schema,
            definition,
        })
    }

    /// As the server sent it, with unknown fields.
    pub fn definition(&self) -> &RawValue {
        &self.definition
    }

    /// JSON Schema of the arguments: an object. Each call parses it again.
    pub fn input_schema(&self) -> Value {
        self.field("inputSchema")
            .unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// The text of the input schema, as the server sent it.
    pub fn input_schema_text(&self) -> &str {
        self.definition
            .get()
            .get(self.input_schema.clone())
            .unwrap_or("{}")
    }

    /// JSON Schema of `structuredContent`, if it is an object. Each call parses it again.
    pub fn output_schema(&self) -> Option<Value> {
        self.field("outputSchema").filter(Value::is_object)
    }

    /// Whether the definition says that a result may be any value, like that of a Python function without a
    /// return type.
    pub fn returns_any_value(&self) -> bool {
        let meta = self.field("_meta").unwrap_or_default();
        meta.get(ANY_RESULT).and_then(Value::as_bool) == Some(true)
    }

    /// Whether the server says that a call may be repeated: it changes nothing, or the same as the first
    /// time.
    pub fn says_it_is_repeatable(&self) -> bool {
        self.hints("readOnlyHint") || self.hints("idempotentHint")
    }

    /// Whether the server says that a call changes nothing.
    pub fn says_it_only_reads(&self) -> bool {
        self.hints("readOnlyHint")
    }

    fn hints(&self, name: &str) -> bool {
        let annotations = self.field("annotations").unwrap_or_default();
        annotations.get(name).and_then(Value::as_bool) == Some(true)
    }

    fn field(&self, name: &str) -> Option<Value> {
        // The text was read once before, so it can be read again.
        let mut fields: Value = serde_json::from_str(self.definition.get()).ok()?;
        fields.get_mut(name).map(Value::take)
    }
}

/// The text, if the value is one.
fn string(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Readable)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Readable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_str<E>(self, _: &str) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Readable, A::Error> {
        while items.next_element::<Readable>()?.is_some() {}
        Ok(Readable)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Readable, A::Error> {
        while members.next_entry::<Readable, Readable>()?.is_some() {}
        Ok(Readable)
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        // Everything else is read from the definition.
        self.definition.get() == other.definition.get()
    }
}

impl Eq for Tool {}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn a_definition_is_kept_as_it_came_and_read_where_it_is_asked_for() {
        let text = r#"{"x": 1.50,"inputSchema":{"type":"object"}, "name":"n","title":5,"description":"d"}"#;
        let raw = RawValue::from_string(text.to_owned()).expect("JSON");
        let tool = Tool::parse(raw).expect("a tool");
        assert_eq!(tool.definition().get(), text);
        assert_eq!((tool.name.as_str(), &tool.title), ("n", &None));
        assert_eq!(tool.description.as_deref(), Some("d"));
        assert_eq!(tool.input_schema(), json!({"type": "object"}));
        assert_eq!(tool.output_schema(), None);
    }

    #[test]
    fn what_is_no_definition_is_refused_with_the_reason() {
        let check = |definition: Value, expected: &str| {
            let raw = to_raw_value(&definition).expect("JSON");
            let error = Tool::parse(raw).expect_err("no tool");
            assert_eq!(error.to_string(), expected, "{definition}");
        };
        check(json!({"inputSchema": {}}), "a tool without a name");
        check(json!("text"), "a tool without a name");
        check(json!({"name": "bare"}), "tool 'bare' has no inputSchema");
        check(
            json!({"name": "odd", "inputSchema": []}),
            "the inputSchema of tool 'odd' is not an object",
        );
        let deep = format!(
            r#"{{"name":"deep","inputSchema":{{"x":{}{}}}}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        let raw = RawValue::from_string(deep).expect("JSON");
        let error = Tool::parse(raw).expect_err("too deep").to_string();
        assert!(error.contains("recursion limit"), "{error}");
    }
}
