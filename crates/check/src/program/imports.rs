//! What imports bind: servers and tools are modules, too.

use std::sync::Arc;

use ruff_python_ast::{Alias, Identifier, StmtImport, StmtImportFrom};

use super::bindings::imported;
use super::reading::Import;
use super::value::{Form, MAX_TEXT, Meaning, Value};
use super::walker::Walker;

// === impl Walker ===

impl<'a> Walker<'a> {
    pub(super) fn import(&mut self, import: &'a StmtImport) {
        for alias in &import.names {
            let name = alias.name.as_str();
            // `import a.b` binds `a`.
            let module = if alias.asname.is_some() {
                name
            } else {
                imported(alias)
            };
            let value = meaning_of(module).map_or(Value::Unknown, Value::Known);
            self.bind(imported(alias), value);
        }
    }

    pub(super) fn import_from(&mut self, import: &'a StmtImportFrom) {
        let module = import.module.as_ref().map_or("", Identifier::as_str);
        let parent = if import.level == 0 {
            meaning_of(module)
        } else {
            None
        };
        for alias in &import.names {
            if alias.name.as_str() == "*" {
                self.import_star(parent.as_ref());
                continue;
            }
            let value = parent.as_ref().and_then(|parent| member(parent, alias));
            if let Some(Meaning::Tool(_, server, tool)) = &value {
                let line = self.line(import);
                self.imports.push(Import {
                    line,
                    server: server.to_string(),
                    tool: tool.to_string(),
                });
            }
            self.bind(imported(alias), value.map_or(Value::Unknown, Value::Known));
        }
    }

    fn import_star(&mut self, module: Option<&Meaning>) {
        match module {
            Some(Meaning::Server(form, server)) => self.stars.star(*form, server.clone()),
            // The module has other servers than `servers`.
            Some(Meaning::Mcp) => self.facts.is_dynamic = true,
            _ => self.bind_star(),
        }
    }
}

fn meaning_of(module: &str) -> Option<Meaning> {
    let mut parts = module.split('.');
    let mut meaning = match parts.next()? {
        "tools" => Meaning::Servers(Form::Tools),
        "servers" => Meaning::Servers(Form::Blocking),
        "mcp" => Meaning::Mcp,
        "asyncio" => Meaning::Asyncio,
        _ => return None,
    };
    for part in parts {
        meaning = meaning.member(part)?;
    }
    Some(meaning)
}

/// The meaning of an imported member. A tool contains itself.
fn member(module: &Meaning, alias: &Alias) -> Option<Meaning> {
    match module {
        Meaning::Tool(_, _, tool) if **tool == *alias.name.as_str() => Some(module.clone()),
        _ => module.member(alias.name.as_str()),
    }
}

// === impl Meaning ===

impl Meaning {
    /// The meaning of a name that no program has bound.
    pub(crate) fn from_outside(name: &str) -> Option<Meaning> {
        match name {
            "tools" => Some(Meaning::Servers(Form::Tools)),
            "servers" => Some(Meaning::Servers(Form::Blocking)),
            "mcp" => Some(Meaning::Mcp),
            "mcp_servers" => Some(Meaning::ServerMap),
            "runtime" => Some(Meaning::Runtime),
            "__toolcall__" => Some(Meaning::ToolCall),
            _ => {
                let alias = name.strip_prefix("mcp_")?;
                Some(Meaning::Server(Form::Bridge, alias.into()))
            }
        }
    }

    /// The meaning of an attribute; `None` if unknown.
    pub(super) fn member(&self, name: &str) -> Option<Meaning> {
        if name.starts_with('_') || name.len() > MAX_TEXT {
            return None;
        }
        let name_of = |name: &str| -> Arc<str> { name.into() };
        match self {
            Meaning::Mcp => match name {
                "servers" => Some(Meaning::Servers(Form::Bridge)),
                "runtime" => Some(Meaning::Runtime),
                _ => None,
            },
            Meaning::Runtime => (name == "call_tool").then_some(Meaning::CallTool),
            Meaning::Servers(form) => Some(Meaning::Server(*form, name_of(name))),
            Meaning::Server(Form::Bridge, _) if ["list_tools", "TOOLS", "TOOL_MAP"].contains(&name) => None,
            Meaning::Server(form, server) => Some(Meaning::Tool(*form, server.clone(), name_of(name))),
            Meaning::Asyncio => match name {
                "gather" => Some(Meaning::Gather),
                "create_task" | "ensure_future" | "wait_for" | "shield" => Some(Meaning::Wrap),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn item(&self, name: &str) -> Option<Meaning> {
        if name.len() > MAX_TEXT {
            return None;
        }
        match self {
            Meaning::ServerMap => Some(Meaning::Server(Form::Bridge, name.into())),
            Meaning::Servers(form) => Some(Meaning::Server(*form, name.into())),
            Meaning::Server(form, server) => Some(Meaning::Tool(*form, server.clone(), name.into())),
            _ => None,
        }
    }
}
