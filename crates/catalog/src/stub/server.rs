//! The files that collect a server's tools, and the paths of all files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::{Language, one_line, typescript};
use crate::catalog::Server;
use crate::entry::{Entry, LINE_DEPTHS};
use crate::learned::Learned;
use crate::text::{cut, docstring, python_string};

const MAX_DESCRIPTION: usize = 8 * 1024;

/// Returns what was observed of a tool that declares no result.
pub type Observed<'a> = &'a dyn Fn(&Entry) -> Option<Arc<Learned>>;

/// Every tool of a server in TypeScript, one line each. A server with many large tools shows fewer of the fields within
/// their arguments and results.
pub(crate) fn index_lines(server: &Server, tools: &[(&Entry, Option<&Learned>)]) -> String {
    const GOOD_LENGTH: usize = 64 * 1024;
    let name = one_line(&server.name);
    let head = format!(
        "Tools of the server {name}: await tools.{}.<name>({{ ... }})",
        server.alias
    );
    let head = typescript::comment(&head, "");
    let lines: Vec<[Arc<str>; LINE_DEPTHS]> = tools
        .iter()
        .map(|(entry, learned)| entry.typescript_lines(*learned))
        .collect();
    let at = |depth| {
        let mut text = head.clone();
        for line in &lines {
            text.push('\n');
            text.push_str(line.get(depth).map_or("", AsRef::as_ref));
        }
        text
    };
    let mut texts = (0..=typescript::DEPTH).rev().map(at);
    let good = texts.find(|text| text.len() <= GOOD_LENGTH);
    good.unwrap_or_else(|| at(0))
}

/// Declarations of this server's `visible` tools. Python: `tools/<server>/<tool>.pyi` and `__init__.pyi`;
/// TypeScript: `tools/<server>/<tool>.d.ts` and `tools/<server>.d.ts`.
pub fn declarations(
    server: &Server,
    language: Language,
    visible: &dyn Fn(&Entry) -> bool,
    observed: Observed<'_>,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let directory = format!("tools/{}", server.alias);
    for entry in server.entries().filter(|entry| visible(entry)) {
        let extension = match language {
            Language::Python => "pyi",
            Language::TypeScript => "d.ts",
            Language::Shell => "txt",
        };
        let declaration = entry.declaration(language, observed(entry).as_deref());
        files.insert(format!("{directory}/{}.{extension}", entry.alias), declaration);
    }
    let name = match language {
        Language::Python => format!("{directory}/__init__.pyi"),
        Language::TypeScript => format!("{directory}.d.ts"),
        Language::Shell => format!("{directory}.txt"),
    };
    files.insert(name, index(server, language, visible));
    files
}

fn index(server: &Server, language: Language, visible: &dyn Fn(&Entry) -> bool) -> String {
    let tools = server
        .entries()
        .filter(|entry| visible(entry))
        .map(|entry| entry.alias.as_str());
    match language {
        Language::Python => package(server, tools),
        Language::TypeScript => exports(server, tools),
        Language::Shell => {
            let calls = server.entries().filter(|entry| visible(entry));
            calls.map(|entry| entry.shell_call() + "\n").collect()
        }
    }
}

/// The Python file that collects these tools of a server.
pub(crate) fn package<'a>(server: &Server, tools: impl Iterator<Item = &'a str>) -> String {
    let mut doc = format!("Tools of the server {}.", one_line(&server.name));
    if let Some(description) = &server.description {
        let _ = write!(doc, "\n\n{}", cut(description.trim(), MAX_DESCRIPTION));
    }
    let mut text = docstring(&doc, "");
    text.push('\n');
    let mut names = Vec::new();
    for alias in tools {
        let _ = writeln!(text, "from .{alias} import {alias}");
        names.push(python_string(alias, usize::MAX));
    }
    let _ = write!(text, "\n__all__ = [{}]\n", names.join(", "));
    text
}

fn exports<'a>(server: &Server, tools: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for alias in tools {
        let name = typescript::function_name(alias);
        let _ = writeln!(text, "export {{ {name} }} from \"./{}/{alias}\";", server.alias);
    }
    if text.is_empty() {
        "export {};\n".to_owned()
    } else {
        text
    }
}
