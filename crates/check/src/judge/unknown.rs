//! Finds a call's tool, and the nearest right names for wrong ones.

use std::sync::Arc;

use catalog::{Catalog, Entry, Server, nearest, python_string};

use super::{Callee, MAX_NAME, View, label, shown, signature};
use crate::program::{Call, Form};

/// Names listed when none is near.
const MAX_LISTED: usize = 8;

// === impl View ===

impl View<'_> {
    pub(super) fn find(&self, call: &Call) -> Callee {
        if !call.starred.is_empty() {
            return self.starred(call);
        }
        if call.server.is_empty() {
            return self.bare(call);
        }
        let Some(server) = self.catalog.find_server(&call.server) else {
            return Callee::Nothing;
        };
        match server.entry(&call.tool) {
            Some(entry) => self.allowed(entry),
            None if server.listed && self.shows(server) => Callee::Nothing,
            None => Callee::Uncertain,
        }
    }

    /// A denied call is not checked: it fails by itself and says `denied`.
    fn allowed(&self, entry: &Arc<Entry>) -> Callee {
        if (self.may_call)(entry) {
            Callee::Tool(entry.clone())
        } else {
            Callee::Uncertain
        }
    }

    /// Whether the server has, or may have, a tool that may be called.
    fn shows(&self, server: &Server) -> bool {
        let mut entries = server.entries();
        !server.listed || server.entries().next().is_none() || entries.any(|entry| (self.may_call)(entry))
    }

    /// A name that a star import may have bound.
    fn starred(&self, call: &Call) -> Callee {
        let mut servers = call
            .starred
            .iter()
            .filter_map(|(_, name)| self.catalog.find_server(name));
        let found = servers.find_map(|server| {
            let entry = server.entry(&call.tool)?;
            (entry.alias == call.tool && (self.may_call)(entry)).then_some(entry)
        });
        found.map_or(Callee::Uncertain, |entry| Callee::Tool(entry.clone()))
    }

    /// A tool without a server's name.
    fn bare(&self, call: &Call) -> Callee {
        if let Some(entry) = self.catalog.find("", &call.tool) {
            return self.allowed(entry);
        }
        let is_known = self.catalog.servers().all(|server| server.listed);
        if !is_known || self.own_tools.contains(&call.tool.as_str()) {
            return Callee::Uncertain;
        }
        let is_there = |server: &Server| server.entry(&call.tool).is_some();
        if self.holders(call).is_empty() && self.catalog.servers().any(is_there) {
            return Callee::Uncertain;
        }
        Callee::Nothing
    }

    /// The servers that have the tool of a call without a server.
    fn holders(&self, call: &Call) -> Vec<&str> {
        let has = |server: &&Server| {
            server
                .entry(&call.tool)
                .is_some_and(|entry| (self.may_call)(entry))
        };
        let holders = self.catalog.servers().filter(has);
        holders.map(|server| server.name.as_str()).collect()
    }

    /// What to write instead of a wrong name; reads the names of all tools.
    pub(super) fn instead(&self, call: &Call) -> String {
        if call.server.is_empty() {
            return self.no_bare(call);
        }
        match self.catalog.find_server(&call.server) {
            Some(server) => self.no_tool(call, server),
            None => self.no_server(call),
        }
    }

    fn no_bare(&self, call: &Call) -> String {
        let name = python_string(&call.tool, MAX_NAME);
        match self.holders(call).as_slice() {
            [] => match nearest(&call.tool, self.tools(self.catalog)) {
                Some(near) => format!("no tool is named {name}; write {}", python_string(near, MAX_NAME)),
                None => format!("no tool is named {name}; find tools with search_tools"),
            },
            servers => format!(
                "more than one server has a tool {name}; name the server first: {}",
                listed(servers.iter().copied())
            ),
        }
    }

    fn tools<'c>(&'c self, catalog: &'c Catalog) -> impl Iterator<Item = &'c str> {
        let visible = catalog.entries().filter(|entry| (self.may_call)(entry));
        visible.map(|entry| entry.tool.tool.as_str())
    }

    fn no_server(&self, call: &Call) -> String {
        let lead = format!("there is no server {}", python_string(&call.server, MAX_NAME));
        let servers = || self.catalog.servers().filter(|server| self.shows(server));
        let names = || servers().map(|server| server.name.as_str());
        if let Some(near) = nearest(&call.server, names()).and_then(|near| self.catalog.find_server(near)) {
            let tool = near.entry(&call.tool).filter(|entry| (self.may_call)(entry));
            return match tool {
                Some(entry) => format!("{lead}; write {}", signature(call.form, entry)),
                None => format!("{lead}; write {}", server_label(call.form, near)),
            };
        }
        match self.elsewhere(call) {
            Some(entry) => format!("{lead}; write {}", signature(call.form, entry)),
            None if names().next().is_none() => format!("{lead}; no server is configured"),
            None => format!("{lead}; the servers are {}", listed(names())),
        }
    }

    fn no_tool(&self, call: &Call, server: &Server) -> String {
        let lead = format!("{} does not exist", label(call));
        let visible = || server.entries().filter(|entry| (self.may_call)(entry));
        let near = nearest(&call.tool, visible().map(|entry| entry.tool.tool.as_str()));
        let near = near
            .and_then(|near| server.entry(near))
            .or_else(|| self.elsewhere(call));
        match near {
            Some(entry) => format!("{lead}; write {}", signature(call.form, entry)),
            None if visible().next().is_none() => format!("{lead}; the server has no tools"),
            None => format!(
                "{lead}; search_tools finds the right one; the tools of {} are {}",
                shown(&server.name),
                listed(visible().map(|entry| entry.tool.tool.as_str()))
            ),
        }
    }

    /// The same tool on another server.
    fn elsewhere(&self, call: &Call) -> Option<&Arc<Entry>> {
        let mut entries = self
            .catalog
            .servers()
            .filter_map(|server| server.entry(&call.tool));
        entries.find(|entry| (self.may_call)(entry))
    }
}

fn server_label(form: Form, server: &Server) -> String {
    match form {
        Form::Tools | Form::TypeScript => format!("tools.{}", server.alias),
        Form::Shell => format!("mcp call {}.…", server.alias),
        Form::Bridge => format!("mcp_{}", server.alias),
        Form::Blocking => format!("servers.{}", server.alias),
        Form::Data => python_string(&server.name, MAX_NAME),
    }
}

fn listed<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut told: Vec<String> = names.by_ref().take(MAX_LISTED).map(shown).collect();
    if names.next().is_some() {
        told.push("...".to_owned());
    }
    told.join(", ")
}
