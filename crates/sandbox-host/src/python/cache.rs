//! Caches the answers of probes, so that the next start runs no process.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::probe::ProbeAnswer;

/// Increased when the meaning of an entry changes.
const FORMAT: u32 = 2;
/// Entries, more than a search path has Pythons. The oldest entries are dropped.
const CAPACITY: usize = 32;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    format: u32,
    entries: Vec<CachedProbe>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CachedProbe {
    path: PathBuf,
    stamp: Stamp,
    executable: Stamp,
    facts: ProbeAnswer,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: i64,
    modified_nanoseconds: i64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::metadata(path).ok()?;
        Some(Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: metadata.mtime(),
            modified_nanoseconds: metadata.mtime_nsec(),
        })
    }
}

impl Cache {
    pub(super) fn empty() -> Cache {
        Cache {
            format: FORMAT,
            entries: Vec::new(),
        }
    }

    /// A missing or unreadable file gives an empty cache.
    pub(super) fn read(data: &Path) -> Cache {
        fs::read(file_in(data))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Cache>(&bytes).ok())
            .filter(|cache| cache.format == FORMAT)
            .unwrap_or_else(Cache::empty)
    }

    /// The cached answer, if neither the candidate nor its real executable has changed.
    pub(super) fn get(&self, path: &Path) -> Option<&ProbeAnswer> {
        let entry = self.entries.iter().find(|entry| entry.path == path)?;
        let same = Stamp::of(path).as_ref() == Some(&entry.stamp)
            && Stamp::of(&entry.facts.executable).as_ref() == Some(&entry.executable);
        same.then_some(&entry.facts)
    }

    pub(super) fn put(&mut self, path: &Path, facts: &ProbeAnswer) {
        let (Some(stamp), Some(executable)) = (Stamp::of(path), Stamp::of(&facts.executable)) else {
            return;
        };
        self.entries.retain(|entry| entry.path != path);
        self.entries.push(CachedProbe {
            path: path.to_owned(),
            stamp,
            executable,
            facts: facts.clone(),
        });
        let surplus = self.entries.len().saturating_sub(CAPACITY);
        self.entries.drain(..surplus);
    }

    /// Replaces the file atomically.
    pub(super) fn write(&self, data: &Path) -> io::Result<()> {
        let target = file_in(data);
        let directory = data.join("python");
        fs::create_dir_all(&directory)?;
        let temporary = directory.join(format!(".interpreters.{}", std::process::id()));
        let written = serde_json::to_vec_pretty(self)
            .map_err(io::Error::from)
            .and_then(|bytes| fs::write(&temporary, bytes))
            .and_then(|()| fs::rename(&temporary, &target));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

fn file_in(data: &Path) -> PathBuf {
    data.join("python").join("interpreters.json")
}
