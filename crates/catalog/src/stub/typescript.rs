//! Writes TypeScript: one tool's types and function, as a declaration or as a module.

use std::fmt::Write;

use serde_json::Value;
use types::ToolRef;

use super::{Declaration, observed};
use crate::entry::LINE_DEPTHS;
use crate::shapes::{Shape, ShapeField, Shapes, Type};
use crate::text::{clean, typescript_string};

/// The function by which programs call a tool by its names.
const CALL: &str = "__toolcall__";

/// Fields of one object in a signature.
const MAX_FIELDS: usize = 16;

/// Depth of objects in a signature.
pub(super) const DEPTH: usize = LINE_DEPTHS - 1;

/// Aliases that TypeScript does not accept as a function's name; Python's own already end in an underscore.
const RESERVED: [&str; 33] = [
    "arguments",
    "case",
    "catch",
    "const",
    "debugger",
    "default",
    "delete",
    "do",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "function",
    "implements",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "typeof",
    "var",
    "void",
];

/// The declaration of the tool's function.
pub(super) fn file(declaration: &Declaration) -> String {
    let (mut text, head) = types_and_head(declaration);
    let _ = writeln!(text, "export declare function {head};");
    text
}

/// The tool's function with its types, which calls the tool by its names.
pub(super) fn module(declaration: &Declaration, tool: &ToolRef) -> String {
    let (mut text, head) = types_and_head(declaration);
    let [server, tool] = [&tool.server, &tool.tool].map(|name| typescript_string(name));
    let given = if takes_some(declaration) { "args" } else { "{}" };
    let _ = write!(
        text,
        "export async function {head} {{\n  return await {CALL}({server}, {tool}, {given});\n}}\n\n\
         declare function {CALL}(server: string, tool: string, args?: object): Promise<any>;\n"
    );
    text
}

fn takes_some(declaration: &Declaration) -> bool {
    !declaration.arguments.fields.is_empty() || declaration.arguments.open
}

/// The interfaces with the description of the function, and the function's name, parameter and result.
fn types_and_head(declaration: &Declaration) -> (String, String) {
    let Declaration {
        shapes, arguments, ..
    } = declaration;
    let mut text = String::new();
    for (_, shape) in shapes.iter() {
        let notes = shape.fields.iter().map(|field| field.note.as_deref());
        text.push_str(&interface(shapes, shape, notes));
    }
    if takes_some(declaration) {
        let notes = declaration.notes.iter().map(|note| note.text.as_deref());
        text.push_str(&interface(shapes, arguments, notes));
    }
    let mut paragraphs = vec![declaration.description.clone()];
    paragraphs.extend(declaration.observed.as_deref().map(observed));
    text.push_str(&comment(&paragraphs.join("\n\n"), ""));
    let mark = if arguments.fields.iter().any(|field| field.required) {
        ""
    } else {
        "?"
    };
    let parameter = if takes_some(declaration) {
        format!("args{mark}: {}", arguments.name)
    } else {
        String::new()
    };
    let result = kind(shapes, &declaration.result);
    let name = function_name(&declaration.alias);
    (text, format!("{name}({parameter}): Promise<{result}>"))
}

/// `find({ id: string, limit?: number })`.
pub(super) fn call(declaration: &Declaration) -> String {
    let Declaration {
        shapes, arguments, ..
    } = declaration;
    let name = function_name(&declaration.alias);
    match fields(shapes, arguments, DEPTH) {
        text if text.is_empty() => format!("{name}()"),
        text => format!("{name}({{ {text} }})"),
    }
}

/// `find({ id: string }): Promise<{ name: string }>`.
pub(super) fn signature(declaration: &Declaration) -> String {
    let result = inlined(&declaration.shapes, &declaration.result, DEPTH);
    format!("{}: Promise<{result}>", call(declaration))
}

/// The tool's declaration on one line, below its summary.
pub(super) fn line(declaration: &Declaration, summary: &str, depth: usize) -> String {
    let Declaration {
        shapes,
        arguments,
        result,
        ..
    } = declaration;
    let mark = if arguments.fields.iter().any(|field| field.required) {
        ""
    } else {
        "?"
    };
    let parameter = match fields(shapes, arguments, depth) {
        text if text.is_empty() => String::new(),
        text => format!("args{mark}: {{ {text} }}"),
    };
    let name = function_name(&declaration.alias);
    let result = inlined(shapes, result, depth);
    format!(
        "{}export declare function {name}({parameter}): Promise<{result}>;\n",
        comment(summary, "")
    )
}

