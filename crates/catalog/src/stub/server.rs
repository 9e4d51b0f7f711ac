//! The files that gather a server's tools, and where all files stand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::{Language, one_line, typescript};
use crate::catalog::{Catalog, Server};
use crate::entry::Entry;
use crate::learned::Learned;
use crate::text::{cut, docstring, python_string};

const MAX_DESCRIPTION: usize = 8 * 1024;

/// Longest name of a file; a tool with a longer one is called all the same, only its file is left out.
const LONGEST_NAME: usize = 255;

/// What was observed of the tools that declare no result.
pub type Observed<'a> = &'a dyn Fn(&Entry) -> Option<Arc<Learned>>;

/// The Python files of all tools that are `visible`, as programs find them: `tools/<server>/<tool>.py`. A server that has not
/// listed its tools has a directory without any.
pub fn modules(
    catalog: &Catalog,
    visible: &dyn Fn(&Entry) -> bool,
    observed: Observed<'_>,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for server in catalog
        .servers()
        .filter(|server| server.alias.len() <= LONGEST_NAME)
    {
        let directory = format!("tools/{}", server.alias);
        for entry in server.entries().filter(|entry| visible(entry)) {
            put(&mut files, &directory, &format!("{}.py", entry.alias), || {
                entry.stub(observed(entry).as_deref())
            });
        }
        put(&mut files, &directory, "__init__.py", || {
            index(server, Language::Python, visible)
        });
    }
    files
}

/// Files that declare the tools of this server that are `visible`: for Python `tools/<server>/<tool>.pyi` and
/// `__init__.pyi` beside, for TypeScript `tools/<server>/<tool>.d.ts` and `tools/<server>.d.ts`.
pub fn declarations(
    server: &Server,
    language: Language,
    visible: &dyn Fn(&Entry) -> bool,
    observed: Observed<'_>,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let directory = format!("tools/{}", server.alias);
    for entry in server.entries().filter(|entry| visible(entry)) {
        let name = match language {
            Language::Python => format!("{}.pyi", entry.alias),
            Language::TypeScript => format!("{}.d.ts", entry.alias),
        };
        put(&mut files, &directory, &name, || {
            entry.declaration(language, observed(entry).as_deref())
        });
    }
    match language {
        Language::Python => put(&mut files, &directory, "__init__.pyi", || {
            index(server, language, visible)
        }),
        Language::TypeScript => {
            put(&mut files, "tools", &format!("{}.d.ts", server.alias), || {
                index(server, language, visible)
            });
        }
    }
    files
}

fn put(files: &mut BTreeMap<String, String>, directory: &str, name: &str, text: impl FnOnce() -> String) {
    if name.len() <= LONGEST_NAME {
        files.insert(format!("{directory}/{name}"), text());
    }
}

/// The file of a server.
fn index(server: &Server, language: Language, visible: &dyn Fn(&Entry) -> bool) -> String {
    let tools = server
        .entries()
        .filter(|entry| visible(entry))
        .map(|entry| entry.alias.as_str());
    match language {
        Language::Python => package(server, tools),
        Language::TypeScript => exports(server, tools),
    }
}

fn package<'a>(server: &Server, tools: impl Iterator<Item = &'a str>) -> String {
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
