//! Writes Python: a module with one tool's types and function.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

use serde_json::Value;
use types::ToolRef;

use super::{Declaration, observed, one_line};
use crate::names::is_identifier;
use crate::shapes::{Shape, ShapeField, Shapes, Type};
use crate::signature::{UNDECLARED_RESULT, UNDECLARED_RESULT_NOTE};
use crate::text::{docstring, python_scalar, python_string, short_default};

/// A function's head stays on one line up to this length.
const GOOD_LENGTH: usize = 100;

/// Names used in types; a class member with such a name would hide them.
const USED: [&str; 8] = ["Any", "Literal", "bool", "dict", "float", "int", "list", "str"];

/// Writes types and remembers their imports.
pub(super) struct Writer<'a> {
    shapes: &'a Shapes,
    /// The function's name, which may equal a type's.
    alias: &'a str,
    pub(super) hides_builtin: bool,
    pub(super) imports: BTreeSet<&'static str>,
    /// Whether the tool declares no result.
    is_answer: bool,
    /// Shapes already defined above.
    defined: HashSet<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallForm {
    Names,
    /// All arguments in one mapping, because Python rejects some of the names.
    Mapping,
}

/// The module. With `calls`, programs can import it, and its function calls this tool.
pub(super) fn file(declaration: &Declaration, calls: Option<&ToolRef>) -> String {
    let mut writer = Writer::of(declaration);
    let mut body = writer.types(declaration);
    let form = CallForm::of(declaration, |field| is_parameter(&field.name));
    if form == CallForm::Mapping {
        let _ = write!(body, "\n\n{}", writer.typed_dict(&declaration.arguments));
    }
    body.push_str("\n\n");
    if let Some(tool) = calls {
        let (server, name) = (
            python_string(&tool.server, usize::MAX),
            python_string(&tool.tool, usize::MAX),
        );
        let _ = writeln!(body, "@tool({server}, {name})");
    }
    body.push_str(&writer.function(declaration, form));
    let mut imports = Vec::new();
    if calls.is_some() {
        imports.push("from __future__ import annotations".to_owned());
    }
    if writer.hides_builtin {
        imports.push("import builtins".to_owned());
    }
    if !writer.imports.is_empty() {
        let names: Vec<&str> = writer.imports.into_iter().collect();
        imports.push(format!("from typing import {}", names.join(", ")));
    }
    if calls.is_some() {
        imports.push("from mcp.stubs import tool".to_owned());
    }
    format!("{}\n{body}", imports.join("\n\n"))
        .trim_start()
        .to_owned()
}

// === impl CallForm ===

impl CallForm {
    /// `is_name`: whether a function can have such a parameter.
    pub(super) fn of(declaration: &Declaration, is_name: impl FnMut(&ShapeField) -> bool) -> CallForm {
        match declaration.arguments.fields.iter().all(is_name) {
            true => CallForm::Names,
            false => CallForm::Mapping,
        }
    }
}

pub(super) fn is_parameter(name: &str) -> bool {
    is_identifier(name) && name != "__debug__"
}

// === impl Writer ===

impl<'a> Writer<'a> {
    pub(super) fn of(declaration: &'a Declaration) -> Self {
        Writer {
            shapes: &declaration.shapes,
            alias: &declaration.alias,
            hides_builtin: false,
            imports: BTreeSet::new(),
            is_answer: declaration.result == Type::Answer,
            defined: HashSet::new(),
        }
    }

    /// The types of arguments and result, without the type of all arguments together.
    pub(super) fn types(&mut self, declaration: &Declaration) -> String {
        let mut text = String::new();
        if self.is_answer {
            let _ = write!(
                text,
                "\n\n{UNDECLARED_RESULT} = {}  # {UNDECLARED_RESULT_NOTE}\n",
                self.import("Any")
            );
        }
        for (index, shape) in declaration.shapes.iter() {
            let _ = write!(text, "\n\n{}", self.typed_dict(shape));
            self.defined.insert(index);
        }
        text
    }

