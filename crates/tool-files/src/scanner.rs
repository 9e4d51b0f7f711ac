//! Looks at the directories again and again; reads only what has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use types::{ServerTools, Tool};

use crate::finding::Finding;
use crate::notices::Notices;
use crate::read::{Content, ToolFile};
use crate::walk::{Candidate, Walk};

/// Stack of the thread that reads files, in bytes: many times what the deepest one that is read takes.
const STACK: usize = 32 * 1024 * 1024;

/// Definitions of all tools together, in bytes.
const MAX_DEFINITIONS: usize = 16 * 1024 * 1024;

/// The directories, and what was last found there.
#[derive(Debug)]
pub struct Scanner {
    directories: Vec<PathBuf>,
    notices: Notices,
    known: Vec<Arc<Content>>,
    /// What was wrong with the directories.
    seen: Vec<Finding>,
    last: Arc<ScannedTools>,
    has_looked: bool,
}

/// All tool files at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ScannedTools {
    /// By name; each has a tool at least.
    pub servers: Vec<Server>,
    /// What is wrong, by path.
    pub findings: Vec<Finding>,
}

/// One directory of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// What a catalog is told. Where nothing has changed between two looks the list is the same one.
    pub listed: ServerTools,
    /// Its tools by name, in the order of the list.
    pub files: Vec<Arc<ToolFile>>,
}

// === impl Scanner ===

impl Scanner {
    /// Reads nothing yet. Each directory is or holds one named `servers`.
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

    /// Whether there is nowhere to look.
    pub fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    /// The directories, as they were given.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Looks at every directory. `None` means that nothing has changed since the look before; the first one always says
    /// what there is. Blocks.
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

    /// Whether the next look would find that nothing has changed, without looking at any file.
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

    /// The tools whose definitions are within the bound for all together.
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
    /// The file of a tool by its names.
    pub fn file(&self, server: &str, tool: &str) -> Option<&Arc<ToolFile>> {
        let server = self.servers.iter().find(|known| known.listed.name == server)?;
        let at = server
            .files
            .binary_search_by(|file| file.tool.name.as_str().cmp(tool));
        server.files.get(at.ok()?)
    }
}

/// Whether nothing was read anew, came or went.
fn are_same(now: &[Arc<Content>], before: &[Arc<Content>]) -> bool {
    now.len() == before.len()
        && now
            .iter()
            .zip(before)
            .all(|(now, before)| Arc::ptr_eq(now, before))
}

/// What the candidates are: as known where nothing shows a change, else read.
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
            // Without a thread nothing of it is known until the next look.
            if let Ok(reading) = reader.spawn_scoped(scope, move || read(contents)) {
                let _ = reading.join();
            }
        });
    }
    contents.into_iter().flatten().collect()
}
