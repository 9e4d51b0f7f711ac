//! Artifacts: files that sessions wrote to `/results`, listed and read by their principal.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FileType, Mode, OFlags, openat};
use types::{Principal, SessionName};

use crate::config::{RESULTS, SESSIONS};
use crate::confined::{Bounds, ReadError, Seen, WalkEntry, read, walk};
use crate::directory::{Directory, modified_at, names};
use crate::error::WorkspaceError;
use crate::layout::Workspaces;
use crate::name::{decode, encode};
use crate::sessions;

/// Most directory entries that one listing visits.
const MOST_ENTRIES: u64 = 20_000;

/// Most artifacts of one listing; the listing drops the oldest.
const MOST_ARTIFACTS: usize = 5_000;

/// Deepest listed directory below `/results`.
const DEEPEST: usize = 32;

/// A file that a session wrote to `/results`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The writing session.
    pub session: SessionName,
    /// Path below `/results`; names may contain any bytes.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Last write.
    pub modified: SystemTime,
}

/// A principal's artifacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// Newest first.
    pub files: Vec<Artifact>,
    /// Whether more artifacts exist than the listing contains.
    pub more: bool,
}

impl Workspaces {
    /// Artifacts of all sessions of a principal.
    ///
    /// # Errors
    /// If something else is in the place of their directory.
    pub fn artifacts(&self, principal: &Principal) -> Result<Artifacts, WorkspaceError> {
        let Some(sessions) = self.sessions(principal)? else {
            return Ok(Artifacts::default());
        };
        let mut files = Vec::new();
        let mut left = MOST_ENTRIES;
        let mut more = false;
        for name in names(&sessions)? {
            let Some(session) = name.to_str().and_then(decode).map(SessionName::new) else {
                continue;
            };
            let Some(results) = results_of(&sessions, &name) else {
                continue;
            };
            let bounds = Bounds {
                entries: left,
                depth: DEEPEST,
            };
            let seen = walk(&results, bounds, |met| {
                left = left.saturating_sub(1);
                files.extend(artifact(&session, &met));
            });
            more |= seen == Seen::Part;
        }
        // Sort files of equal time by name, so that consecutive pages of a listing fit together.
        files.sort_by(|one, two| {
            two.modified
                .cmp(&one.modified)
                .then_with(|| (&one.session, &one.path).cmp(&(&two.session, &two.path)))
        });
        more |= files.len() > MOST_ARTIFACTS;
        files.truncate(MOST_ARTIFACTS);
        Ok(Artifacts { files, more })
    }

    /// The content of one artifact of at most `most` bytes.
    ///
    /// # Errors
    /// If the artifact is missing or cannot be read as a file.
    pub fn read_artifact(
        &self,
        principal: &Principal,
        session: &SessionName,
        path: &Path,
        most: u64,
    ) -> Result<Vec<u8>, ReadError> {
        // If a directory above the file is unusable, the file counts as missing.
        let sessions = self
            .sessions(principal)
            .ok()
            .flatten()
            .ok_or(ReadError::Missing)?;
        if path.is_absolute() || path.as_os_str().is_empty() {
            return Err(ReadError::Missing);
        }
        let results = Path::new(&encode(session.as_str())).join(RESULTS);
        read(&sessions, &results.join(path), most)
    }

    /// The directory of all of a principal's sessions; `None` if missing.
    fn sessions(&self, principal: &Principal) -> Result<Option<Directory>, WorkspaceError> {
        let mut place = self.shared.existing_place(principal)?;
        if !place.as_ref().is_some_and(has_sessions) {
            // No session has used the image yet.
            self.mount(principal)?;
            place = self.shared.existing_place(principal)?;
        }
        match place.filter(has_sessions) {
            Some(place) => sessions::all(&place, self.shared.ids()?).map(Some),
            None => Ok(None),
        }
    }
}

/// Whether sessions have had files here, also those of earlier versions.
fn has_sessions(place: &Directory) -> bool {
    [SESSIONS, RESULTS]
        .iter()
        .any(|name| matches!(place.child(name.as_ref()), Ok(Some(_))))
}

/// A session's results, open for reading; `None` if a program has put something else in their place.
fn results_of(sessions: &Directory, name: &OsStr) -> Option<OwnedFd> {
    let results = sessions.child(name).ok()??.child(RESULTS.as_ref()).ok()??;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(&results, ".", flags, Mode::empty()).ok()
}

fn artifact(session: &SessionName, met: &WalkEntry<'_>) -> Option<Artifact> {
    let is_own = FileType::from_raw_mode(met.stat.st_mode) == FileType::RegularFile && met.stat.st_nlink == 1;
    is_own.then(|| Artifact {
        session: session.clone(),
        path: met.path.to_path_buf(),
        size: u64::try_from(met.stat.st_size).unwrap_or(0),
        modified: modified_at(met.stat),
    })
}

#[cfg(test)]
mod tests;
