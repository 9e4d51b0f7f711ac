//! Directories of the host under a deadline: a file system that does not answer holds up neither the server nor other sessions.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jail::attach::Directory;
use tokio::time::timeout;

/// How long a directory may take to open, and how long the mounter may take to attach it.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// What is known of the directories that sessions are shown.
#[derive(Debug, Default)]
pub struct Folders {
    /// Those that a thread still waits for after its deadline. Each holds up one thread, not one at each attempt.
    hanging: Mutex<HashSet<PathBuf>>,
    /// Read-only ones that sessions see without an overlay, and why.
    bare: Mutex<BTreeMap<PathBuf, String>>,
}

/// A directory that cannot be opened.
#[derive(Debug)]
pub struct Unopened {
    /// Which of those that were asked for.
    pub number: usize,
    /// Why not.
    pub cause: io::Error,
}

impl Folders {
    /// Opens all of them on a thread that may block.
    pub async fn open(self: &Arc<Self>, sources: Vec<PathBuf>) -> Result<Vec<Directory>, Unopened> {
        if let Some(number) = sources.iter().position(|source| self.hangs(source)) {
            return Err(late(number));
        }
        let sources: Arc<[PathBuf]> = sources.into();
        let current = Arc::new(AtomicUsize::new(0));
        let (opened, reached) = (Arc::clone(&sources), Arc::clone(&current));
        let mut opening = tokio::task::spawn_blocking(move || {
            let open_one = |(number, source): (usize, &PathBuf)| {
                reached.store(number, Ordering::Relaxed);
                Directory::open(source).map_err(|cause| Unopened { number, cause })
            };
            opened.iter().enumerate().map(open_one).collect()
        });
        if let Ok(ended) = timeout(DEADLINE, &mut opening).await {
            return ended.unwrap_or_else(|error| {
                Err(Unopened {
                    number: 0,
                    cause: io::Error::other(error),
                })
            });
        }
        let number = current.load(Ordering::Relaxed);
        if let Some(source) = sources.get(number).cloned() {
            self.hanging().insert(source.clone());
            let folders = Arc::clone(self);
            tokio::spawn(async move {
                // Whatever came of it comes too late.
                let _ = opening.await;
                folders.hanging().remove(&source);
            });
        }
        Err(late(number))
    }

    /// Notes that sessions see a directory without an overlay; says so once.
    pub fn note_bare(&self, source: &Path, cause: String) {
        let mut bare = self.bare.lock().unwrap_or_else(PoisonError::into_inner);
        if !bare.contains_key(source) {
            tracing::warn!(
                folder = %source.display(), %cause,
                "this read-only mount has no overlay: programs reach its sockets, FIFOs and file locks"
            );
            bare.insert(source.to_owned(), cause);
        }
    }

    /// Why sessions see a directory without an overlay, if they do.
    pub fn bare(&self, source: &Path) -> Option<String> {
        let bare = self.bare.lock().unwrap_or_else(PoisonError::into_inner);
        bare.get(source).cloned()
    }

    fn hangs(&self, source: &Path) -> bool {
        self.hanging().contains(source)
    }

    fn hanging(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.hanging.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn late(number: usize) -> Unopened {
    let text = format!(
        "its file system did not answer within {} s; check the server or the program behind it, or remove the mount",
        DEADLINE.as_secs()
    );
    Unopened {
        number,
        cause: io::Error::new(io::ErrorKind::TimedOut, text),
    }
}
