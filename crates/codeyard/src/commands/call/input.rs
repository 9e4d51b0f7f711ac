//! A call's arguments on the command line: an object, or words read by the tool's schema.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use crate::cli::CallArguments;
use crate::context::read_input;
use crate::exit::{Exit, Failure};
use crate::output::one_line;

/// References followed from one schema to the next.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Default, PartialEq)]
pub(super) struct CallInput {
    object: Map<String, Value>,
    /// `NAME=VALUE` in order.
    pairs: Vec<(String, String)>,
    /// Words that are neither.
    bare: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum JsonType {
    Null,
    Boolean,
    Number,
    Text,
    Array,
    Object,
}

// === impl CallInput ===

impl CallInput {
    /// Reads standard input for a `-`.
    pub(super) fn read(arguments: &CallArguments) -> anyhow::Result<CallInput> {
        let mut given = CallInput::default();
        for word in &arguments.arguments {
            given.take(word)?;
        }
        if let Some(text) = arguments.object() {
            given.take_object(text)?;
        }
        Ok(given)
    }

    fn take(&mut self, word: &str) -> anyhow::Result<()> {
        if word == "-" || word.trim_start().starts_with(['{', '[']) {
            return self.take_object(word);
        }
        match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => self.pairs.push((name.to_owned(), value.to_owned())),
            _ => self.bare.push(word.to_owned()),
        }
        Ok(())
    }

    fn take_object(&mut self, text: &str) -> anyhow::Result<()> {
        let text = match text {
            "-" => read_input(Path::new("-"))?,
            text => text.to_owned(),
        };
        let wrong = |why: String| anyhow::Error::from(Failure::new(Exit::Usage, why));
        match serde_json::from_str(&text) {
            Ok(Value::Object(members)) => self.object.extend(members),
            Ok(_) => {
                let why = "the arguments must be a JSON object, such as '{\"name\": \"ana\"}'";
                return Err(wrong(why.to_owned()));
            }
            Err(error) => return Err(wrong(format!("the arguments are not valid JSON: {error}"))),
        }
        Ok(())
    }

    pub(super) fn by_schema(self, tool: &str, schema: &Value) -> Result<Map<String, Value>, Failure> {
        if let Some(word) = self.bare.first() {
            return Err(Failure::new(Exit::Usage, not_a_pair(tool, word, schema)));
        }
        let mut arguments = self.object;
        let mut seen = BTreeSet::new();
        for (name, text) in self.pairs {
            let value = read(&text, &schema["properties"][&name], schema).map_err(|why| {
                Failure::new(Exit::Usage, one_line(&format!("{tool}: argument '{name}' {why}")))
            })?;
            let is_first = seen.insert(name.clone());
            match (arguments.get_mut(&name), value) {
                (Some(Value::Array(before)), Value::Array(more)) if !is_first => before.extend(more),
                (Some(_), _) if !is_first => {
                    let why = format!("{tool}: argument '{name}' is given twice; it takes one value");
                    return Err(Failure::new(Exit::Usage, one_line(&why)));
                }
                (_, value) => drop(arguments.insert(name, value)),
            }
        }
        Ok(arguments)
    }
}

/// The error for a word that names no argument, with the form to use.
fn not_a_pair(tool: &str, word: &str, schema: &Value) -> String {
    let names = schema["properties"].as_object();
    let names: Vec<&String> = names.into_iter().flat_map(Map::keys).collect();
    let required = schema["required"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let hint = match (required, names.as_slice()) {
        _ if names.is_empty() => "it takes none".to_owned(),
        ([Value::String(only)], _) => format!("did you mean {only}={word}?"),
        (_, names) => {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            format!("it takes {}", names.join(", "))
        }
    };
    one_line(&format!("{tool}: `{word}` is not NAME=VALUE; {hint}"))
}

/// Reads a text by its schema. Unreadable text stays text, and the call reports the expected type.
fn read(text: &str, schema: &Value, root: &Value) -> Result<Value, String> {
    let kinds = kinds(schema, root, 0);
    let has = |kind: JsonType| kinds.contains(&kind);
    let as_json = || serde_json::from_str::<Value>(text).ok();
    if kinds.is_empty() {
        return Ok(as_json().unwrap_or_else(|| text.into()));
    }
    if has(JsonType::Text) {
        return Ok(text.into());
    }
    if let Some(value) = as_json() {
        let kind = kind_of(&value);
        if has(kind) {
            return Ok(value);
        }
    }
    let switch = match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    };
    if let (true, Some(switch)) = (has(JsonType::Boolean), switch) {
        return Ok(switch.into());
    }
    for (kind, open, form) in [
        (JsonType::Array, '[', "[1, 2]"),
        (JsonType::Object, '{', "{\"name\": 1}"),
    ] {
        if has(kind) && text.trim_start().starts_with(open) {
            let why = serde_json::from_str::<Value>(text).err();
            let why = why.map(|error| format!(": {error}")).unwrap_or_default();
            return Err(format!("is not valid JSON{why}; write it as '{form}'"));
        }
    }
    if has(JsonType::Array) {
        let items = resolved(schema, root)
            .into_iter()
            .map(|schema| &schema["items"])
            .find(|items| !items.is_null());
        return Ok(Value::Array(vec![read(
            text,
            items.unwrap_or(&Value::Null),
            root,
        )?]));
    }
    Ok(text.into())
}

