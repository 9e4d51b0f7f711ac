//! Python modules that can be imported anywhere: each function calls its tool through a shared module.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::python::{CallForm, Writer, doc, is_parameter};
use super::server::{Observed, package};
use super::{Declaration, one_line};
use crate::catalog::Server;
use crate::entry::Entry;
use crate::shapes::{ShapeField, Type};
use crate::text::{docstring, python_string, summary};

/// A function's head stays on one line up to this length.
const GOOD_LENGTH: usize = 100;

/// The module that all servers' modules share, next to the servers' directories. No alias begins and ends with two
/// underscores, so no alias equals this name or hides a module's import.
pub const SHARED_MODULE: &str = "__client__";
const CALL: &str = "__call_mcp_tool__";
const CAST: &str = "__cast__";
const IMPORT_OF_CAST: &str = "cast as __cast__";

/// Names in a function's body, which a parameter of the same name would hide.
const USED: [&str; 3] = [CALL, CAST, "others"];

/// The modules of this server's `visible` tools, as `servers/<server>/<tool>.py`, with `__init__.py` and
/// `README.md`.
pub fn wrappers(
    server: &Server,
    visible: &dyn Fn(&Entry) -> bool,
    observed: Observed<'_>,
) -> BTreeMap<String, String> {
    let directory = format!("servers/{}", server.alias);
    let mut files = BTreeMap::new();
    let entries: Vec<&Entry> = server
        .entries()
        .map(AsRef::as_ref)
        .filter(|entry| visible(entry))
        .collect();
    for entry in &entries {
        let declaration = Declaration::of(entry, observed(entry).as_deref());
        files.insert(
            format!("{directory}/{}.py", entry.alias),
            module(entry, &declaration),
        );
    }
    let names = entries.iter().map(|entry| entry.alias.as_str());
    files.insert(format!("{directory}/__init__.py"), package(server, names));
    files.insert(format!("{directory}/README.md"), readme(server, &entries));
    files
}

fn module(entry: &Entry, declaration: &Declaration) -> String {
    let mut writer = Writer::of(declaration);
    let mut body = writer.types(declaration);
    let is_plain = |field: &ShapeField| is_parameter(&field.name) && !USED.contains(&field.name.as_str());
    let form = CallForm::of(declaration, is_plain);
    if form == CallForm::Mapping {
        let _ = write!(body, "\n\n{}", writer.typed_dict(&declaration.arguments));
    }
    body.push_str("\n\n");
    let function = match form {
        CallForm::Mapping => of_mapping(entry, declaration, &mut writer),
        CallForm::Names => of_names(entry, declaration, &mut writer),
    };
    body.push_str(&function);
    let mut text = "from __future__ import annotations\n\n".to_owned();
    if writer.hides_builtin {
        text.push_str("import builtins\n");
    }
    if !writer.imports.is_empty() {
        let names: Vec<&str> = writer.imports.iter().copied().collect();
        let _ = writeln!(text, "from typing import {}", names.join(", "));
    }
    format!(
        "{}\n\nfrom ..{SHARED_MODULE} import call_mcp_tool as {CALL}\n{body}",
        text.trim_end()
    )
}

/// Keyword-only parameters; an omitted one is not sent.
fn of_names(entry: &Entry, declaration: &Declaration, writer: &mut Writer<'_>) -> String {
    let fields = &declaration.arguments.fields;
    let mut parts = Vec::new();
    if !fields.is_empty() {
        parts.push("*".to_owned());
    }
    for field in fields {
        let kind = writer.text(&field.kind);
        parts.push(match field.required {
            true => format!("{}: {kind}", field.name),
            false if takes_none(&field.kind) => format!("{}: {kind} = None", field.name),
            false => format!("{}: {kind} | None = None", field.name),
        });
    }
    if declaration.arguments.open {
        parts.push(format!("**others: {}", writer.import("Any")));
    }
    let given = |required: bool| {
        let fields = fields.iter().filter(|field| field.required == required);
        let pairs = fields.map(|field| format!("{}: {}", python_string(&field.name, usize::MAX), field.name));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let (required, optional) = (given(true), given(false));
    let mut sent = format!("{{{required}}}");
    if declaration.arguments.open {
        sent.push_str(" | others");
    }
    if !optional.is_empty() {
        let _ = write!(sent, ", {{{optional}}}");
    }
    function(entry, declaration, &parts, &sent, writer, CallForm::Names)
}

/// One mapping, because Python rejects some of the names.
fn of_mapping(entry: &Entry, declaration: &Declaration, writer: &mut Writer<'_>) -> String {
    let mut part = format!("arguments: {}", declaration.arguments.name);
    if declaration.arguments.open {
        let _ = write!(part, " | {}", writer.text(&Type::Map(Box::new(Type::Any))));
    }
    let parts = [part, "/".to_owned()];
    function(entry, declaration, &parts, "arguments", writer, CallForm::Mapping)
}

fn function(
    entry: &Entry,
    declaration: &Declaration,
    parts: &[String],
    sent: &str,
    writer: &mut Writer<'_>,
    form: CallForm,
) -> String {
    let alias = &declaration.alias;
    let result = writer.text(&declaration.result);
    let mut head = format!("def {alias}({}) -> {result}:", parts.join(", "));
    if head.len() > GOOD_LENGTH && !parts.is_empty() {
        // A trailing comma is valid after `/` and after `**others`.
        head = format!("def {alias}(\n    {},\n) -> {result}:", parts.join(",\n    "));
    }
    let doc = doc(declaration, form);
    let doc = if doc.is_empty() {
        String::new()
    } else {
        docstring(&doc, "    ")
    };
    let (server, tool) = (&entry.tool.server, &entry.tool.tool);
    let (server, tool) = (python_string(server, usize::MAX), python_string(tool, usize::MAX));
    let call = format!("{CALL}({server}, {tool}, {sent})");
    let value = match declaration.result {
        Type::Any | Type::Answer => call,
        _ => {
            writer.import(IMPORT_OF_CAST);
            format!("{CAST}({}, {call})", python_string(&result, usize::MAX))
        }
    };
    format!("{head}\n{doc}    return {value}\n")
}

fn takes_none(kind: &Type) -> bool {
    match kind {
        Type::Null | Type::Any => true,
        Type::Union(parts) => parts.iter().any(takes_none),
        _ => false,
    }
}

fn readme(server: &Server, entries: &[&Entry]) -> String {
    let mut text = format!("# {}\n", one_line(&server.name));
    if let Some(description) = &server.description {
        let _ = write!(text, "\n{}\n", summary(description));
    }
    let _ = write!(
        text,
        "\nFunctions that call the tools of this server:\n\n```python\nfrom servers.{} import ...\n```\n",
        server.alias
    );
    for entry in entries {
        let described = entry
            .definition
            .description
            .as_deref()
            .map(summary)
            .unwrap_or_default();
        let signature = entry.signature().replace('`', "'");
        let _ = write!(text, "\n## {}\n\n`{signature}`\n", entry.alias);
        if !described.is_empty() {
            let _ = write!(text, "\n{}\n", described.replace('\n', " "));
        }
    }
    text
}