    fn function(&mut self, declaration: &Declaration, form: CallForm) -> String {
        let alias = &declaration.alias;
        let parts = if form == CallForm::Mapping {
            vec![self.mapping(declaration), "/".to_owned()]
        } else {
            self.parameters(declaration)
        };
        let result = self.text(&declaration.result);
        let mut head = format!("async def {alias}({}) -> {result}:", parts.join(", "));
        if head.len() > GOOD_LENGTH && !parts.is_empty() {
            head = format!(
                "async def {alias}(\n    {},\n) -> {result}:",
                parts.join(",\n    ")
            );
        }
        let doc = doc(declaration, form);
        let body = if doc.is_empty() {
            "    ...\n".to_owned()
        } else {
            docstring(&doc, "    ")
        };
        format!("{head}\n{body}")
    }

    /// Keyword-only parameters.
    fn parameters(&mut self, declaration: &Declaration) -> Vec<String> {
        let fields = &declaration.arguments.fields;
        let mut parts = Vec::with_capacity(fields.len() + 2);
        if !fields.is_empty() {
            parts.push("*".to_owned());
        }
        for (field, note) in fields.iter().zip(&declaration.notes) {
            let mut part = format!("{}: {}", field.name, self.text(&field.kind));
            if !field.required {
                let default = note
                    .default
                    .as_ref()
                    .and_then(|value| short_default(&field.kind, value));
                let _ = write!(part, " = {}", default.as_deref().unwrap_or("..."));
            }
            parts.push(part);
        }
        if declaration.arguments.open {
            let mut name = "others".to_owned();
            while fields.iter().any(|field| field.name == name) {
                name.push('_');
            }
            parts.push(format!("**{name}: {}", self.import("Any")));
        }
        parts
    }

    /// The single mapping parameter, if Python rejects some of the names.
    fn mapping(&mut self, declaration: &Declaration) -> String {
        let mut part = format!("arguments: {}", declaration.arguments.name);
        if declaration.arguments.open {
            let _ = write!(part, " | {}", self.text(&Type::Map(Box::new(Type::Any))));
        }
        if !declaration.arguments.fields.iter().any(|field| field.required) {
            part.push_str(" = ...");
        }
        part
    }

    /// Defines an object's type. Required and optional keys take two definitions.
    pub(super) fn typed_dict(&mut self, shape: &Shape) -> String {
        self.import("TypedDict");
        let name = &shape.name;
        let (required, optional): (Vec<&ShapeField>, Vec<&ShapeField>) =
            shape.fields.iter().partition(|field| field.required);
        match (required.as_slice(), optional.as_slice()) {
            (_, []) => self.definition(name, None, &required, ""),
            ([], _) => self.definition(name, None, &optional, ", total=False"),
            _ => {
                let base = format!("_{name}");
                let first = self.definition(&base, None, &required, "");
                if self.has_plain_keys(&optional) {
                    let second = self.definition(name, Some(&base), &optional, ", total=False");
                    return format!("{first}\n\n{second}");
                }
                let other = format!("_{name}_");
                let second = self.definition(&other, None, &optional, ", total=False");
                format!("{first}\n\n{second}\n\nclass {name}({base}, {other}):\n    pass\n")
            }
        }
    }

    fn definition(&mut self, name: &str, base: Option<&str>, fields: &[&ShapeField], total: &str) -> String {
        let mut text;
        if self.has_plain_keys(fields) {
            text = format!("class {name}({}{total}):\n", base.unwrap_or("TypedDict"));
            for field in fields {
                let kind = self.text(&field.kind);
                let _ = writeln!(text, "    {}: {kind}{}", field.name, note(field));
            }
        } else {
            text = format!("{name} = TypedDict('{name}', {{\n");
            for field in fields {
                let (key, kind) = (
                    python_string(&field.name, usize::MAX),
                    self.evaluated(&field.kind),
                );
                let _ = writeln!(text, "    {key}: {kind},{}", note(field));
            }
            let _ = writeln!(text, "}}{total})");
        }
        text
    }

