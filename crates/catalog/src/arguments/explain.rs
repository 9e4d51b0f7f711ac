//! Explains what is wrong with arguments, in Python's words: parameter, expected, given.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::likeness::nearest;
use crate::schema::{self, Parameter};
use crate::signature;
use crate::text::{cut, python_string};

/// Limit on errors that are read, because hostile arguments can have millions of errors.
const MAX_ERRORS: usize = 32;

const MAX_VALUES: usize = 12;
const MAX_TEXT: usize = 60;

/// Each problem once; missing parameters first.
pub(super) fn problems<'e>(
    input: &Value,
    arguments: &Value,
    errors: impl Iterator<Item = ValidationError<'e>>,
) -> Vec<String> {
    let (parameters, _) = schema::properties(input, input);
    let errors: Vec<ValidationError<'_>> = errors.take(MAX_ERRORS).collect();
    let explain = Explain {
        input,
        arguments,
        parameters: &parameters,
        strangers_named: errors
            .iter()
            .any(|error| matches!(error.kind(), ValidationErrorKind::AdditionalProperties { .. })),
    };
    let mut problems: Vec<(bool, String)> = Vec::new();
    for error in errors {
        let missing = matches!(error.kind(), ValidationErrorKind::Required { .. });
        for problem in explain.problem(&error) {
            if !problems.iter().any(|(_, known)| *known == problem) {
                problems.push((!missing, problem));
            }
        }
    }
    problems.sort_by_key(|(later, _)| *later);
    problems.into_iter().map(|(_, problem)| problem).collect()
}

/// The type's name in Python.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "None",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

struct Explain<'a> {
    input: &'a Value,
    arguments: &'a Value,
    parameters: &'a [Parameter<'a>],
    /// Whether unknown parameters are reported as their own problems.
    strangers_named: bool,
}

// === impl Explain ===

impl Explain<'_> {
    fn problem(&self, error: &ValidationError<'_>) -> Vec<String> {
        let place = ArgumentPath::of(error);
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                vec![self.missing(&place, property.as_str().unwrap_or_default())]
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let names = unexpected.iter().take(MAX_VALUES);
                names.map(|name| self.unknown(&place, error, name)).collect()
            }
            _ => vec![self.wrong(&place, error)],
        }
    }

    fn missing(&self, place: &ArgumentPath, name: &str) -> String {
        let quoted = python_string(name, MAX_TEXT);
        if !place.is_root() {
            return format!("{place} lacks {quoted}");
        }
        let given = self.arguments.as_object().filter(|_| !self.strangers_named);
        let strangers = given.into_iter().flatten().map(|(given, _)| given.as_str());
        let similar = nearest(name, strangers.filter(|given| self.parameter(given).is_none()));
        let instead = similar.map(|given| {
            format!(
                " ({} is not a parameter of this tool)",
                python_string(given, MAX_TEXT)
            )
        });
        let expected = match self.parameter(name) {
            Some(parameter) => format!(": {}", signature::type_of(self.input, parameter.schema)),
            None => String::new(),
        };
        format!(
            "missing required argument {quoted}{expected}{}",
            instead.unwrap_or_default()
        )
    }

    fn unknown(&self, place: &ArgumentPath, error: &ValidationError<'_>, name: &str) -> String {
        let quoted = python_string(name, MAX_TEXT);
        if !place.is_root() {
            return format!("{place} has an unknown key {quoted}");
        }
        let given = error.instance().as_object();
        let free = self.parameters.iter().map(|parameter| parameter.name);
        let free = free.filter(|known| given.is_none_or(|given| !given.contains_key(*known)));
        match nearest(name, free) {
            Some(known) => format!(
                "unknown argument {quoted}; did you mean {}?",
                python_string(known, MAX_TEXT)
            ),
            None if self.parameters.is_empty() => {
                format!("unknown argument {quoted}; the tool takes no arguments")
            }
            None => format!("unknown argument {quoted}; the tool takes {}", self.names()),
        }
    }

    fn names(&self) -> String {
        let names = self.parameters.iter().take(MAX_VALUES);
        let mut names: Vec<String> = names.map(|p| python_string(p.name, MAX_TEXT)).collect();
        if self.parameters.len() > MAX_VALUES {
            names.push("…".to_owned());
        }
        names.join(", ")
    }

    fn wrong(&self, place: &ArgumentPath, error: &ValidationError<'_>) -> String {
        let value = error.instance();
        let parameter = place.parameter().and_then(|name| self.parameter(name));
        let declared = parameter.map(|parameter| signature::type_of(self.input, parameter.schema));
        let expected = expectation(error, declared.as_deref());
        let optional = parameter.is_some_and(|parameter| !parameter.required);
        let leave = if value.is_null() && optional {
            "; leave it out if there is none"
        } else {
            ""
        };
        format!("{place} {expected}, not {}{leave}", shown(value))
    }

    fn parameter(&self, name: &str) -> Option<&Parameter<'_>> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// The expected value; `declared` is the parameter's type, if the value is a whole parameter.
