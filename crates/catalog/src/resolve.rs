//! Finds the tool for the names in a program, and suggests the nearest name for a wrong one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::catalog::{Catalog, Server};
use crate::entry::Entry;
use crate::likeness::nearest;
use crate::names::normalise;
use crate::text::python_string;

const MAX_SHOWN: usize = 120;

/// Tools listed if no name is near.
const MAX_LISTED: usize = 8;

/// Why a name matches no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Which part of the name is wrong.
    pub kind: UnknownKind,
    /// What to write instead.
    pub hint: Option<String>,
    server: String,
    tool: String,
}

/// Which part of a name is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownKind {
    /// No server has this name.
    Server,
    /// The server has not listed this tool.
    Tool,
    /// The server has not listed its tools yet: request the list and try again. Holds the configured name.
    NotListed(String),
    /// No server was named, and no tool or several tools have this name.
    Bare,
}

/// Names of one level. A lookup tries the exact name, the alias, then a spelling that only one name has.
#[derive(Debug, Default)]
pub(crate) struct Names {
    exact: HashMap<String, usize>,
    alias: HashMap<String, usize>,
    /// `None` for a spelling that several names share.
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
    /// Finds a server by name, alias or spelling (`my-stub`, `my_stub`, `My-Stub`).
    pub fn find_server(&self, name: &str) -> Option<&Server> {
        let index = self.server_names().find(name)?;
        self.server_at(index)
    }

    /// Finds a tool by names, aliases or spellings. With an empty server name, finds the only server that has the
    /// tool. A miss costs no more than a hit; [`Catalog::resolve`] also suggests near names.
    pub fn find(&self, server: &str, tool: &str) -> Option<&Arc<Entry>> {
        if !server.is_empty() {
            return self.find_server(server)?.entry(tool);
        }
        let mut holders = self.servers().filter_map(|server| server.entry(tool));
        let first = holders.next();
        first.filter(|_| holders.next().is_none())
    }

    /// As [`Catalog::find_server`], with a hint if nothing is found.
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

    /// As [`Catalog::find`], with a hint if nothing is found.
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
