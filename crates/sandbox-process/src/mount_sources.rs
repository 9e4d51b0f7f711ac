//! Opens directories of the host under a deadline, so that a hanging file system delays neither the server nor other
//! sessions.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jail::attach::Directory;
use tokio::time::timeout;

/// Time limit for opening directories, and for the mounter to attach them.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// Knowledge about the directories that the backend attaches.
#[derive(Debug, Default)]
pub struct MountSources {
    /// Directories that a thread still waits for after the deadline. Each directory blocks one thread, regardless of
    /// the number of attempts.
    hanging: Mutex<HashSet<PathBuf>>,
    /// Read-only directories that sessions see without an overlay, and the reason.
    without_overlay: Mutex<BTreeMap<PathBuf, String>>,
}

#[derive(Debug)]
pub struct OpenError {
    /// Index of the directory in the request.
    pub index: usize,
    pub cause: io::Error,
}

impl MountSources {
    pub async fn open(self: &Arc<Self>, sources: Vec<PathBuf>) -> Result<Vec<Directory>, OpenError> {
        if let Some(index) = sources.iter().position(|source| self.hanging().contains(source)) {
            return Err(too_late(index));
        }
        let sources: Arc<[PathBuf]> = sources.into();
        let current = Arc::new(AtomicUsize::new(0));
        let (opened, reached) = (Arc::clone(&sources), Arc::clone(&current));
        let mut opening = tokio::task::spawn_blocking(move || {
            let open_one = |(index, source): (usize, &PathBuf)| {
                reached.store(index, Ordering::Relaxed);
                Directory::open(source).map_err(|cause| OpenError { index, cause })
            };
            opened.iter().enumerate().map(open_one).collect()
        });
        if let Ok(ended) = timeout(DEADLINE, &mut opening).await {
            return ended.unwrap_or_else(|error| {
                Err(OpenError {
                    index: 0,
                    cause: io::Error::other(error),
                })
            });
        }
        let index = current.load(Ordering::Relaxed);
        if let Some(source) = sources.get(index).cloned() {
            self.hanging().insert(source.clone());
            let mount_sources = Arc::clone(self);
            tokio::spawn(async move {
                // The result is too late.
                let _ = opening.await;
                mount_sources.hanging().remove(&source);
            });
        }
        Err(too_late(index))
    }

    /// Records that sessions see a directory without an overlay. Warns the first time.
    pub fn record_without_overlay(&self, source: &Path, cause: String) {
        let mut reasons = self
            .without_overlay
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !reasons.contains_key(source) {
            tracing::warn!(
                folder = %source.display(), %cause,
                "this read-only mount has no overlay: programs reach its sockets, FIFOs and file locks"
            );
            reasons.insert(source.to_owned(), cause);
        }
    }

    pub fn why_without_overlay(&self, source: &Path) -> Option<String> {
        let reasons = self
            .without_overlay
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reasons.get(source).cloned()
    }

    fn hanging(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.hanging.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_late(index: usize) -> OpenError {
    let text = format!(
        "its file system did not answer within {} s; check the server or the program behind it, or remove the mount",
        DEADLINE.as_secs()
    );
    OpenError {
        index,
        cause: io::Error::new(io::ErrorKind::TimedOut, text),
    }
}
