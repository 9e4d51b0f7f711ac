//! Tool files in addition to the servers.
//!
//! They are rescanned before a search, a check and a run, so that a new file needs no restart.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use catalog::normalise;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio::time::timeout;
use tool_files::{Finding, ScannedTools, Scanner, Server, ToolFile};
use types::{Principal, ServerTools, ToolRef};

use crate::mounts::Mounts;

/// Longest wait for a scan; a network directory may hang.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait for the first scan, because no tool file is known before.
const PATIENCE_AT_FIRST: Duration = Duration::from_secs(10);

/// Problems of one scan that are logged individually.
const MOST_LOGGED: usize = 10;

/// Servers and tool files as one list. A server hides a directory with the same name.
#[derive(Debug, Clone)]
pub(crate) struct Lists {
    servers: watch::Receiver<Arc<Vec<ServerTools>>>,
    files: watch::Receiver<Arc<ScannedTools>>,
    /// The mount rules of a virtual server, if the lists belong to one.
    mounts: Option<Arc<Mounts>>,
}

#[derive(Debug)]
pub(crate) struct Local {
    /// The running scan holds the lock, even after all callers stopped waiting.
    scanner: Option<Arc<Mutex<Scanner>>>,
    /// Names of the directories, for messages.
    names: String,
    has_looked: AtomicBool,
    is_late: AtomicBool,
    found: watch::Sender<Arc<ScannedTools>>,
    told: Arc<LoggedFindings>,
}

#[derive(Debug, Default)]
struct LoggedFindings(std::sync::Mutex<HashSet<Finding>>);

// === impl Local ===

impl Local {
    /// Creates the state without a scan.
    pub(crate) fn new(scanner: Scanner) -> Local {
        let names: Vec<String> = scanner
            .directories()
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        Local {
            names: names.join(", "),
            scanner: (!scanner.is_empty()).then(|| Arc::new(Mutex::new(scanner))),
            has_looked: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
            found: watch::Sender::default(),
            told: Arc::default(),
        }
    }

    /// Combines these servers and the tool files.
    pub(crate) fn beside(&self, servers: watch::Receiver<Arc<Vec<ServerTools>>>) -> Lists {
        Lists {
            servers,
            files: self.found.subscribe(),
            mounts: None,
        }
    }

    /// Scans the directories and logs the files that are left out; returns whether anything changed. If the scan takes
    /// too long, the old state stays until the scan ends. No second scan starts meanwhile.
    pub(crate) async fn look(&self, lists: &Lists) -> bool {
        let Some(scanner) = &self.scanner else {
            return false;
        };
        if self.is_late.load(Ordering::Relaxed) && scanner.try_lock().is_err() {
            return false;
        }
        let looking = async {
            let scanner = scanner.clone().lock_owned().await;
            self.is_late.store(false, Ordering::Relaxed);
            let (found, told, lists) = (self.found.clone(), self.told.clone(), lists.clone());
            tokio::task::spawn_blocking(move || look(scanner, &found, &told, &lists)).await
        };
        let patience = match self.has_looked.load(Ordering::Relaxed) {
            true => PATIENCE,
            false => PATIENCE_AT_FIRST,
        };
        match timeout(patience, looking).await {
            Ok(Ok(has_changed)) => {
                self.has_looked.store(true, Ordering::Relaxed);
                has_changed
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "the tool files could not be read; the tools known before stay");
                false
            }
            Err(_elapsed) => {
                if !self.is_late.swap(true, Ordering::Relaxed) {
                    let names = &self.names;
                    tracing::warn!(
                        "the tool files of {names} could not be read within {patience:?}; the tools known before stay until then"
                    );
                }
                false
            }
        }
    }
}

/// Runs one scan; of two concurrent scans, the later result is used.
fn look(
    mut scanner: OwnedMutexGuard<Scanner>,
    found: &watch::Sender<Arc<ScannedTools>>,
    told: &LoggedFindings,
    lists: &Lists,
) -> bool {
    let Some(scan) = scanner.scan() else {
        return false;
    };
    found.send_replace(scan);
    told.tell(&lists.findings());
    true
}

// === impl LoggedFindings ===

impl LoggedFindings {
    /// Logs each problem once, and only the first of many.
    fn tell(&self, findings: &[Finding]) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<&Finding> = findings
            .iter()
            .filter(|finding| !finding.is_used && !told.contains(finding))
            .collect();
        for finding in new.iter().take(MOST_LOGGED) {
            tracing::warn!("{finding}");
        }
        if let Some(more @ 1..) = new.len().checked_sub(MOST_LOGGED) {
            tracing::warn!("{more} more files are not tools; `codeyard tools` lists them");
        }
        // A problem that returns is logged again, so this set is never larger than the number of problems.
        *told = findings.iter().cloned().collect();
    }
}

// === impl Lists ===

impl Lists {
    /// The same lists, restricted to a virtual server's mounted tools.
    pub(crate) fn mounted(&self, mounts: Mounts) -> Lists {
        Lists {
            mounts: Some(Arc::new(mounts)),
            ..self.clone()
        }
    }