    fn has_plain_keys(&self, fields: &[&ShapeField]) -> bool {
        let is_plain = |name: &str| {
            let hides = USED.contains(&name) || self.shapes.iter().any(|(_, shape)| shape.name == name);
            is_identifier(name) && !name.starts_with("__") && !hides
        };
        fields.iter().all(|field| is_plain(&field.name))
    }

    /// A type that Python evaluates at once: quoted if it names a later definition.
    fn evaluated(&mut self, kind: &Type) -> String {
        let text = self.text(kind);
        if self.is_defined(kind) {
            text
        } else {
            python_string(&text, usize::MAX)
        }
    }

    fn is_defined(&self, kind: &Type) -> bool {
        match kind {
            Type::Shape(index) => self.defined.contains(index),
            Type::List(inner) | Type::Map(inner) => self.is_defined(inner),
            Type::Union(parts) => parts.iter().all(|part| self.is_defined(part)),
            _ => true,
        }
    }

    /// A built-in type, unless the tool has the same name.
    fn builtin(&mut self, name: &str) -> String {
        if name == self.alias {
            self.hides_builtin = true;
            return format!("builtins.{name}");
        }
        name.to_owned()
    }

    pub(super) fn import(&mut self, name: &'static str) -> &'static str {
        self.imports.insert(name);
        name
    }

    pub(super) fn text(&mut self, kind: &Type) -> String {
        match kind {
            Type::Any => self.import("Any").to_owned(),
            Type::Answer => UNDECLARED_RESULT.to_owned(),
            Type::Text => self.builtin("str"),
            Type::Whole => self.builtin("int"),
            Type::Number => self.builtin("float"),
            Type::Truth => self.builtin("bool"),
            Type::Null => "None".to_owned(),
            Type::Literal(values) => self.literal(values),
            Type::List(item) => format!("{}[{}]", self.builtin("list"), self.text(item)),
            Type::Map(value) => {
                format!(
                    "{}[{}, {}]",
                    self.builtin("dict"),
                    self.builtin("str"),
                    self.text(value)
                )
            }
            Type::Shape(index) => self.shapes.name(*index).to_owned(),
            Type::Union(parts) => {
                let texts: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
                texts.join(" | ")
            }
        }
    }

    fn literal(&mut self, values: &[Value]) -> String {
        let texts: Vec<String> = values
            .iter()
            .filter_map(|value| python_scalar(value, usize::MAX))
            .collect();
        format!("{}[{}]", self.import("Literal"), texts.join(", "))
    }
}

/// A field's comment. Avoids a beginning of `type:`, which type checkers read as a type.
fn note(field: &ShapeField) -> String {
    match &field.note {
        Some(note) if note.to_ascii_lowercase().starts_with("type:") => format!("  # - {note}"),
        Some(note) => format!("  # {note}"),
        None => String::new(),
    }
}

pub(super) fn doc(declaration: &Declaration, form: CallForm) -> String {
    let mut paragraphs = Vec::new();
    if !declaration.description.is_empty() {
        paragraphs.push(declaration.description.clone());
    }
    if form == CallForm::Mapping {
        let name = declaration
            .arguments
            .fields
            .iter()
            .find(|field| !is_parameter(&field.name));
        let name = name.map_or("", |field| &field.name);
        let call = format!(
            "{}({{{}: ...}})",
            declaration.alias,
            one_line(&python_string(name, usize::MAX))
        );
        paragraphs.push(format!(
            "Takes one mapping, because not all names are Python names: {call}"
        ));
    }
    let described = declaration.arguments.fields.iter().zip(&declaration.notes);
    let lines: Vec<String> = described
        .filter_map(|(field, note)| Some(format!("{}: {}", one_line(&field.name), note.text.as_ref()?)))
        .collect();
    if !lines.is_empty() {
        paragraphs.push(lines.join("\n"));
    }
    paragraphs.extend(declaration.observed.as_deref().map(observed));
    paragraphs.join("\n\n")
}
