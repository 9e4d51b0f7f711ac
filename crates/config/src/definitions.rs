//! The servers of the surface `bridge`: looked for in files that may change at any time.
//!
//! On this surface a file or an entry that cannot be used is left out with a warning, and nothing refuses to start:
//! the definitions belong to other programs too.

mod file;
mod locations;
mod stamp;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use upstream::ServerConfig;

use crate::bridge::Bridge;
use crate::host::Host;
use crate::load::{Program, Sources};
use crate::mistakes::{Findings, Warning, why_unreadable};
use file::{Content, Judge};
use locations::{Location, Place};
pub(crate) use stamp::Stamp;

/// Every place that definitions come from, and what was last found there.
pub struct Definitions {
    places: Vec<Place>,
    own_executable: PathBuf,
    allow_self: bool,
    host: Box<dyn Host + Send>,
    /// The files of the last scan in their order.
    files: Vec<Known>,
    last: Option<Found>,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// All servers that are defined now, in the order of their places; names are unique.
    pub servers: Vec<ServerConfig>,
    /// What is not used and why, as far as the scan before did not say so.
    pub warnings: Vec<Warning>,
}

/// One file of the last scan.
struct Known {
    path: PathBuf,
    stamp: Stamp,
    content: Content,
}

/// A file that is there, or that somebody named.
struct Candidate<'a> {
    path: PathBuf,
    place: &'a Place,
    stamp: Stamp,
}

/// Everything that was found.
#[derive(PartialEq)]
struct Found {
    servers: Vec<ServerConfig>,
    warnings: Vec<Warning>,
}

impl Definitions {
    /// Finds out where to look; reads nothing yet.
    pub fn new(
        bridge: &Bridge,
        sources: &Sources,
        program: &Program,
        host: impl Host + Send + 'static,
    ) -> Definitions {
        Definitions {
            places: locations::places(bridge, sources, &host),
            own_executable: program.executable.clone(),
            allow_self: bridge.allow_self,
            host: Box::new(host),
            files: Vec::new(),
            last: None,
        }
    }

    /// Looks at every place. `None` means that nothing has changed since the scan before; the first scan always says
    /// what there is.
    pub fn scan(&mut self) -> Option<Scan> {
        let mut findings = Findings::of(None);
        let candidates = candidates(&self.places, &mut findings);
        let unchanged = self.last.is_some()
            && findings.warnings.is_empty()
            && candidates.len() == self.files.len()
            && candidates
                .iter()
                .zip(&self.files)
                .all(|(candidate, known)| known.is_current(candidate));
        if unchanged {
            return None;
        }
        let mut known: HashMap<PathBuf, Known> = std::mem::take(&mut self.files)
            .into_iter()
            .map(|known| (known.path.clone(), known))
            .collect();
        let judge = Judge {
            own_executable: &self.own_executable,
            allow_self: self.allow_self,
            host: &*self.host,
        };
        self.files = candidates
            .into_iter()
            .map(|candidate| match known.remove(&candidate.path) {
                Some(known) if known.is_current(&candidate) => known,
                _ => Known::read(candidate, &judge),
            })
            .collect();
        let found = merge(&self.files, findings.warnings);
        let told = self.last.as_ref().map(|last| last.warnings.as_slice());
        let told = told.unwrap_or_default();
        let scan = (self.last.as_ref() != Some(&found)).then(|| Scan {
            servers: found.servers.clone(),
            warnings: found
                .warnings
                .iter()
                .filter(|warning| !told.contains(warning))
                .cloned()
                .collect(),
        });
        self.last = Some(found);
        scan
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

impl Known {
    fn read(candidate: Candidate<'_>, judge: &Judge<'_>) -> Known {
        let Candidate { path, place, stamp } = candidate;
        let content = match stamp.refusal() {
            Some(why) => Content::unusable(&path, why),
            None => match judge.host.read_own(&path) {
                Ok(bytes) => file::read(&path, &bytes, place, judge),
                Err(error) => Content::unusable(&path, why_unreadable(&error)),
            },
        };
        Known { path, stamp, content }
    }

    /// Whether reading the file again would give the same.
    fn is_current(&self, candidate: &Candidate<'_>) -> bool {
        self.path == candidate.path && self.stamp.holds(&candidate.stamp)
    }
}

/// The files of all places in their order, each once.
fn candidates<'a>(places: &'a [Place], findings: &mut Findings) -> Vec<Candidate<'a>> {
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    let mut add = |path: PathBuf, stamp: Stamp, place: &'a Place| {
        let is_there = place.is_named || !stamp.is_absent();
        if is_there && !candidates.iter().any(|known| known.path == path) {
            candidates.push(Candidate { path, place, stamp });
        }
    };
    for place in places {
        match &place.location {
            Location::File(path) => add(path.clone(), Stamp::of(path), place),
            Location::Directory { path, kinds } => match locations::list(path, kinds) {
                Ok(files) => files
                    .into_iter()
                    .for_each(|(file, stamp)| add(file, stamp, place)),
                Err(error) => {
                    let mut found = Findings::of(Some(path));
                    found.warning("", why_unreadable(&error));
                    findings.absorb(found);
                }
            },
        }
    }
    candidates
}

/// Puts the files together; the first definition of a name counts.
fn merge(files: &[Known], warnings: Vec<Warning>) -> Found {
    let mut names: HashMap<&str, &Path> = HashMap::new();
    let mut found = Found {
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
                        "is not used: {} has a server of this name and goes first",
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
