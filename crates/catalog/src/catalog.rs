//! The catalog snapshot: servers in configured order, their entries, and the names that find them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use types::{ServerTools, Tool, ToolRef};

use crate::entry::Entry;
use crate::names::aliases;
use crate::resolve::Names;

/// All tools of all servers at one moment.
#[derive(Debug, Default)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    names: Names,
}

/// One server's part of a snapshot.
#[derive(Debug)]
pub struct Server {
    /// Name in the configuration.
    pub name: String,
    /// Name in programs.
    pub alias: String,
    /// Purpose, from the configuration or from the server.
    pub description: Option<String>,
    /// Working directory, if the definition names one.
    pub cwd: Option<PathBuf>,
    /// Whether the server has listed its tools; otherwise Codeyard has not yet requested the list.
    pub listed: bool,
    /// The list that the server was built from.
    tools: Option<Arc<[Arc<Tool>]>>,
    entries: Vec<Arc<Entry>>,
    names: Names,
}

/// Current lists, which are compared with a possibly older catalog.
#[derive(Debug)]
pub struct CurrentTools<'a> {
    /// The tools, by name, of each server whose list has changed; a removed server has no tools.
    changed: HashMap<&'a str, HashMap<&'a str, &'a Arc<Tool>>>,
}

// === impl Catalog ===

impl Catalog {
    /// Builds a snapshot of the servers' lists, in their order.
    pub fn build(servers: &[ServerTools]) -> Catalog {
        Catalog::default().update(servers)
    }

    /// Builds the next snapshot. Reuses unchanged servers, and the entries of unchanged tools with their computed
    /// texts.
    pub fn update(&self, servers: &[ServerTools]) -> Catalog {
        let aliases = aliases(servers.iter().map(|server| server.name.as_str()));
        let mut names = Names::default();
        let mut built = Vec::with_capacity(servers.len());
        for (index, (listed, alias)) in servers.iter().zip(aliases).enumerate() {
            names.insert(&listed.name, &alias, index);
            let known = self
                .servers
                .iter()
                .find(|server| server.name == listed.name && server.alias == alias);
            built.push(match known {
                Some(known) if known.is_built_from(listed) => known.clone(),
                known => Arc::new(Server::build(listed, alias, known.map(Arc::as_ref))),
            });
        }
        Catalog {
            servers: built,
            names,
        }
    }

    /// The servers, in configured order.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().map(Arc::as_ref)
    }

    /// The entries of all servers, server by server.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.servers().flat_map(Server::entries)
    }

    /// The tool with exactly these names, if listed.
    pub fn entry(&self, tool: &ToolRef) -> Option<&Arc<Entry>> {
        let server = self.server_at(self.names.find(&tool.server)?)?;
        server.entry(&tool.tool).filter(|entry| entry.tool == *tool)
    }

    /// Compares these lists with the lists of the snapshot; an equal list costs nothing.
    pub fn present<'a>(&'a self, lists: &'a [ServerTools]) -> CurrentTools<'a> {
        let listed: HashMap<&str, &ServerTools> = lists
            .iter()
            .map(|listed| (listed.name.as_str(), listed))
            .collect();
        let changed = self.servers().filter_map(|server| {
            let now = listed.get(server.name.as_str());
            if now.is_some_and(|now| server.has_list_of(now)) {
                return None;
            }
            let tools = now.and_then(|now| now.tools.as_deref()).unwrap_or_default();
            // If several tools have one name, the first is used.
            let tools = tools.iter().rev().map(|tool| (tool.name.as_str(), tool));
            Some((server.name.as_str(), tools.collect()))
        });
        CurrentTools {
            changed: changed.collect(),
        }
    }

    pub(crate) fn server_names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn server_at(&self, index: usize) -> Option<&Server> {
        self.servers.get(index).map(Arc::as_ref)
    }
}

// === impl Server ===

impl Server {
    fn build(listed: &ServerTools, alias: String, known: Option<&Server>) -> Self {
        let tools = listed.tools.as_deref().unwrap_or_default();
        // If several tools have one name, the first is used.
        let mut seen = HashSet::new();
        let tools: Vec<&Arc<Tool>> = tools
            .iter()
            .filter(|tool| seen.insert(tool.name.as_str()))
            .collect();
        let tool_aliases = aliases(tools.iter().map(|tool| tool.name.as_str()));
        let mut names = Names::default();
        let mut entries = Vec::with_capacity(tools.len());
        for (index, (tool, tool_alias)) in tools.into_iter().zip(tool_aliases).enumerate() {
            names.insert(&tool.name, &tool_alias, index);
            let same = known.and_then(|server| server.entry(&tool.name));
            let same = same.filter(|entry| entry.alias == tool_alias && entry.definition == *tool);
            entries.push(same.cloned().unwrap_or_else(|| {
                let reference = ToolRef::new(&listed.name, &tool.name);
                Arc::new(Entry::new(reference, alias.clone(), tool_alias, tool.clone()))
            }));
        }
        Server {
            name: listed.name.clone(),
            alias,
            description: listed.description.clone(),
            cwd: listed.cwd.clone(),
            listed: listed.tools.is_some(),
            tools: listed.tools.clone(),
            entries,
            names,
        }
    }

    /// Whether a rebuild would give the same result. Two equal lists that were received separately count as different.
    fn is_built_from(&self, listed: &ServerTools) -> bool {
        self.has_list_of(listed) && self.description == listed.description && self.cwd == listed.cwd
    }

    fn has_list_of(&self, listed: &ServerTools) -> bool {
        match (&self.tools, &listed.tools) {
            (Some(own), Some(listed)) => Arc::ptr_eq(own, listed),
            (None, None) => true,
            _ => false,
        }
    }

    /// The entries, in the listed order.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter()
    }

    /// Finds a tool by name, alias or spelling.
    pub fn entry(&self, name: &str) -> Option<&Arc<Entry>> {
        self.names.find(name).and_then(|index| self.entries.get(index))
    }
}

// === impl Present ===

impl CurrentTools<'_> {
    /// Whether the tool is still listed.
    pub fn lists(&self, tool: &ToolRef) -> bool {
        let tools = self.changed.get(tool.server.as_str());
        tools.is_none_or(|tools| tools.contains_key(tool.tool.as_str()))
    }

    /// The entry in the current lists: unchanged, with a new definition, or `None` if removed.
    pub fn entry(&self, entry: &Arc<Entry>) -> Option<Arc<Entry>> {
        let Some(tools) = self.changed.get(entry.tool.server.as_str()) else {
            return Some(entry.clone());
        };
        let definition = *tools.get(entry.tool.tool.as_str())?;
        if entry.definition == *definition {
            return Some(entry.clone());
        }
        let (server_alias, alias) = (entry.server_alias.clone(), entry.alias.clone());
        Some(Arc::new(Entry::new(
            entry.tool.clone(),
            server_alias,
            alias,
            definition.clone(),
        )))
    }
}
