//! Scans the directories repeatedly and reads only what has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use types::{ServerTools, Tool};

use crate::finding::Finding;
use crate::notices::Notices;
use crate::read::{Content, ToolFile};
use crate::walk::{Candidate, Walk};

/// Stack of the reading thread, in bytes: many times the need of the deepest file that is read.
const STACK: usize = 32 * 1024 * 1024;

/// Most bytes of all tools' definitions together.
const MAX_DEFINITIONS: usize = 16 * 1024 * 1024;

/// The directories and the last scan's result.
#[derive(Debug)]
pub struct Scanner {
    directories: Vec<PathBuf>,
    notices: Notices,
    known: Vec<Arc<Content>>,
    /// Faults of the directories.
    seen: Vec<Finding>,
    last: Arc<ScannedTools>,
    has_looked: bool,
}

/// All tool files at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ScannedTools {
    /// Sorted by name; each has at least one tool.
    pub servers: Vec<Server>,
    /// Sorted by path.
    pub findings: Vec<Finding>,
}

/// One directory of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The catalog's list; unchanged tools keep the same list between scans.
    pub listed: ServerTools,
    /// Tools by name, in the order of the list.
    pub files: Vec<Arc<ToolFile>>,
}

// === impl Scanner ===

impl Scanner {
    /// Reads nothing yet. Each directory either contains one named `servers` or is one.
    pub fn new(directories: Vec<PathBuf>) -> Scanner {
        Scanner {
            directories,
            notices: Notices::new(),
            known: Vec::new(),
            seen: Vec::new(),
            last: Arc::default(),
            has_looked: false,
        }
    }

    /// Whether there are no directories.
    pub fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    /// The directories as given.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Scans every directory. `None` means no change since the previous scan; the first scan always
    /// returns a result. Blocks.
    pub fn scan(&mut self) -> Option<Arc<ScannedTools>> {
        if self.has_looked && self.notices.are_none() {
            return None;
        }
        let Walk {
            candidates, findings, ..
        } = Walk::of(&self.directories, &mut self.notices);
        let was_known = std::mem::take(&mut self.known);
        self.known = contents(&candidates, &was_known);
        let is_same = findings == self.seen && are_same(&self.known, &was_known);
        if self.has_looked && is_same {
            return None;
        }
        self.seen.clone_from(&findings);
        let found = self.found(findings);
        if self.has_looked && found == *self.last {
            return None;
        }
        self.has_looked = true;
        self.last = Arc::new(found);
        Some(self.last.clone())
    }

    /// Whether the next scan would report no change without examining any file.
    #[cfg(test)]
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.notices.are_none()
    }

    fn found(&self, mut findings: Vec<Finding>) -> ScannedTools {
        let mut by_server: Vec<(String, Vec<Arc<ToolFile>>)> = Vec::new();
        let mut tools = self.within(&mut findings);
        tools.sort_by(|a, b| (&a.server, &a.tool.name).cmp(&(&b.server, &b.tool.name)));
        for file in tools {
            match by_server.last_mut() {
                Some((server, files)) if *server == file.server => files.push(file.clone()),
                _ => by_server.push((file.server.clone(), vec![file.clone()])),
            }
        }
        findings.extend(self.known.iter().flat_map(|known| known.findings.iter().cloned()));
        findings.sort();
        let servers = by_server
            .into_iter()
            .map(|(name, files)| self.server(name, files));
        ScannedTools {
            servers: servers.collect(),
            findings,
        }
    }

    /// The tools whose definitions fit the joint limit.
    fn within(&self, findings: &mut Vec<Finding>) -> Vec<&Arc<ToolFile>> {
        let mut bytes = 0;
        let (tools, beyond): (Vec<_>, Vec<_>) = self
            .known
            .iter()
            .filter_map(|known| known.tool.as_ref())
            .partition(|file| {
                bytes += file.tool.definition().get().len();
                bytes <= MAX_DEFINITIONS
            });
        if let Some(first) = beyond.first() {
            findings.push(Finding {
                path: first.path.clone(),
                line: None,
                message: format!(
                    "and {} more are not used: all definitions together may have {} MiB; shorten their docstrings and types",
                    beyond.len() - 1,
                    MAX_DEFINITIONS / 1024 / 1024
                ),
                is_used: false,
            });
        }
        tools
    }

    fn server(&self, name: String, files: Vec<Arc<ToolFile>>) -> Server {
        let before = self.last.servers.iter().find(|server| server.listed.name == name);
        if let Some(before) = before.filter(|before| before.files == files) {
            return before.clone();
        }
        let tools: Arc<[Arc<Tool>]> = files.iter().map(|file| file.tool.clone()).collect();
        Server {
            listed: ServerTools {
                name,
                description: None,
                cwd: None,
                tools: Some(tools),
            },
            files,
        }
    }
}

// === impl ScannedTools ===

impl ScannedTools {
    /// Finds a tool's file by names.
    pub fn file(&self, server: &str, tool: &str) -> Option<&Arc<ToolFile>> {
        let server = self.servers.iter().find(|known| known.listed.name == server)?;
        let at = server
            .files
            .binary_search_by(|file| file.tool.name.as_str().cmp(tool));
        server.files.get(at.ok()?)
    }
}

/// Whether no file was read again, added or removed.
fn are_same(now: &[Arc<Content>], before: &[Arc<Content>]) -> bool {
    now.len() == before.len()
        && now
            .iter()
            .zip(before)
            .all(|(now, before)| Arc::ptr_eq(now, before))
}

/// The candidates' contents: the known ones unless a change shows, else read.
fn contents(candidates: &[Candidate], known: &[Arc<Content>]) -> Vec<Arc<Content>> {
    let known: HashMap<&Path, &Arc<Content>> = known
        .iter()
        .map(|content| (content.path.as_path(), content))
        .collect();
    let current = |candidate: &Candidate| {
        let known = *known.get(candidate.path.as_path())?;
        known.is_current(candidate).then(|| known.clone())
    };
    let mut contents: Vec<Option<Arc<Content>>> = candidates.iter().map(current).collect();
    let read = |contents: &mut Vec<Option<Arc<Content>>>| {
        for (content, candidate) in contents.iter_mut().zip(candidates) {
            content.get_or_insert_with(|| Arc::new(Content::read(candidate)));
        }
    };
    if contents.iter().any(Option::is_none) {
        thread::scope(|scope| {
            let reader = thread::Builder::new().stack_size(STACK);
            let contents = &mut contents;
            // Without a thread the files stay unknown until the next scan.
            if let Ok(reading) = reader.spawn_scoped(scope, move || read(contents)) {
                let _ = reading.join();
            }
        });
    }
    contents.into_iter().flatten().collect()
}
