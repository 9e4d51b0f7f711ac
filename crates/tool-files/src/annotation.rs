//! Converts annotations of parameters and results to JSON Schema; unknown types accept anything.

use ruff_python_ast::{Expr, Number, Operator, UnaryOp};
use ruff_text_size::Ranged as _;
use serde_json::{Map, Value, json};

use crate::classes::Classes;

/// Levels of nested types in a schema.
const MAX_NESTING: usize = 12;

/// Most type parts examined in a tool; later types accept anything.
const MAX_STEPS: usize = 2_000;

/// Most bytes of a tool's definition.
pub(crate) const MAX_DEFINITION: usize = 256 * 1024;

/// Converts annotations to schemas. Limits steps, nesting and bytes, since classes can repeat a part endlessly.
pub(crate) struct Annotations<'a> {
    classes: &'a Classes<'a>,
    steps: usize,
    nesting: usize,
    /// Bytes of names and texts written so far.
    bytes: usize,
}

// === impl Annotations ===

impl<'a> Annotations<'a> {
    pub(crate) fn new(classes: &'a Classes<'a>) -> Self {
        Self {
            classes,
            steps: MAX_STEPS,
            nesting: 0,
            bytes: 0,
        }
    }

    /// Whether the definition's limit was exceeded; the schema is then incomplete.
    pub(crate) fn is_too_long(&self) -> bool {
        self.bytes > MAX_DEFINITION
    }

    /// The schema of a type; empty for any value.
    pub(crate) fn schema(&mut self, annotation: &Expr) -> Map<String, Value> {
        if self.steps == 0 || self.nesting == MAX_NESTING || self.is_too_long() {
            return Map::new();
        }
        self.steps -= 1;
        self.nesting += 1;
        let schema = self.of(annotation);
        self.nesting -= 1;
        schema
    }

    /// The schema of an annotation in text form, as in docstrings; empty if the text is no annotation.
    pub(crate) fn schema_of_text(&mut self, text: &str) -> Map<String, Value> {
        // The file's limit covers its tokens, not the contents of its strings.
        if text.len() > 200 || text.matches(['[', '(', '{', '-', '~']).count() > 20 {
            return Map::new();
        }
        match ruff_python_parser::parse_expression(text) {
            Ok(parsed) => self.schema(parsed.expr()),
            Err(_) => Map::new(),
        }
    }

    fn of(&mut self, annotation: &Expr) -> Map<String, Value> {
        match annotation {
            Expr::NoneLiteral(_) => object(json!({"type": "null"})),
            Expr::StringLiteral(text) => self.schema_of_text(text.value.to_str()),
            Expr::BinOp(union) if union.op == Operator::BitOr => {
                let mut parts = Vec::new();
                alternatives(annotation, &mut parts);
                self.union(&parts)
            }
            Expr::Subscript(generic) => match name(&generic.value) {
                Some(name) => self.generic(name, &arguments(&generic.slice)),
                None => Map::new(),
            },
            _ => name(annotation).map_or_else(Map::new, |name| self.named(name)),
        }
    }

    fn named(&mut self, name: &str) -> Map<String, Value> {
        let simple = match name {
            "int" => "integer",
            "float" => "number",
            "str" => "string",
            "bool" => "boolean",
            "None" => "null",
            "list" | "List" | "Sequence" | "Iterable" | "Collection" | "tuple" | "Tuple" | "set" | "Set"
            | "frozenset" => "array",
            "dict" | "Dict" | "Mapping" | "MutableMapping" => "object",
            _ => return self.class(name),
        };
        object(json!({"type": simple}))
    }

    /// A class of the file that describes a mapping.
    fn class(&mut self, name: &str) -> Map<String, Value> {
        let Some(fields) = self.classes.fields(name) else {
            return Map::new();
        };
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in fields {
            // Once as a property, once as required.
            self.bytes += 2 * field.name.len();
            if self.is_too_long() {
                break;
            }
            let mut schema = self.schema(field.annotation);
            if field.is_none_by_default {
                accept_null(&mut schema);
            }
            properties.insert(field.name.to_owned(), Value::Object(schema));
            if field.is_required {
                required.push(field.name);
            }
        }
        let mut schema = object(json!({"type": "object"}));
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema
    }

    fn generic(&mut self, name: &str, arguments: &[&Expr]) -> Map<String, Value> {
        let first = arguments.first().copied();
        match name {
            "Optional" => self.union(&[first, None]),
            "Union" => self.union(&arguments.iter().map(|part| Some(*part)).collect::<Vec<_>>()),
            "Literal" => self.literals(arguments),
            "Annotated" => self.annotated(arguments),
            "Required" | "NotRequired" | "ReadOnly" | "Final" | "ClassVar" | "InitVar" => {
                first.map_or_else(Map::new, |inner| self.schema(inner))
            }
            "list" | "List" | "Sequence" | "Iterable" | "Collection" | "set" | "Set" | "frozenset" => {
                self.array(first)
            }
            "tuple" | "Tuple" => match arguments {
                [item, Expr::EllipsisLiteral(_)] => self.array(Some(item)),
                _ => object(json!({"type": "array"})),
            },
            "dict" | "Dict" | "Mapping" | "MutableMapping" => self.mapping(arguments.get(1).copied()),
            "Awaitable" | "Coroutine" => arguments
                .last()
                .map_or_else(Map::new, |result| self.schema(result)),
            _ => self.named(name),
        }
    }

