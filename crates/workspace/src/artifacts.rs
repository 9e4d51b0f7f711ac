//! Artifacts: files that sessions wrote to `/results`, listed and read by their principal.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Mode, OFlags, openat};
use types::{Principal, SessionName};

use crate::config::RESULTS;
use crate::confined::{Bounds, ReadError, Seen, read, walk};
use crate::directory::Directory;
use crate::error::WorkspaceError;
use crate::layout::Workspaces;
use crate::name::{decode, encode};

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
        let Some(results) = self.results(principal)? else {
            return Ok(Artifacts::default());
        };
        let mut files = Vec::new();
        let bounds = Bounds {
            entries: MOST_ENTRIES,
            depth: DEEPEST,
        };
        let seen = walk(&results, bounds, |met| {
            if FileType::from_raw_mode(met.stat.st_mode) != FileType::RegularFile || met.stat.st_nlink > 1 {
                return;
            }
            let mut parts = met.path.components();
            let session = parts.next().and_then(|first| decode(first.as_os_str().to_str()?));
            let path = parts.as_path();
            if let Some(session) = session
                && !path.as_os_str().is_empty()
            {
                files.push(Artifact {
                    session: SessionName::new(session),
                    path: path.to_path_buf(),
                    size: u64::try_from(met.stat.st_size).unwrap_or(0),
                    modified: time(met.stat),
                });
            }
        });
        // Sort files of equal time by name, so that consecutive pages of a listing fit together.
        files.sort_by(|one, two| {
            two.modified
                .cmp(&one.modified)
                .then_with(|| (&one.session, &one.path).cmp(&(&two.session, &two.path)))
        });
        let more = seen == Seen::Part || files.len() > MOST_ARTIFACTS;
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
        // If any directory above the file is unusable, the file counts as missing.
        let results = self.results(principal).ok().flatten().ok_or(ReadError::Missing)?;
        let file = Path::new(&encode(session.as_str())).join(path);
        if path.is_absolute() || path.as_os_str().is_empty() {
            return Err(ReadError::Missing);
        }
        read(&results, &file, most)
    }

    fn directory_of_results(&self, principal: &Principal) -> Result<Option<Directory>, WorkspaceError> {
        let child = |place: Option<Directory>, name: &OsStr| match place {
            Some(place) => place.child(name),
            None => Ok(None),
        };
        let place = child(
            self.shared.existing_root()?,
            encode(&principal.to_string()).as_ref(),
        )?;
        child(place, RESULTS.as_ref())
    }

    /// The directory of a principal's results, open for reading; `None` if missing.
    fn results(&self, principal: &Principal) -> Result<Option<OwnedFd>, WorkspaceError> {
        let mut found = self.directory_of_results(principal)?;
        if found.is_none() {
            // No session has used the image yet.
            self.mount(principal)?;
            found = self.directory_of_results(principal)?;
        }
        let Some(results) = found else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(&results, ".", flags, Mode::empty())
            .map(Some)
            .map_err(|cause| WorkspaceError::step("open the directory", results.path(), cause))
    }
}

pub(crate) fn time(stat: &rustix::fs::Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}

#[cfg(test)]
mod tests;
