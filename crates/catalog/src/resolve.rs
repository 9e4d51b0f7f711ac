//! From the names in a program to one tool, and from a wrong name to the nearest right one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::catalog::{Catalog, Server};
use crate::entry::Entry;
use crate::likeness::nearest;
use crate::names::normalise;
use crate::text::python_string;

const MAX_SHOWN: usize = 120;

/// Tools named when none is near.
const MAX_LISTED: usize = 8;

/// Why a name means no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// What is not known.
    pub kind: UnknownKind,
    /// What to write instead.
    pub hint: Option<String>,
    server: String,
    tool: String,
}

/// What is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownKind {
    /// No server has that name.
    Server,
    /// The server exists and has listed no such tool.
    Tool,
    /// The server exists and has not listed its tools yet: ask it and try again. Holds its configured name.
    NotListed(String),
    /// No server was named, and no tool or more than one has that name.
    Bare,
}

/// Names of one level, by which entries are found: exact, then alias, then any spelling that only one has.
#[derive(Debug, Default)]
pub(crate) struct Names {
    exact: HashMap<String, usize>,
    alias: HashMap<String, usize>,
    /// `None` where two names are spelled alike.
    spelling: HashMap<String, Option<usize>>,
}

// === impl Names ===

impl Names {
    pub(crate) fn insert(&mut self, name: &str, alias: &str, index: usize) {
        self.exact.insert(name.to_owned(), index);
        self.alias.insert(alias.to_owned(), index);
        self.spelling
            .entry(normalise(name))
            .and_modify(|known| *known = None)
            .or_insert(Some(index));
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.exact
            .get(name)
            .or_else(|| self.alias.get(name))
            .copied()
            .or_else(|| self.spelling.get(&normalise(name)).copied().flatten())
    }
}

// === impl Catalog ===

impl Catalog {
    /// The server of that name, alias or spelling (`my-stub`, `my_stub`, `My-Stub`), if there is one.
    pub fn find_server(&self, name: &str) -> Option<&Server> {
        let index = self.server_names().find(name)?;
        self.server_at(index)
    }

    /// The tool of these names, aliases or spellings, if there is one. An empty server name stands for the one server that
    /// has it. Costs the same whether there is one or not; [`Catalog::resolve`] also looks for what may be meant.
    pub fn find(&self, server: &str, tool: &str) -> Option<&Arc<Entry>> {
        if !server.is_empty() {
            return self.find_server(server)?.entry(tool);
        }
        let mut holders = self.servers().filter_map(|server| server.entry(tool));
        let first = holders.next();
        first.filter(|_| holders.next().is_none())
    }

    /// The same as [`Catalog::find_server`], or what may be meant.
    pub fn server(&self, name: &str) -> Result<&Server, Unknown> {
        self.find_server(name).ok_or_else(|| {
            let names = self.servers().map(|server| server.name.as_str());
            let hint = match nearest(name, names) {
                Some(near) => Some(format!("did you mean {}?", quoted(near))),
                None => listing(
                    "the servers are",
                    self.servers().map(|server| server.name.as_str()),
                ),
            };
            Unknown::new(UnknownKind::Server, name, "", hint)
        })
    }

    /// The tool of these names, aliases or spellings. An empty server name stands for the one server that has it.
    pub fn resolve(&self, server: &str, tool: &str) -> Result<&Arc<Entry>, Unknown> {
        if server.is_empty() {
            return self.bare(tool);
        }
        let found = self.server(server).map_err(|unknown| Unknown {
            tool: tool.to_owned(),
            ..unknown
        })?;
        if let Some(entry) = found.entry(tool) {
            return Ok(entry);
        }
        if !found.listed {
            return Err(Unknown::new(
                UnknownKind::NotListed(found.name.clone()),
                &found.name,
                tool,
                None,
            ));
        }
        let names = || found.entries().map(|entry| entry.tool.tool.as_str());
        let elsewhere = || self.servers().find(|other| other.entry(tool).is_some());
        let hint = if let Some(near) = nearest(tool, names()) {
            Some(format!("did you mean {}?", quoted(near)))
        } else if let Some(other) = elsewhere() {
            Some(format!("server {} has a tool of this name", quoted(&other.name)))
        } else {
            listing("its tools are", names())
        };
        Err(Unknown::new(UnknownKind::Tool, &found.name, tool, hint))
    }

    fn bare(&self, tool: &str) -> Result<&Arc<Entry>, Unknown> {
        let mut holders = self.servers().filter_map(|server| server.entry(tool));
        let hint = match (holders.next(), holders.next()) {
            (Some(entry), None) => return Ok(entry),
            (Some(one), Some(other)) => Some(format!(
                "name the server: {} or {}",
                quoted(&one.tool.server),
                quoted(&other.tool.server)
            )),
            (None, _) => {
                let all = self.servers().flat_map(Server::entries);
                nearest(tool, all.map(|entry| entry.tool.tool.as_str()))
                    .map(|near| format!("did you mean {}?", quoted(near)))
            }
        };
        Err(Unknown::new(UnknownKind::Bare, "", tool, hint))
    }
}

// === impl Unknown ===

impl Unknown {
    fn new(kind: UnknownKind, server: &str, tool: &str, hint: Option<String>) -> Self {
        Self {
            kind,
            hint,
            server: server.to_owned(),
            tool: tool.to_owned(),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (server, tool) = (quoted(&self.server), quoted(&self.tool));
        match &self.kind {
            UnknownKind::Server => write!(f, "unknown server {server}"),
            UnknownKind::Tool => write!(f, "server {server} has no tool {tool}"),
            UnknownKind::NotListed(_) => write!(f, "server {server} has not listed its tools yet"),
            UnknownKind::Bare => write!(f, "no single tool is named {tool}"),
        }
    }
}

impl std::error::Error for Unknown {}

fn quoted(name: &str) -> String {
    python_string(name, MAX_SHOWN)
}

fn listing<'a>(lead: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut names = names.map(quoted);
    let mut shown: Vec<String> = names.by_ref().take(MAX_LISTED).collect();
    if shown.is_empty() {
        return None;
    }
    if names.next().is_some() {
        shown.push("…".to_owned());
    }
    Some(format!("{lead} {}", shown.join(", ")))
}

#[cfg(test)]
mod tests;
