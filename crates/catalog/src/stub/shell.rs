//! Writes how a tool is called in a shell.

use std::fmt::Write;

use super::{Declaration, observed, typescript};
use crate::shapes::ShapeField;

/// Arguments in a call; the others are left out.
const MAX_FIELDS: usize = 16;

/// `mcp call crm.find id=<string> [limit=<number>]`.
pub(super) fn call(declaration: &Declaration, name: &str) -> String {
    let mut text = format!("mcp call {name}");
    let fields = &declaration.arguments.fields;
    for field in fields.iter().take(MAX_FIELDS) {
        let argument = argument(declaration, field);
        let _ = match field.required {
            true => write!(text, " {argument}"),
            false => write!(text, " [{argument}]"),
        };
    }
    if fields.len() > MAX_FIELDS {
        text.push_str(" …");
    }
    text
}

fn argument(declaration: &Declaration, field: &ShapeField) -> String {
    let kind = typescript::inlined(&declaration.shapes, &field.kind, typescript::DEPTH);
    format!("{}=<{kind}>", field.name)
}

/// The call, the description, a line for each argument with a note, and the result.
pub(super) fn page(declaration: &Declaration, name: &str) -> String {
    let mut text = call(declaration, name);
    text.push('\n');
    let mut paragraphs = vec![declaration.description.clone()];
    paragraphs.extend(declaration.observed.as_deref().map(observed));
    for paragraph in paragraphs.iter().filter(|paragraph| !paragraph.is_empty()) {
        let _ = write!(text, "\n{paragraph}\n");
    }
    let fields = declaration.arguments.fields.iter().zip(&declaration.notes);
    let noted: Vec<(&str, &str)> = fields
        .filter_map(|(field, note)| Some((field.name.as_str(), note.text.as_deref()?)))
        .collect();
    if !noted.is_empty() {
        text.push('\n');
    }
    for (name, note) in noted {
        let _ = writeln!(text, "{name}: {note}");
    }
    let result = typescript::inlined(&declaration.shapes, &declaration.result, typescript::DEPTH);
    let _ = write!(text, "\nprints: {result}\n");
    text
}
