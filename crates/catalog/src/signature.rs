//! One line that says how to call a tool and what comes back, in Python's words.
//!
//! `create_issue(owner: str, title: str, labels: list[str] = …) -> {number: int, url: str}`: required parameters
//! first; `= …` marks an optional one without a short default; a parameter in quotes is no Python name and is
//! passed in a mapping. Nested objects are written out as long as the line stays short.

use serde_json::{Map, Value};

use crate::learned::Learned;
use crate::names::is_identifier;
use crate::schema::{self, Parameter};
use crate::text::python_string;

/// Length up to which nested types are written out.
const GOOD_LENGTH: usize = 400;

/// Nesting of parameters and of the result that is written out, in the order tried. What comes back matters as much as
/// what goes in: a program that guesses it fails.
const DEPTHS: [(usize, usize); 7] = [(3, 3), (2, 2), (1, 2), (1, 1), (0, 1), (1, 0), (0, 0)];

/// How deep the type of a value is written out.
const DEPTH_OF_VALUE: usize = 3;

/// Schema nodes visited for one line; beyond them a type is `Any`.
const MAX_STEPS: usize = 4_000;

/// Deepest type, whatever it is made of.
const MAX_NESTING: usize = 12;

const MAX_KEYS: usize = 16;
const MAX_LITERALS: usize = 10;
const MAX_LITERAL_CHARS: usize = 40;
const MAX_ALTERNATIVES: usize = 6;
const MAX_NAME_CHARS: usize = 64;

/// The signature of a tool whose Python name is `name`.
pub(crate) fn signature(name: &str, input: &Value, output: Option<&Value>) -> String {
    let parameters = schema::parameters(input);
    for (depth, depth_of_result) in DEPTHS {
        let mut types = Types::new(input);
        let parts = parameters.iter().map(|p| types.parameter(*p, depth));
        let parts = parts.collect::<Vec<_>>().join(", ");
        let line = format!("{name}({parts}) -> {}", result(output, depth_of_result));
        if line.len() <= GOOD_LENGTH && types.steps > 0 {
            return line;
        }
    }
    shortened(name, input, &parameters, &result(output, 0))
}

/// The same where the result was observed and is not declared.
pub(crate) fn observed(name: &str, input: &Value, learned: &Learned) -> String {
    let line = signature(name, input, Some(&learned.schema));
    let calls = learned.calls;
    format!(
        "{line}  # observed in {calls} call{}",
        if calls == 1 { "" } else { "s" }
    )
}

/// The type of one value, for messages.
pub(crate) fn type_of(root: &Value, schema: &Value) -> String {
    Types::new(root).text(schema, 1)
}

/// The type of values like this one.
pub fn type_of_value(value: &Value) -> String {
    result(Some(&Learned::of(value).schema), DEPTH_OF_VALUE)
}