    fn array(&mut self, item: Option<&Expr>) -> Map<String, Value> {
        let items = item.map_or_else(Map::new, |item| self.schema(item));
        let mut schema = object(json!({"type": "array"}));
        if !items.is_empty() {
            schema.insert("items".to_owned(), Value::Object(items));
        }
        schema
    }

    fn mapping(&mut self, value: Option<&Expr>) -> Map<String, Value> {
        let values = value.map_or_else(Map::new, |value| self.schema(value));
        let mut schema = object(json!({"type": "object"}));
        if !values.is_empty() {
            schema.insert("additionalProperties".to_owned(), Value::Object(values));
        }
        schema
    }

    /// `Annotated[T, "what it is"]`.
    fn annotated(&mut self, arguments: &[&Expr]) -> Map<String, Value> {
        let Some((inner, notes)) = arguments.split_first() else {
            return Map::new();
        };
        let mut schema = self.schema(inner);
        let text = notes.iter().find_map(|note| note.as_string_literal_expr());
        if let Some(text) = text {
            self.bytes += text.value.len();
            schema.insert("description".to_owned(), Value::from(text.value.to_str()));
        }
        schema
    }

    fn literals(&mut self, arguments: &[&Expr]) -> Map<String, Value> {
        let mut values = Vec::new();
        for argument in arguments {
            let Some(value) = constant(argument) else {
                return Map::new();
            };
            self.bytes += usize::from(argument.range().len());
            values.push(value);
            if self.is_too_long() {
                break;
            }
        }
        match values.is_empty() {
            true => Map::new(),
            false => object(json!({"enum": values})),
        }
    }

    /// A union; a `None` part stands for null. A part that accepts anything absorbs the others.
    fn union(&mut self, parts: &[Option<&Expr>]) -> Map<String, Value> {
        let mut schemas: Vec<Value> = Vec::new();
        for part in parts {
            let schema = match part {
                Some(part) => self.schema(part),
                None => object(json!({"type": "null"})),
            };
            if schema.is_empty() {
                return schema;
            }
            let schema = Value::Object(schema);
            if !schemas.contains(&schema) {
                schemas.push(schema);
            }
        }
        match schemas.as_mut_slice() {
            [Value::Object(only)] => std::mem::take(only),
            _ => object(json!({"anyOf": schemas})),
        }
    }
}

pub(crate) fn constant(value: &Expr) -> Option<Value> {
    match value {
        Expr::NoneLiteral(_) => Some(Value::Null),
        Expr::BooleanLiteral(literal) => Some(Value::Bool(literal.value)),
        Expr::StringLiteral(literal) => Some(Value::from(literal.value.to_str())),
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(number) => number.as_i64().map(Value::from),
            Number::Float(number) => serde_json::Number::from_f64(*number).map(Value::Number),
            Number::Complex { .. } => None,
        },
        Expr::UnaryOp(minus) if minus.op == UnaryOp::USub => match constant(&minus.operand)? {
            Value::Number(number) if number.is_i64() => number.as_i64()?.checked_neg().map(Value::from),
            Value::Number(number) => serde_json::Number::from_f64(-number.as_f64()?).map(Value::Number),
            _ => None,
        },
        Expr::List(list) => list.elts.iter().map(constant).collect(),
        Expr::Dict(dict) if dict.items.is_empty() => Some(json!({})),
        _ => None,
    }
}

/// Makes a schema accept `null`: `units: str = None` takes `None`, whatever its annotation says.
pub(crate) fn accept_null(schema: &mut Map<String, Value>) {
    if let Some(kind) = schema.get_mut("type")
        && kind.is_string()
        && kind != "null"
    {
        *kind = json!([kind, "null"]);
    }
    for (list, null) in [("enum", Value::Null), ("anyOf", json!({"type": "null"}))] {
        if let Some(Value::Array(alternatives)) = schema.get_mut(list)
            && !alternatives.contains(&null)
        {
            alternatives.push(null);
        }
    }
}

/// The last part of a dotted name.
pub(crate) fn name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

fn arguments(slice: &Expr) -> Vec<&Expr> {
    match slice {
        Expr::Tuple(tuple) => tuple.elts.iter().collect(),
        single => vec![single],
    }
}

/// The parts of `A | B | C`, left to right.
fn alternatives<'e>(mut union: &'e Expr, parts: &mut Vec<Option<&'e Expr>>) {
    let mut reversed = Vec::new();
    while let Expr::BinOp(pair) = union
        && pair.op == Operator::BitOr
    {
        reversed.push(&*pair.right);
        union = &pair.left;
    }
    reversed.push(union);
    parts.extend(reversed.into_iter().rev().map(Some));
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