fn expectation(error: &ValidationError<'_>, declared: Option<&str>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", declared.map_or_else(|| types(kind), str::to_owned)),
        Kind::Enum { options } => one_of(options, error.instance()),
        Kind::Constant { expected_value } => format!("must be {}", shown_value(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } | Kind::MinProperties { limit } => {
            format!("must have at least {limit} items")
        }
        Kind::MaxItems { limit } | Kind::MaxProperties { limit } => {
            format!("must have at most {limit} items")
        }
        Kind::UniqueItems => "must not repeat an item".to_owned(),
        Kind::Contains => "must have an item of the form that the schema asks for".to_owned(),
        Kind::Pattern { pattern } => {
            format!("must match the pattern {}", python_string(pattern, 2 * MAX_TEXT))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(context, error, declared),
        Kind::OneOfMultipleValid { .. } => {
            "must have exactly one of the forms that the schema lists".to_owned()
        }
        Kind::FalseSchema => "must be left out".to_owned(),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        _ => format!("must satisfy '{}' of the tool's schema", error.kind().keyword()),
    }
}

/// Explains the best-fitting alternative: the alternative of the right type whose error is deepest.
fn alternatives(
    context: &[Vec<ValidationError<'static>>],
    error: &ValidationError<'_>,
    declared: Option<&str>,
) -> String {
    let here = error.instance_path();
    let close = context.iter().filter_map(|errors| errors.first()).find(|first| {
        first.instance_path() != here || !matches!(first.kind(), ValidationErrorKind::Type { .. })
    });
    match close {
        Some(first) if first.instance_path() == here => match first.kind() {
            ValidationErrorKind::Required { property } => {
                format!("must have {}", shown_value(property))
            }
            _ => expectation(first, None),
        },
        Some(first) => {
            let place = ArgumentPath::of(first);
            match first.kind() {
                ValidationErrorKind::Required { property } => {
                    format!("must have {} in {place}", shown_value(property))
                }
                _ => format!("must have a value in {place} that {}", expectation(first, None)),
            }
        }
        None => match declared {
            Some(declared) => format!("must be {declared}"),
            None => {
                let mut expected: Vec<String> = Vec::new();
                for first in context
                    .iter()
                    .filter_map(|errors| errors.first())
                    .take(MAX_VALUES)
                {
                    if let ValidationErrorKind::Type { kind } = first.kind() {
                        expected.push(types(kind));
                    }
                }
                format!("must be {}", expected.join(" or "))
            }
        },
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => python_type(*single).to_owned(),
        TypeKind::Multiple(set) => {
            let names: Vec<&str> = set.iter().map(python_type).collect();
            names.join(" or ")
        }
    }
}

fn python_type(json: JsonType) -> &'static str {
    match json {
        JsonType::Null => "None",
        JsonType::Boolean => "bool",
        JsonType::Integer => "int",
        JsonType::Number => "float",
        JsonType::String => "str",
        JsonType::Array => "list",
        JsonType::Object => "dict",
    }
}

fn one_of(options: &Value, given: &Value) -> String {
    let values = options.as_array().map_or(&[][..], Vec::as_slice);
    let mut shown: Vec<String> = values.iter().take(MAX_VALUES).map(shown_value).collect();
    if values.len() > MAX_VALUES {
        shown.push("…".to_owned());
    }
    let close = given
        .as_str()
        .and_then(|given| nearest(given, values.iter().filter_map(Value::as_str)));
    let close = close.map(|close| format!(" (nearest: {})", python_string(close, MAX_TEXT)));
    format!("must be one of {}{}", shown.join(", "), close.unwrap_or_default())
}

/// A scalar as Python writes it; the type of anything else.
fn shown_value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => python_string(text, MAX_TEXT),
        Value::Array(_) | Value::Object(_) => cut(&value.to_string(), MAX_TEXT),
    }
}

/// The value's type, and the value itself if it is a short scalar.
fn shown(value: &Value) -> String {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => type_name(value).to_owned(),
        _ => format!("{} {}", type_name(value), shown_value(value)),
    }
}

/// The path of a problem within the arguments.
struct ArgumentPath {
    text: String,
    depth: usize,
}

// === impl ArgumentPath ===

impl ArgumentPath {
    fn of(error: &ValidationError<'_>) -> Self {
        let mut text = String::new();
        let mut depth = 0;
        for segment in error.instance_path() {
            match segment {
                LocationSegment::Property(name) => {
                    if depth > 0 {
                        text.push('.');
                    }
                    text.push_str(&cut(&name, MAX_TEXT));
                }
                LocationSegment::Index(index) => text.push_str(&format!("[{index}]")),
            }
            depth += 1;
        }
        Self { text, depth }
    }

    fn is_root(&self) -> bool {
        self.depth == 0
    }

    /// The parameter's name, if the path is exactly one parameter.
    fn parameter(&self) -> Option<&str> {
        (self.depth == 1).then_some(self.text.as_str())
    }
}

impl std::fmt::Display for ArgumentPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_root() {
            f.write_str("the arguments")
        } else {
            write!(f, "argument {}", python_string(&self.text, 4 * MAX_TEXT))
        }
    }
}
