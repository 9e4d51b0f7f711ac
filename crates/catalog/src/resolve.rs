//! From the names in a program to one tool, and from a wrong name to the nearest right one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::catalog::{Catalog, Server};
use crate::entry::Entry;
use crate::names::normalise;
use crate::text::python_string;

/// Likeness from which a name is worth proposing; 1 is equal.
const MIN_LIKENESS: f64 = 0.5;

/// Shortest name that counts as the beginning of another, and how much that counts.
const MIN_BEGINNING: usize = 3;
const BEGINNING_LIKENESS: f64 = 0.7;

/// Characters of a name that are compared; the cost is the product of both lengths.
const MAX_COMPARED: usize = 64;

/// Names that are compared; real servers have hundreds, programs may pass any number of arguments.
const MAX_CANDIDATES: usize = 5_000;

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

/// The candidate most like `name`, if one is like it at all; the first of equals.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = compared(name);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates.take(MAX_CANDIDATES) {
        let worth = best.map_or(MIN_LIKENESS, |(known, _)| known);
        let likeness = likeness(&wanted, &compared(candidate), worth);
        if likeness >= MIN_LIKENESS && best.is_none_or(|(known, _)| likeness > known) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Likeness of spelling, of the beginning (`repo`, `repository`), or of the set of words (`issue_create`,
/// `create_issue`). Likeness that is not `worth` it is not computed: spellings are dear to compare.
fn likeness(a: &str, b: &str, worth: f64) -> f64 {
    let mut spelling = match most_alike(a, b) >= worth {
        true => strsim::normalized_damerau_levenshtein(a, b),
        false => 0.0,
    };
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() >= MIN_BEGINNING && long.starts_with(short) {
        spelling = spelling.max(BEGINNING_LIKENESS);
    }
    let (a, b) = (words(a), words(b));
    let common = a.iter().filter(|word| b.contains(word)).count();
    let all = a.len().max(b.len()).max(1);
    // Both counts are at most a few dozen, so that the conversion is exact.
    let share = f64::from(u32::try_from(common).unwrap_or(0)) / f64::from(u32::try_from(all).unwrap_or(1));
    spelling.max(share * 0.95)
}

fn words(name: &str) -> Vec<&str> {
    name.split('_').filter(|word| !word.is_empty()).collect()
}

/// How alike two spellings are at most, by their letters in any order: no edit gives or takes more than one of them.
fn most_alike(a: &str, b: &str) -> f64 {
    let mut surplus = [0i32; 1 << u8::BITS];
    a.bytes().for_each(|letter| surplus[usize::from(letter)] += 1);
    b.bytes().for_each(|letter| surplus[usize::from(letter)] -= 1);
    let given: i32 = surplus.iter().filter(|count| **count > 0).sum();
    let taken: i32 = surplus.iter().filter(|count| **count < 0).sum();
    let longest = u32::try_from(a.len().max(b.len())).unwrap_or(u32::MAX);
    1.0 - f64::from(given.max(-taken)) / f64::from(longest.max(1))
}

fn compared(name: &str) -> String {
    let name: String = name.chars().take(MAX_COMPARED).collect();
    normalise(&name)
}

#[cfg(test)]
mod tests;
