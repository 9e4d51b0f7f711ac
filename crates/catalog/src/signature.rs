//! One line in Python's syntax: how to call a tool, and its result.
//!
//! `create_issue(owner: str, title: str, labels: list[str] = …) -> {number: int, url: str}`
//!
//! Required parameters come first. `= …` marks an optional parameter without a short default. A parameter in
//! quotes is not a Python name and is passed in a mapping. Nested objects are written out while the line
//! stays short.

use serde_json::Value;

use crate::learned::Learned;
use crate::names::is_identifier;
use crate::schema::{self, Parameter};
use crate::shapes::{ShapeReader, Shapes, Type};
use crate::text::{observed_in, python_scalar, python_string, short_default};

/// Nested types are written out while the line is at most this long.
const GOOD_LENGTH: usize = 400;

/// Written-out levels of parameters and of the result, in the order tried. The result matters as much as the
/// parameters: a program that guesses it fails.
const DEPTHS: [(usize, usize); 7] = [(3, 3), (2, 2), (1, 2), (1, 1), (0, 1), (1, 0), (0, 0)];

/// Limit on nesting levels that are read.
const DEPTH: usize = 4;

/// Written-out levels of a value's type.
const DEPTH_OF_VALUE: usize = 3;

/// Limit on types written on one line; above it a type is `Any`. A shape is written at each use.
const MAX_STEPS: usize = 4_000;

const MAX_KEYS: usize = 16;
const MAX_LITERALS: usize = 10;
const MAX_LITERAL_CHARS: usize = 40;
const MAX_ALTERNATIVES: usize = 6;
const MAX_NAME_CHARS: usize = 64;

/// The result, in signatures, of a tool that declares none.
pub const UNDECLARED_RESULT: &str = "Text";

/// Explains [`UNDECLARED_RESULT`].
pub const UNDECLARED_RESULT_NOTE: &str =
    "a str with its blocks (such as images) at .content; its value where it is JSON";

#[derive(Clone, Copy)]
pub(crate) enum Returned<'a> {
    Schema(&'a Value),
    Type(&'a Type),
}

/// `name` is the tool's Python name.
pub(crate) fn signature(name: &str, input: &Value, returned: Returned<'_>) -> String {
    let mut shapes = Shapes::default();
    let parameters = parameters(&mut shapes, input);
    let result = match returned {
        Returned::Schema(root) => ShapeReader::new(&mut shapes, root, DEPTH).open().read(root, ""),
        Returned::Type(kind) => kind.clone(),
    };
    for (depth, depth_of_result) in DEPTHS {
        let mut line = Line::new(&shapes);
        let parts: Vec<String> = parameters.iter().map(|one| line.parameter(one, depth)).collect();
        let returned = Line::new(&shapes).text(&result, depth_of_result);
        let text = format!("{name}({}) -> {returned}", parts.join(", "));
        if text.len() <= GOOD_LENGTH && line.steps > 0 {
            return text;
        }
    }
    let returned = Line::new(&shapes).text(&result, 0);
    shortened(name, &shapes, &parameters, &returned)
}

/// For an observed, undeclared result.
pub(crate) fn observed(name: &str, input: &Value, learned: &Learned) -> String {
    let line = signature(name, input, Returned::Schema(&learned.schema));
    format!("{line}  # {}", observed_in(learned))
}

/// The type of a schema as text, for messages.
pub(crate) fn type_of(root: &Value, schema: &Value) -> String {
    alone(root, schema, 1)
}

struct Argument<'a> {
    name: &'a str,
    kind: Type,
    /// Text that marks an optional parameter.
    default: Option<String>,
}

fn parameters<'a>(shapes: &mut Shapes, input: &'a Value) -> Vec<Argument<'a>> {
    let mut reader = ShapeReader::new(shapes, input, DEPTH).open();
    let (parameters, _) = schema::properties(input, input);
    let argument = |one: Parameter<'a>| {
        let kind = reader.read(one.schema, "");
        let given = schema::said(input, one.schema, "default");
        let shown = given.and_then(|value| short_default(&kind, value));
        Argument {
            name: one.name,
            default: (!one.required).then(|| shown.unwrap_or_else(|| "…".to_owned())),
            kind,
        }
    };
    parameters.into_iter().map(argument).collect()
}

