//! Arguments given as the words of a shell: the tool's schema says what a word means.

use serde_json::{Map, Value};

use crate::entry::Entry;
use crate::schema::{follow, properties};

/// Alternatives and levels of a parameter's schema that are read.
const MAX_PARTS: usize = 16;
const MAX_DEPTH: usize = 4;

/// What a parameter's schema says of the kinds of its values.
#[derive(Debug, Default)]
struct Kinds<'a> {
    names: Vec<&'a str>,
    values: Vec<&'a Value>,
}

impl Entry {
    /// Gives the arguments with these names, which are words, the values that the schema asks for. A word that fits
    /// nothing stays text, and the check of the arguments reports it.
    pub fn read_words(&self, arguments: &mut Map<String, Value>, words: &[String]) {
        if words.is_empty() {
            return;
        }
        let root = self.definition.input_schema();
        let (parameters, _) = properties(&root, &root);
        for name in words {
            let Some(Value::String(word)) = arguments.get(name) else {
                continue;
            };
            let parameter = parameters.iter().find(|parameter| parameter.name == name);
            let mut kinds = Kinds::default();
            if let Some(parameter) = parameter {
                kinds.collect(&root, parameter.schema, MAX_DEPTH);
            }
            let value = kinds.value(word);
            arguments.insert(name.clone(), value);
        }
    }
}

impl<'a> Kinds<'a> {
    fn collect(&mut self, root: &'a Value, schema: &'a Value, depth: usize) {
        let Some(schema) = follow(root, schema) else {
            return;
        };
        match schema.get("type") {
            Some(Value::String(name)) => self.names.push(name),
            Some(Value::Array(names)) => self
                .names
                .extend(names.iter().take(MAX_PARTS).filter_map(Value::as_str)),
            _ => {}
        }
        self.values.extend(schema.get("const"));
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.values.extend(values);
        }
        if depth == 0 {
            return;
        }
        for word in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(parts)) = schema.get(word) {
                for part in parts.iter().take(MAX_PARTS) {
                    self.collect(root, part, depth - 1);
                }
            }
        }
    }

    fn value(&self, word: &str) -> Value {
        let text = || Value::from(word);
        if self.names.contains(&"string") || self.values.iter().any(|value| value.as_str() == Some(word)) {
            return text();
        }
        match serde_json::from_str::<Value>(word) {
            Ok(Value::String(_)) | Err(_) => text(),
            Ok(value) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_word_is_what_the_schema_asks_for() {
        let check = |schema: Value, word: &str, expected: Value| {
            let root = json!({"$defs": {"count": {"type": "integer"}}});
            let mut kinds = Kinds::default();
            kinds.collect(&root, &schema, MAX_DEPTH);
            assert_eq!(kinds.value(word), expected, "{schema} {word}");
        };
        check(json!({"type": "string"}), "5", json!("5"));
        check(json!({"type": "string"}), "true", json!("true"));
        check(json!({"type": "integer"}), "5", json!(5));
        check(json!({"type": "integer"}), "five", json!("five"));
        check(json!({"type": "number"}), "1.5", json!(1.5));
        check(json!({"type": "boolean"}), "true", json!(true));
        check(json!({"type": "boolean"}), "yes", json!("yes"));
        check(json!({"type": ["string", "null"]}), "null", json!("null"));
        check(json!({"type": ["integer", "null"]}), "null", json!(null));
        check(
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            "5",
            json!("5"),
        );
        check(json!({"$ref": "#/$defs/count"}), "5", json!(5));
        check(json!({"type": "array"}), "[1, 2]", json!([1, 2]));
        check(json!({"type": "object"}), r#"{"a": 1}"#, json!({"a": 1}));
        check(json!({"enum": ["1", "2"]}), "1", json!("1"));
        check(json!({"enum": [1, 2]}), "1", json!(1));
        check(json!({}), "5", json!(5));
        check(json!({}), "five", json!("five"));
        check(json!(true), r#""five""#, json!(r#""five""#));
    }
}