    /// The servers' lists as they change, without tool files. A background task follows them while a receiver exists.
    pub(crate) fn followed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        let Some(mounts) = self.mounts.clone() else {
            return self.servers.clone();
        };
        let mut servers = self.servers.clone();
        // The filter reads the hub, which changes this list under its own lock, so hold no borrow of the list.
        let all = servers.borrow_and_update().clone();
        let no_files = ScannedTools::default();
        let mounted = Arc::new(mounts.filtered(&all, &no_files));
        let (sender, receiver) = watch::channel(mounted);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    changed = servers.changed() => if changed.is_err() { return },
                    () = sender.closed() => return,
                }
                let all = servers.borrow_and_update().clone();
                sender.send_replace(Arc::new(mounts.filtered(&all, &no_files)));
            }
        });
        receiver
    }

    /// Whether callers may see the server that has this name now.
    pub(crate) fn shows(&self, server: &str) -> bool {
        let shows = |mounts: &Arc<Mounts>| mounts.shows(server, &self.found());
        self.mounts.as_ref().is_none_or(shows)
    }

    /// The user whose view the lists are, if it is that of one user.
    pub(crate) fn user(&self) -> Option<&Principal> {
        self.mounts.as_ref()?.user()
    }

    /// Whether the lists are unfiltered.
    pub(crate) fn are_whole(&self) -> bool {
        self.mounts.is_none()
    }

    pub(crate) fn mark_changed(&mut self) {
        self.servers.mark_changed();
    }

    pub(crate) fn mark_unchanged(&mut self) {
        self.servers.mark_unchanged();
        self.files.mark_unchanged();
    }

    /// Whether a list has changed. An error means that the hub has ended; its last lists remain.
    pub(crate) fn has_changed(&self) -> bool {
        self.servers.has_changed().unwrap_or(false) || self.files.has_changed().unwrap_or(false)
    }

    /// Waits for a change.
    ///
    /// # Errors
    /// If the hub is gone.
    pub(crate) async fn changed(&mut self) -> Result<(), watch::error::RecvError> {
        let files = async {
            // The scanner may end before the hub.
            if self.files.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            changed = self.servers.changed() => changed,
            () = files => Ok(()),
        }
    }

    pub(crate) fn now(&self) -> Arc<Vec<ServerTools>> {
        let all = merged(&self.servers.borrow(), &self.files.borrow());
        self.filtered(all)
    }

    /// The current lists, marked as seen.
    pub(crate) fn take(&mut self) -> Arc<Vec<ServerTools>> {
        let servers = self.servers.borrow_and_update().clone();
        let all = merged(&servers, &self.files.borrow_and_update());
        self.filtered(all)
    }

    fn filtered(&self, all: Arc<Vec<ServerTools>>) -> Arc<Vec<ServerTools>> {
        match &self.mounts {
            Some(mounts) => Arc::new(mounts.filtered(&all, &self.found())),
            None => all,
        }
    }

    /// The tool files at the last scan.
    pub(crate) fn found(&self) -> Arc<ScannedTools> {
        self.files.borrow().clone()
    }

    /// The file of a tool, unless a server has the directory's name.
    pub(crate) fn file(&self, tool: &ToolRef) -> Option<Arc<ToolFile>> {
        let file = self.files.borrow().file(&tool.server, &tool.tool)?.clone();
        let name = normalise(&tool.server);
        let servers = self.servers.borrow();
        let is_taken = servers.iter().any(|server| normalise(&server.name) == name);
        (!is_taken).then_some(file)
    }

    pub(crate) fn directories(&self) -> Vec<String> {
        let taken = names(&self.servers.borrow());
        let files = self.files.borrow();
        let directories = files.servers.iter().map(|server| server.listed.name.clone());
        directories.filter(|name| !is_taken(&taken, name)).collect()
    }

    /// All problems of the files, including their names.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let taken = names(&self.servers.borrow());
        let files = self.files.borrow();
        let shadowed = files
            .servers
            .iter()
            .filter(|server| is_taken(&taken, &server.listed.name));
        let shadowed = shadowed.flat_map(|server| {
            let message = format!(
                "is not used: a configured server is named `{}` too; rename the directory",
                server.listed.name
            );
            places(server).into_iter().map(move |path| Finding {
                path: path.to_path_buf(),
                line: None,
                message: message.clone(),
                is_used: false,
            })
        });
        shadowed.chain(files.findings.iter().cloned()).collect()
    }
}

/// Directories of a server's files; each configured directory may hold some.
fn places(server: &Server) -> BTreeSet<&Path> {
    let paths = server.files.iter();
    paths.filter_map(|file| file.path.parent()).collect()
}

fn names(servers: &[ServerTools]) -> HashSet<String> {
    servers.iter().map(|server| normalise(&server.name)).collect()
}

fn is_taken(names: &HashSet<String>, name: &str) -> bool {
    names.contains(&normalise(name))
}

fn merged(servers: &Arc<Vec<ServerTools>>, files: &ScannedTools) -> Arc<Vec<ServerTools>> {
    if files.servers.is_empty() {
        return servers.clone();
    }
    let taken = names(servers);
    let files = files.servers.iter().map(|server| &server.listed);
    let files = files.filter(|listed| !is_taken(&taken, &listed.name));
    Arc::new(servers.iter().chain(files).cloned().collect())
}

#[cfg(test)]
mod tests;