/// The type of values like this one.
pub fn type_of_value(value: &Value) -> String {
    let schema = Learned::of(value).schema;
    alone(&schema, &schema, DEPTH_OF_VALUE)
}

/// The type by itself, with objects written out `depth` levels deep.
fn alone(root: &Value, schema: &Value, depth: usize) -> String {
    let mut shapes = Shapes::default();
    let kind = ShapeReader::new(&mut shapes, root, depth).open().read(schema, "");
    Line::new(&shapes).text(&kind, depth)
}

/// Shortens a line that is too long: omits optional parameters, never required ones.
fn shortened(name: &str, shapes: &Shapes, parameters: &[Argument<'_>], returned: &str) -> String {
    let mut types = Line::new(shapes);
    let mut line = format!("{name}(");
    for (index, one) in parameters.iter().enumerate() {
        let part = types.parameter(one, 0);
        if one.default.is_some() && line.len() + part.len() > GOOD_LENGTH {
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

/// Quotes the key unless Python accepts it as a name.
fn key(name: &str) -> String {
    if is_identifier(name) && name.len() <= MAX_NAME_CHARS {
        name.to_owned()
    } else {
        python_string(name, MAX_NAME_CHARS)
    }
}

/// Writes and counts types.
struct Line<'a> {
    shapes: &'a Shapes,
    steps: usize,
}

// === impl Line ===

impl<'a> Line<'a> {
    fn new(shapes: &'a Shapes) -> Self {
        Self {
            shapes,
            steps: MAX_STEPS,
        }
    }

    fn parameter(&mut self, one: &Argument<'_>, depth: usize) -> String {
        let part = format!("{}: {}", key(one.name), self.text(&one.kind, depth));
        match &one.default {
            Some(default) => format!("{part} = {default}"),
            None => part,
        }
    }

    /// Writes out objects `depth` levels deep.
    fn text(&mut self, kind: &Type, depth: usize) -> String {
        if self.steps == 0 {
            return "Any".to_owned();
        }
        self.steps -= 1;
        match kind {
            Type::Any => "Any".to_owned(),
            Type::Answer => UNDECLARED_RESULT.to_owned(),
            Type::Text => "str".to_owned(),
            Type::Whole => "int".to_owned(),
            Type::Number => "float".to_owned(),
            Type::Truth => "bool".to_owned(),
            Type::Null => "None".to_owned(),
            Type::Literal(values) => literals(values),
            Type::List(item) => of_items("list", "", &self.text(item, depth)),
            Type::Map(value) => of_items("dict", "str, ", &self.text(value, depth)),
            Type::Shape(index) => self.object(*index, depth),
            Type::Union(parts) => self.union(parts, depth),
        }
    }

    fn object(&mut self, index: usize, depth: usize) -> String {
        let Some(shape) = self.shapes.get(index).filter(|_| depth > 0) else {
            return "dict".to_owned();
        };
        let shown = shape.fields.iter().take(MAX_KEYS);
        let mut keys: Vec<String> = shown
            .map(|field| {
                let mark = if field.required { "" } else { "?" };
                format!(
                    "{}{mark}: {}",
                    key(&field.name),
                    self.text(&field.kind, depth - 1)
                )
            })
            .collect();
        if shape.fields.len() > MAX_KEYS {
            keys.push("…".to_owned());
        }
        format!("{{{}}}", keys.join(", "))
    }

    fn union(&mut self, parts: &[Type], depth: usize) -> String {
        let shown = parts.iter().take(MAX_ALTERNATIVES);
        let mut texts: Vec<String> = shown.map(|part| self.text(part, depth)).collect();
        if parts.len() > MAX_ALTERNATIVES {
            texts.push("…".to_owned());
        }
        union_of(texts)
    }
}

/// A container with the type of its items, if that type is known.
fn of_items(container: &str, keys: &str, item: &str) -> String {
    match item {
        "Any" => container.to_owned(),
        item => format!("{container}[{keys}{item}]"),
    }
}

/// The distinct texts joined, `None` last; `Any` replaces all others.
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
    let shown = values.iter().take(MAX_LITERALS);
    let mut texts: Vec<String> = shown
        .filter_map(|value| python_scalar(value, MAX_LITERAL_CHARS))
        .collect();
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