/// The types a schema allows; empty if the schema names none.
fn kinds(schema: &Value, root: &Value, depth: usize) -> BTreeSet<JsonType> {
    let mut found = BTreeSet::new();
    if depth > MAX_DEPTH {
        return found;
    }
    let one_or_more = &schema["type"];
    let types = one_or_more.as_array().map(Vec::as_slice);
    let types = types.unwrap_or(std::slice::from_ref(one_or_more)).iter();
    found.extend(types.filter_map(Value::as_str).filter_map(type_of_name));
    if found.is_empty() {
        let values = schema["enum"].as_array().into_iter().flatten();
        found.extend(values.chain(schema.get("const")).map(kind_of));
    }
    for inner in alternatives(schema, root) {
        found.extend(kinds(inner, root, depth + 1));
    }
    found
}

/// The schema and the schemas it refers to.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    let mut all = vec![schema];
    let mut at = 0;
    while at < all.len() && all.len() < MAX_DEPTH {
        let inner = alternatives(all[at], root);
        all.extend(inner);
        at += 1;
    }
    all
}

fn alternatives<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    let lists = ["anyOf", "oneOf", "allOf"].map(|list| schema[list].as_array());
    let inner = lists.into_iter().flatten().flatten();
    let referred = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    inner
        .chain(referred.and_then(|path| root.pointer(path)))
        .collect()
}

fn type_of_name(name: &str) -> Option<JsonType> {
    Some(match name {
        "null" => JsonType::Null,
        "boolean" => JsonType::Boolean,
        "integer" | "number" => JsonType::Number,
        "string" => JsonType::Text,
        "array" => JsonType::Array,
        "object" => JsonType::Object,
        _ => return None,
    })
}

fn kind_of(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Number(_) => JsonType::Number,
        Value::String(_) => JsonType::Text,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "properties": {
                "name": {"type": "string"}, "count": {"type": "integer"}, "rate": {"type": ["number", "null"]},
                "dry": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
                "rows": {"type": "array", "items": {"type": "array"}}, "where": {"type": "object"},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "any": {},
                "level": {"$ref": "#/$defs/Level"}, "maybe": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            },
            "required": ["name"],
            "$defs": {"Level": {"enum": [1, 2, 3]}},
        })
    }

    #[track_caller]
    fn check(words: &[&str], expected: Result<Value, &str>) {
        let mut given = CallInput::default();
        let taken = words.iter().try_for_each(|word| given.take(word));
        let read = taken.map_err(|error| error.to_string()).and_then(|()| {
            given
                .by_schema("s.t", &schema())
                .map_err(|failure| failure.message)
        });
        match expected {
            Ok(value) => assert_eq!(read.map(Value::Object), Ok(value), "{words:?}"),
            Err(part) => {
                let error = read.expect_err("refused");
                assert!(error.contains(part), "{words:?}: {error}");
            }
        }
    }

    #[test]
    fn values_are_read_by_the_schema() {
        check(&["name=a=b"], Ok(json!({"name": "a=b"})));
        check(
            &["name=17", "either=17"],
            Ok(json!({"name": "17", "either": "17"})),
        );
        check(&["name=", "name2={}"], Ok(json!({"name": "", "name2": {}})));
        check(&["count=17", "rate=-2.5"], Ok(json!({"count": 17, "rate": -2.5})));
        check(&["rate=null", "level=2"], Ok(json!({"rate": null, "level": 2})));
        check(&["dry=true"], Ok(json!({"dry": true})));
        check(&["dry=no"], Ok(json!({"dry": false})));
        check(&["tags=a"], Ok(json!({"tags": ["a"]})));
        check(&["tags=a", "tags=b"], Ok(json!({"tags": ["a", "b"]})));
        check(&["tags=[\"a\", \"b\"]"], Ok(json!({"tags": ["a", "b"]})));
        check(&["maybe=3", "maybe=4"], Ok(json!({"maybe": [3, 4]})));
        check(
            &["rows=[[1], [2]]", "where={\"a\": 1}"],
            Ok(json!({"rows": [[1], [2]], "where": {"a": 1}})),
        );
        check(&["any=17", "any2=x"], Ok(json!({"any": 17, "any2": "x"})));
        check(
            &["{\"name\": \"a\", \"count\": 1}", "count=2"],
            Ok(json!({"name": "a", "count": 2})),
        );
    }

    #[test]
    fn unreadable_text_stays_for_the_call_to_refuse() {
        check(&["count=many"], Ok(json!({"count": "many"})));
        check(&["dry=maybe"], Ok(json!({"dry": "maybe"})));
        check(&["where=x"], Ok(json!({"where": "x"})));
    }

    #[test]
    fn errors_name_the_argument() {
        check(&["ana"], Err("`ana` is not NAME=VALUE; did you mean name=ana?"));
        check(&["name=a", "name=b"], Err("argument 'name' is given twice"));
        check(&["rows=[1, "], Err("argument 'rows' is not valid JSON"));
        check(&["where={a}"], Err("write it as '{\"name\": 1}'"));
        check(&["[1]"], Err("must be a JSON object"));
        check(&["{a}"], Err("are not valid JSON"));
    }

    #[test]
    fn a_reference_to_itself_ends() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}});
        assert_eq!(read("x", &schema["properties"]["a"], &schema), Ok(json!("x")));
    }
}