/// Optional parameters are left out where the line would be too long; required ones never.
fn shortened(name: &str, root: &Value, parameters: &[Parameter<'_>], returned: &str) -> String {
    let mut types = Types::new(root);
    let mut line = format!("{name}(");
    for (index, p) in parameters.iter().enumerate() {
        let part = types.parameter(*p, 0);
        if !p.required && line.len() + part.len() > GOOD_LENGTH {
            line.push_str(if index == 0 { "…" } else { ", …" });
            break;
        }
        if index > 0 {
            line.push_str(", ");
        }
        line.push_str(&part);
    }
    format!("{line}) -> {returned}")
}

fn result(output: Option<&Value>, depth: usize) -> String {
    output.map_or_else(|| "Any".to_owned(), |root| Types::new(root).text(root, depth))
}

/// A name as a key: quoted unless Python takes it as a name.
fn key(name: &str) -> String {
    if is_identifier(name) && name.len() <= MAX_NAME_CHARS {
        name.to_owned()
    } else {
        python_string(name, MAX_NAME_CHARS)
    }
}

/// A scalar as Python writes it.
fn literal(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("None".to_owned()),
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(python_string(text, MAX_LITERAL_CHARS)),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Writes types; counts steps and nesting, because references can repeat a part without end.
struct Types<'a> {
    root: &'a Value,
    steps: usize,
    nesting: usize,
}

// === impl Types ===

impl<'a> Types<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            steps: MAX_STEPS,
            nesting: 0,
        }
    }

    fn parameter(&mut self, parameter: Parameter<'a>, depth: usize) -> String {
        let mut part = format!("{}: {}", key(parameter.name), self.text(parameter.schema, depth));
        if !parameter.required {
            part.push_str(" = ");
            part.push_str(&self.default(parameter.schema));
        }
        part
    }

    /// The default if it is short enough to show.
    fn default(&self, schema: &Value) -> String {
        let given = schema
            .get("default")
            .or_else(|| schema::follow(self.root, schema)?.get("default"));
        match given {
            Some(Value::String(text)) if text.len() > MAX_LITERAL_CHARS => None,
            Some(value) => literal(value),
            None => None,
        }
        .unwrap_or_else(|| "…".to_owned())
    }

    /// The type of a value of this schema, with objects written out `depth` levels deep.
    fn text(&mut self, schema: &'a Value, depth: usize) -> String {
        if self.steps == 0 || self.nesting == MAX_NESTING {
            return "Any".to_owned();
        }
        self.steps -= 1;
        self.nesting += 1;
        let text = match schema::follow(self.root, schema) {
            Some(Value::Object(schema)) => self.object(schema, depth),
            _ => "Any".to_owned(),
        };
        self.nesting -= 1;
        text
    }

    fn object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        if let Some(value) = schema.get("const") {
            return literals(std::slice::from_ref(value));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return literals(values);
        }
        for word in ["anyOf", "oneOf"] {
            let alternatives = schema::array(schema, word);
            // Alternatives beside properties only say which of them go together.
            if !alternatives.is_empty() && !schema.contains_key("properties") {
                return self.union(alternatives, depth);
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.named(name, schema, depth),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str).take(MAX_ALTERNATIVES);
                let texts = names.map(|name| self.named(name, schema, depth)).collect();
                union_of(texts)
            }
            _ => self.untyped(schema, depth),
        }
    }

    fn named(&mut self, name: &str, schema: &'a Map<String, Value>, depth: usize) -> String {
        match name {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "array" => self.list(schema, depth),
            "object" => self.dict(schema, depth),
            _ => "Any".to_owned(),
        }
    }

    fn untyped(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        if schema.contains_key("properties") {
            return self.dict(schema, depth);
        }
        if schema.contains_key("items") {
            return self.list(schema, depth);
        }
        match schema::array(schema, "allOf") {
            [] => "Any".to_owned(),
            [first, rest @ ..] => {
                // The parts hold together; the first that says something is the best short answer.
                let mut text = self.text(first, depth);
                for part in rest.iter().take(MAX_ALTERNATIVES) {
                    if text != "Any" {
                        break;
                    }
                    text = self.text(part, depth);
                }
                text
            }
        }
    }

    fn list(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        match schema.get("items") {
            Some(items @ Value::Object(_)) => {
                let item = self.text(items, depth);
                if item == "Any" {
                    "list".to_owned()
                } else {
                    format!("list[{item}]")
                }
            }
            _ => "list".to_owned(),
        }
    }

    fn dict(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        let required = schema::array(schema, "required");
        let mut keys = Vec::new();
        for (name, property) in schema::object(schema, "properties") {
            if depth == 0 {
                return "dict".to_owned();
            }
            if keys.len() == MAX_KEYS {
                keys.push("…".to_owned());
                break;
            }
            let mark = if required.iter().any(|r| r == name) {
                ""
            } else {
                "?"
            };
            keys.push(format!("{}{mark}: {}", key(name), self.text(property, depth - 1)));
        }
        if !keys.is_empty() {
            return format!("{{{}}}", keys.join(", "));
        }
        match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => {
                let value = self.text(values, depth);
                if value == "Any" {
                    "dict".to_owned()
                } else {
                    format!("dict[str, {value}]")
                }
            }
            _ => "dict".to_owned(),
        }
    }

    fn union(&mut self, alternatives: &'a [Value], depth: usize) -> String {
        let shown = alternatives.iter().take(MAX_ALTERNATIVES);
        let mut texts: Vec<String> = shown.map(|alternative| self.text(alternative, depth)).collect();
        if alternatives.len() > MAX_ALTERNATIVES {
            texts.push("…".to_owned());
        }
        union_of(texts)
    }
}

/// The distinct texts joined, `None` last; `Any` swallows the rest.
fn union_of(texts: Vec<String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if text == "Any" {
            return text;
        }
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct.sort_by_key(|text| text == "None");
    if distinct.is_empty() {
        "Any".to_owned()
    } else {
        distinct.join(" | ")
    }
}

fn literals(values: &[Value]) -> String {
    let mut texts: Vec<String> = values.iter().take(MAX_LITERALS).filter_map(literal).collect();
    if texts.is_empty() {
        return "Any".to_owned();
    }
    if values.len() > MAX_LITERALS {
        texts.push("…".to_owned());
    }
    format!("Literal[{}]", texts.join(", "))
}

#[cfg(test)]
mod tests;