/// The fields of a shape on one line; those beyond the first [`MAX_FIELDS`] are left out.
fn fields(shapes: &Shapes, shape: &Shape, depth: usize) -> String {
    let shown = |field: &ShapeField| {
        let mark = if field.required { "" } else { "?" };
        format!(
            "{}{mark}: {}",
            key(&field.name),
            inlined(shapes, &field.kind, depth)
        )
    };
    let mut texts: Vec<String> = shape.fields.iter().take(MAX_FIELDS).map(shown).collect();
    if shape.fields.len() > MAX_FIELDS {
        texts.push("[key: string]: any".to_owned());
    }
    texts.join(", ")
}

/// A type with the fields of its shapes, down to `depth`.
pub(super) fn inlined(shapes: &Shapes, of: &Type, depth: usize) -> String {
    match of {
        Type::Shape(index) => match shapes
            .get(*index)
            .filter(|shape| depth > 0 && !shape.fields.is_empty())
        {
            Some(shape) => format!("{{ {} }}", fields(shapes, shape, depth - 1)),
            None => "object".to_owned(),
        },
        Type::List(item) => match inlined(shapes, item, depth) {
            text if text.contains(" | ") && !text.starts_with('{') => format!("({text})[]"),
            text => format!("{text}[]"),
        },
        Type::Map(value) => format!("Record<string, {}>", inlined(shapes, value, depth)),
        Type::Union(parts) => {
            let texts: Vec<String> = parts.iter().map(|part| inlined(shapes, part, depth)).collect();
            texts.join(" | ")
        }
        other => kind(shapes, other),
    }
}

/// A unique function name: no alias contains `$`.
pub(super) fn function_name(alias: &str) -> String {
    let mark = if RESERVED.contains(&alias) { "$" } else { "" };
    format!("{alias}{mark}")
}

/// The interface of a shape, with its fields' notes.
fn interface<'a>(shapes: &Shapes, shape: &Shape, notes: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut text = format!("export interface {} {{\n", shape.name);
    for (field, note) in shape.fields.iter().zip(notes) {
        if let Some(note) = note {
            text.push_str(&comment(note, "  "));
        }
        let mark = if field.required { "" } else { "?" };
        let _ = writeln!(
            text,
            "  {}{mark}: {};",
            key(&field.name),
            kind(shapes, &field.kind)
        );
    }
    if shape.open {
        text.push_str("  [key: string]: any;\n");
    }
    text + "}\n\n"
}

fn kind(shapes: &Shapes, of: &Type) -> String {
    match of {
        Type::Any | Type::Answer => "any".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Whole | Type::Number => "number".to_owned(),
        Type::Truth => "boolean".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Literal(values) => {
            let texts: Vec<String> = values.iter().filter_map(literal).collect();
            texts.join(" | ")
        }
        Type::List(item) => match item.as_ref() {
            Type::Union(_) | Type::Literal(_) => format!("({})[]", kind(shapes, item)),
            _ => format!("{}[]", kind(shapes, item)),
        },
        Type::Map(value) => format!("Record<string, {}>", kind(shapes, value)),
        Type::Shape(index) => shapes.name(*index).to_owned(),
        Type::Union(parts) => {
            let mut texts: Vec<String> = Vec::new();
            for text in parts.iter().map(|part| kind(shapes, part)) {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            texts.join(" | ")
        }
    }
}

fn literal(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(typescript_string(text)),
        Value::Array(_) | Value::Object(_) => None,
        scalar => Some(scalar.to_string()),
    }
}

/// Quotes the key unless TypeScript accepts it unquoted.
fn key(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain {
        name.to_owned()
    } else {
        typescript_string(name)
    }
}

/// A comment that its text cannot end; empty for an empty text.
pub(super) fn comment(text: &str, indent: &str) -> String {
    let text = clean(text.trim()).replace("*/", "*\\/");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: Vec<String> = lines
                .iter()
                .map(|line| format!("{indent} * {line}").trim_end().to_owned())
                .collect();
            format!("{indent}/**\n{}\n{indent} */\n", lines.join("\n"))
        }
    }
}
