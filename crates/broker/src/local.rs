//! Tool files beside the servers: looked at before a search, a check and a run, so that a new one is found without a restart.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use catalog::normalise;
use tokio::sync::watch;
use tokio::time::timeout;
use tool_files::{Finding, Found, Scanner, ToolFile};
use types::{ServerTools, ToolRef};

/// How long a look may take: a directory on a network may hang.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lists of servers and tool files, as one list. Servers go before directories of the same name.
#[derive(Debug, Clone)]
pub(crate) struct Lists {
    servers: watch::Receiver<Arc<Vec<ServerTools>>>,
    files: watch::Receiver<Arc<Found>>,
}

/// The tool files of one process.
#[derive(Debug)]
pub(crate) struct Local {
    scanner: Option<Arc<Mutex<Scanner>>>,
    found: watch::Sender<Arc<Found>>,
    /// What was told before.
    told: Mutex<HashSet<Finding>>,
}

// === impl Local ===

impl Local {
    /// Looks at nothing yet.
    pub(crate) fn new(scanner: Scanner) -> Local {
        Local {
            scanner: (!scanner.is_empty()).then(|| Arc::new(Mutex::new(scanner))),
            found: watch::Sender::default(),
            told: Mutex::default(),
        }
    }

    /// Lists these servers and the tool files together.
    pub(crate) fn beside(&self, servers: watch::Receiver<Arc<Vec<ServerTools>>>) -> Lists {
        Lists {
            servers,
            files: self.found.subscribe(),
        }
    }

    /// Looks at the directories; whether something has changed. Where that takes too long, what was known stays.
    pub(crate) async fn look(&self) -> bool {
        let Some(scanner) = self.scanner.clone() else {
            return false;
        };
        let found = self.found.clone();
        let looking = tokio::task::spawn_blocking(move || {
            // Taken in under the lock: of two looks at once the later one counts.
            let mut scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            let scan = scanner.scan();
            let has_changed = scan.is_some();
            if let Some(scan) = scan {
                found.send_replace(scan);
            }
            has_changed
        });
        match timeout(PATIENCE, looking).await {
            Ok(Ok(has_changed)) => has_changed,
            Ok(Err(error)) => {
                tracing::error!(%error, "the tool files could not be looked at; those known stay");
                false
            }
            Err(_elapsed) => {
                tracing::warn!("the tool files could not be looked at within {PATIENCE:?}; those known stay");
                false
            }
        }
    }

    /// Logs what of these is left out, each once.
    pub(crate) fn tell(&self, findings: &[Finding]) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings.iter().filter(|finding| !finding.is_used) {
            if told.insert(finding.clone()) {
                tracing::warn!("{finding}");
            }
        }
    }
}

// === impl Lists ===

impl Lists {
    pub(crate) fn mark_changed(&mut self) {
        self.servers.mark_changed();
    }

    pub(crate) fn mark_unchanged(&mut self) {
        self.servers.mark_unchanged();
        self.files.mark_unchanged();
    }

    /// Whether there is something new. An error means that the hub is gone: its last lists stay.
    pub(crate) fn has_changed(&self) -> bool {
        self.servers.has_changed().unwrap_or(false) || self.files.has_changed().unwrap_or(false)
    }

    /// Waits for something new.
    ///
    /// # Errors
    /// If the hub is gone.
    pub(crate) async fn changed(&mut self) -> Result<(), watch::error::RecvError> {
        let files = async {
            // Whoever looks at the files may be gone before the hub.
            if self.files.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            changed = self.servers.changed() => changed,
            () = files => Ok(()),
        }
    }

    /// What is listed now.
    pub(crate) fn now(&self) -> Arc<Vec<ServerTools>> {
        merged(&self.servers.borrow(), &self.files.borrow())
    }

    /// The same, taken for seen.
    pub(crate) fn take(&mut self) -> Arc<Vec<ServerTools>> {
        let servers = self.servers.borrow_and_update().clone();
        merged(&servers, &self.files.borrow_and_update())
    }

    /// The tool files as they were last found.
    pub(crate) fn found(&self) -> Arc<Found> {
        self.files.borrow().clone()
    }

    /// The file of a tool, if its name is not a server's.
    pub(crate) fn file(&self, tool: &ToolRef) -> Option<ToolFile> {
        let files = self.files.borrow();
        let file = files.file(&tool.server, &tool.tool)?;
        (!is_taken(&names(&self.servers.borrow()), &tool.server)).then(|| file.clone())
    }

    /// The names of the directories that are listed.
    pub(crate) fn directories(&self) -> Vec<String> {
        let taken = names(&self.servers.borrow());
        let files = self.files.borrow();
        let directories = files.servers.iter().map(|server| server.listed.name.clone());
        directories.filter(|name| !is_taken(&taken, name)).collect()
    }

    /// Everything that is wrong with the files, their names too.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let taken = names(&self.servers.borrow());
        let files = self.files.borrow();
        let shadowed = files
            .servers
            .iter()
            .filter(|server| is_taken(&taken, &server.listed.name));
        let shadowed = shadowed.filter_map(|server| {
            let path = server.files.first()?.path.parent()?.to_path_buf();
            let name = &server.listed.name;
            Some(Finding {
                path,
                line: None,
                message: format!(
                    "is not used: a configured server is named `{name}` too; rename the directory"
                ),
                is_used: false,
            })
        });
        shadowed.chain(files.findings.iter().cloned()).collect()
    }
}

fn names(servers: &[ServerTools]) -> HashSet<String> {
    servers.iter().map(|server| normalise(&server.name)).collect()
}

fn is_taken(names: &HashSet<String>, name: &str) -> bool {
    names.contains(&normalise(name))
}

fn merged(servers: &Arc<Vec<ServerTools>>, files: &Found) -> Arc<Vec<ServerTools>> {
    if files.servers.is_empty() {
        return servers.clone();
    }
    let taken = names(servers);
    let files = files.servers.iter().map(|server| &server.listed);
    let files = files.filter(|listed| !is_taken(&taken, &listed.name));
    Arc::new(servers.iter().chain(files).cloned().collect())
}
