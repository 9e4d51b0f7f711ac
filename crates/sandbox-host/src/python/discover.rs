//! Finds the first Python of this machine that guests can run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cache::Cache;
use super::interpreter::{Interpreter, SkipReason, Skipped};
use super::probe::{self, SessionUser};

/// Names in search order. The name without a version is the machine's own choice.
const NAMES: [&str; 6] = [
    "python3",
    "python3.14",
    "python3.13",
    "python3.12",
    "python3.11",
    "python3.10",
];

/// Where to look for Python.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `[python] path`: the only candidate, if set.
    pub path: Option<PathBuf>,
    /// The value of `PATH`, searched if `path` is not set.
    pub search_path: Option<OsString>,
}

/// Result of a search.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// The first candidate that guests can run.
    pub interpreter: Option<Interpreter>,
    /// The candidates before it, each with its reason.
    pub skipped: Vec<Skipped>,
}

impl Discovery {
    /// The interpreter of sessions.
    ///
    /// # Errors
    /// Why each candidate was skipped.
    pub fn usable(self) -> Result<Interpreter, String> {
        self.interpreter.ok_or_else(|| {
            let skipped: Vec<String> = self.skipped.iter().map(ToString::to_string).collect();
            let reasons = if skipped.is_empty() {
                "none was found on PATH".to_owned()
            } else {
                skipped.join("; ")
            };
            format!(
                "no Python 3.10 or newer can be used: {reasons}; install python3, or name one in `[python] path`"
            )
        })
    }
}

/// Finds the Python of guests. A cached answer starts no process.
///
/// The cache also holds the version that a shim chose. `codeyard python sync` and `codeyard python info` run the probe
/// again.
pub fn discover(settings: &Settings, data: &Path) -> Discovery {
    search(settings, data, Cache::read(data), probe::TIMEOUT)
}

/// Finds the Python of guests without reading the cache, and rewrites the cache.
pub(super) fn discover_afresh(settings: &Settings, data: &Path) -> Discovery {
    search(settings, data, Cache::empty(), probe::TIMEOUT)
}

fn search(settings: &Settings, data: &Path, mut cache: Cache, timeout: Duration) -> Discovery {
    let mut skipped = Vec::new();
    let mut cache_changed = false;
    let mut interpreter = None;
    for path in candidates(settings) {
        let facts = match cache.get(&path) {
            Some(facts) => Ok(facts.clone()),
            None if path.try_exists().is_ok_and(|exists| !exists) => Err(SkipReason::Missing),
            None => probe::ask(&path, timeout).inspect(|facts| {
                cache.put(&path, facts);
                cache_changed = true;
            }),
        };
        match facts.and_then(|facts| probe::judge(&path, &facts, SessionUser::of_this_process())) {
            Ok(found) => {
                interpreter = Some(found);
                break;
            }
            Err(reason) => skipped.push(Skipped { path, reason }),
        }
    }
    if cache_changed && let Err(error) = cache.write(data) {
        tracing::debug!(%error, data = %data.display(), "the answers of the Pythons could not be cached");
    }
    Discovery { interpreter, skipped }
}

/// Candidates in search order. Two names of the same file count as one candidate.
fn candidates(settings: &Settings) -> Vec<PathBuf> {
    if let Some(path) = &settings.path {
        return vec![path.clone()];
    }
    let search_path = settings.search_path.as_deref().unwrap_or(OsStr::new(""));
    // A relative directory would let codeyard's working directory choose the program.
    let directories: Vec<PathBuf> = std::env::split_paths(search_path)
        .filter(|dir| dir.is_absolute())
        .collect();
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for name in NAMES {
        for directory in &directories {
            let path = directory.join(name);
            let Some(real) = path.canonicalize().ok().filter(|real| real.is_file()) else {
                continue;
            };
            // All shims of a version manager may be links to one program, which behaves according to its name. A
            // Python does not.
            let is_python = real
                .file_name()
                .is_some_and(|file| file.as_encoded_bytes().starts_with(b"python"));
            let identity = (real, (!is_python).then_some(name));
            if !seen.contains(&identity) {
                seen.push(identity);
                found.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
