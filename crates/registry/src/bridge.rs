//! Servers of the surface `bridge`: definitions in files that may change at any time.
//!
//! The files also belong to other programs. So the bridge skips an unusable file or entry with a warning, and always
//! starts.

mod file;
mod locations;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use environment::{Diagnostics, Environment, Warning, why_unreadable};
use upstream::ServerConfig;

use crate::file_version::FileVersion;
use file::{EntryFilter, FileContent};
use locations::{Location, SearchPath};

/// Sources of definitions for the surface `bridge`.
#[derive(Debug, Clone)]
pub struct BridgeSources {
    /// Files that must exist, in order of precedence: `--config`, then `MCP_SERVERS_CONFIG`.
    pub files: Vec<PathBuf>,
    /// Also read other clients' configuration files.
    pub other_clients: bool,
    /// Also use servers that would start codeyard again.
    pub allow_self: bool,
    /// Codeyard's executable.
    pub own_executable: PathBuf,
}

/// Search paths of definitions, with the last scan's result.
pub struct BridgeDefinitions {
    search_paths: Vec<SearchPath>,
    own_executable: PathBuf,
    allow_self: bool,
    env: Box<dyn Environment + Send>,
    /// Files of the last scan, in order.
    files: Vec<ReadFile>,
    last: Option<Merged>,
}

/// The definitions after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// All current servers in order of precedence, with unique names.
    pub servers: Vec<ServerConfig>,
    /// New warnings since the previous scan.
    pub warnings: Vec<Warning>,
}

struct ReadFile {
    path: PathBuf,
    version: FileVersion,
    content: FileContent,
}

/// An existing or required file.
struct Candidate<'a> {
    path: PathBuf,
    search_path: &'a SearchPath,
    version: FileVersion,
}

#[derive(PartialEq)]
struct Merged {
    servers: Vec<ServerConfig>,
    warnings: Vec<Warning>,
}

impl BridgeDefinitions {
    /// Finds the search paths; reads nothing yet.
    pub fn new(sources: BridgeSources, env: impl Environment + Send + 'static) -> BridgeDefinitions {
        BridgeDefinitions {
            search_paths: locations::search_paths(&sources, &env),
            own_executable: sources.own_executable,
            allow_self: sources.allow_self,
            env: Box::new(env),
            files: Vec::new(),
            last: None,
        }
    }

    /// Reads changed files. `None` if nothing changed since the previous scan; the first scan is
    /// never `None`.
    pub fn scan(&mut self) -> Option<Scan> {
        let mut diagnostics = Diagnostics::of(None);
        let candidates = candidates(&self.search_paths, &mut diagnostics);
        let unchanged = self.last.is_some()
            && diagnostics.warnings.is_empty()
            && candidates.len() == self.files.len()
            && candidates
                .iter()
                .zip(&self.files)
                .all(|(candidate, known)| known.is_current(candidate));
        if unchanged {
            return None;
        }
        let mut known: HashMap<PathBuf, ReadFile> = std::mem::take(&mut self.files)
            .into_iter()
            .map(|known| (known.path.clone(), known))
            .collect();
        let filter = EntryFilter {
            own_executable: &self.own_executable,
            allow_self: self.allow_self,
            env: &*self.env,
        };
        self.files = candidates
            .into_iter()
            .map(|candidate| match known.remove(&candidate.path) {
                Some(known) if known.is_current(&candidate) => known,
                _ => ReadFile::read(candidate, &filter),
            })
            .collect();
        let found = merge(&self.files, diagnostics.warnings);
        let reported = self.last.as_ref().map(|last| last.warnings.as_slice());
        let reported = reported.unwrap_or_default();
        let scan = (self.last.as_ref() != Some(&found)).then(|| Scan {
            servers: found.servers.clone(),
            warnings: found
                .warnings
                .iter()
                .filter(|warning| !reported.contains(warning))
                .cloned()
                .collect(),
        });
        self.last = Some(found);
        scan
    }
}

impl fmt::Debug for BridgeDefinitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgeDefinitions")
            .field("search_paths", &self.search_paths)
            .finish_non_exhaustive()
    }
}

impl ReadFile {
    fn read(candidate: Candidate<'_>, filter: &EntryFilter<'_>) -> ReadFile {
        let Candidate {
            path,
            search_path,
            version,
        } = candidate;
        let content = match version.refusal() {
            Some(why) => FileContent::unusable(&path, why),
            None => match filter.env.read_protected(&path) {
                Ok(bytes) => file::read(&path, &bytes, search_path, filter),
                Err(error) => FileContent::unusable(&path, why_unreadable(&error)),
            },
        };
        ReadFile {
            path,
            version,
            content,
        }
    }

    fn is_current(&self, candidate: &Candidate<'_>) -> bool {
        self.path == candidate.path && self.version.has_same_content(&candidate.version)
    }
}

/// Files of all search paths, in order, without duplicates.
fn candidates<'a>(search_paths: &'a [SearchPath], diagnostics: &mut Diagnostics) -> Vec<Candidate<'a>> {
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    let mut add = |path: PathBuf, version: FileVersion, search_path: &'a SearchPath| {
        let is_candidate = search_path.is_required || !version.is_absent();
        if is_candidate && !candidates.iter().any(|known| known.path == path) {
            candidates.push(Candidate {
                path,
                search_path,
                version,
            });
        }
    };
    for search_path in search_paths {
        match &search_path.location {
            Location::File(path) => add(path.clone(), FileVersion::of(path), search_path),
            Location::Directory { path, kinds } => match locations::list(path, kinds) {
                Ok(files) => files
                    .into_iter()
                    .for_each(|(file, version)| add(file, version, search_path)),
                Err(error) => {
                    diagnostics.warning_in(path, "", why_unreadable(&error));
                }
            },
        }
    }
    candidates
}

/// Merges the files. A name's first definition takes precedence.
fn merge(files: &[ReadFile], warnings: Vec<Warning>) -> Merged {
    let mut names: HashMap<&str, &Path> = HashMap::new();
    let mut found = Merged {
        servers: Vec::new(),
        warnings,
    };
    for file in files {
        found.warnings.extend(file.content.warnings.iter().cloned());
        for entry in &file.content.entries {
            if let Some(first) = names.get(entry.name.as_str()) {
                found.warnings.push(Warning {
                    file: Some(file.path.clone()),
                    field: entry.field.clone(),
                    message: format!(
                        "is not used: {} also defines this server and takes precedence",
                        first.display()
                    ),
                });
                continue;
            }
            names.insert(&entry.name, &file.path);
            found.servers.extend(entry.server.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests;
