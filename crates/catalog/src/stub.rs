//! Python files that describe a server's tools, for reading and for importing.
//!
//! Everything foreign in them stands inside docstrings or string literals, escaped.

use std::fmt::Write;

use serde_json::Value;

use crate::catalog::Server;
use crate::entry::Entry;
use crate::learned::Learned;
use crate::schema;
use crate::text::{clean, cut, python_string, summary};

const MAX_DESCRIPTION: usize = 8 * 1024;
const MAX_PARAMETER_TEXT: usize = 400;
const MAX_NAME: usize = 200;

/// The file of one tool.
pub(crate) fn tool(entry: &Entry, learned: Option<&Learned>) -> String {
    let mut doc = entry.signature_with(learned).into_owned();
    let description = entry.definition.description.as_deref().unwrap_or_default().trim();
    if !description.is_empty() {
        let _ = write!(doc, "\n\n{}", cut(description, MAX_DESCRIPTION));
    }
    let parameters = parameter_lines(&entry.definition.input_schema());
    if !parameters.is_empty() {
        let _ = write!(doc, "\n\n{}", parameters.join("\n"));
    }
    format!(
        "from mcp import runtime\n\n\nasync def {alias}(*args, **kwargs):\n{doc}    return await runtime.call_tool({server}, {tool}, dict(*args, **kwargs))\n",
        alias = entry.alias,
        doc = docstring(&doc, "    "),
        server = python_string(&entry.tool.server, usize::MAX),
        tool = python_string(&entry.tool.tool, usize::MAX),
    )
}

/// The `__init__.py` of one server with the tools that are `visible`.
pub fn module(server: &Server, visible: impl Fn(&Entry) -> bool) -> String {
    let mut doc = format!("Tools of the server {}.", one_line(&server.name));
    if let Some(description) = &server.description {
        let _ = write!(doc, "\n\n{}", cut(description.trim(), MAX_DESCRIPTION));
    }
    let mut text = docstring(&doc, "");
    text.push('\n');
    let mut names = Vec::new();
    for entry in server.entries().filter(|entry| visible(entry)) {
        let _ = writeln!(text, "from .{alias} import {alias}", alias = entry.alias);
        names.push(python_string(&entry.alias, MAX_NAME));
    }
    let _ = write!(text, "\n__all__ = [{}]\n", names.join(", "));
    text
}

/// One line for each parameter that has a description.
fn parameter_lines(input: &Value) -> Vec<String> {
    let parameters = schema::parameters(input).into_iter();
    parameters
        .filter_map(|parameter| {
            let described = |schema: &Value| {
                let text = schema.get("description").and_then(Value::as_str)?;
                let line = cut(&summary(text), MAX_PARAMETER_TEXT);
                (!line.is_empty()).then_some(line)
            };
            let text = described(parameter.schema)
                .or_else(|| schema::follow(input, parameter.schema).and_then(described))?;
            Some(format!("{}: {text}", one_line(parameter.name)))
        })
        .collect()
}

/// A name where a line may not end.
fn one_line(name: &str) -> String {
    cut(&clean(name).replace(['\n', '\t'], " "), MAX_NAME)
}

/// The text as a docstring in which nothing can end the docstring.
fn docstring(text: &str, indent: &str) -> String {
    let text = clean(text).replace('\\', "\\\\").replace('"', "\\\"");
    let mut doc = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        match (index, line.is_empty()) {
            (0, _) => {
                let _ = writeln!(doc, "{indent}\"\"\"{line}");
            }
            (_, true) => doc.push('\n'),
            (_, false) => {
                let _ = writeln!(doc, "{indent}{line}");
            }
        }
    }
    // A single line closes where it stands.
    if text.lines().count() <= 1 {
        doc.truncate(doc.trim_end().len());
        let _ = writeln!(doc, "\"\"\"");
    } else {
        let _ = writeln!(doc, "{indent}\"\"\"");
    }
    doc
}
