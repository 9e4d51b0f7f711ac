//! Finds and reports another user's files among the sessions' files, before a program fails on them.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, Mode, OFlags, Stat, access, lstat, openat};
use rustix::io::Errno;

use crate::confined::{Bounds, walk};
use crate::directory::{Directory, Ids, repair};
use crate::error::WorkspaceError;

/// Small bounds, because this check is part of opening a session.
const LOOK: Bounds = Bounds {
    entries: 1_024,
    depth: 3,
};

/// Another user's files, which programs can read but not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// An example of these files.
    pub(crate) path: PathBuf,
    pub(crate) found: u32,
    pub(crate) expected: Ids,
    /// Directory where the repair command starts.
    pub(crate) below: PathBuf,
}

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: belongs to user {}, so programs cannot change it; to let them, run `{}`",
            self.path.display(),
            self.found,
            repair(self.expected, &self.below)
        )
    }
}

/// Refuses a data directory that another user has closed to this user. An example is a directory made under `sudo`
/// with this user's `HOME`.
///
/// # Errors
/// The closed directory, with what to do.
pub fn check_data(data: &Path) -> Result<(), WorkspaceError> {
    let own = Ids::own();
    let is_closed = |path: &&Path| access(*path, Access::EXEC_OK) == Err(Errno::ACCESS);
    let Some(path) = data.ancestors().filter(is_closed).last() else {
        return Ok(());
    };
    let owner = |path: &Path| lstat(path).ok().map(|found| found.st_uid);
    let Some(found) = owner(path).filter(|found| *found != own.uid) else {
        return Ok(());
    };
    // Only directories in this user's directory, and codeyard's own, may be given to this user.
    let is_ours = path == data || path.parent().and_then(owner) == Some(own.uid);
    let other = "name another data directory with --data";
    Err(WorkspaceError::Data {
        path: path.to_path_buf(),
        found,
        own: own.uid,
        remedy: match is_ours {
            true => format!("run `{}`, or {other}", repair(own, path)),
            false => other.to_owned(),
        },
    })
}

/// Examines the first levels of a directory that sessions see.
///
/// # Errors
/// If something there belongs to another user and is closed to sessions.
pub(crate) fn look(place: &Directory, ids: Ids) -> Result<Option<Foreign>, WorkspaceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(top) = openat(place, ".", flags, Mode::empty()) else {
        return Ok(None);
    };
    let (mut open, mut closed) = (None, None);
    walk(&top, LOOK, |met| {
        let kind = FileType::from_raw_mode(met.stat.st_mode);
        if met.stat.st_uid == ids.uid || kind == FileType::Symlink {
            return;
        }
        let first = if is_open(kind, met.stat) {
            &mut open
        } else {
            &mut closed
        };
        first.get_or_insert_with(|| Foreign {
            path: place.path().join(met.path),
            found: met.stat.st_uid,
            expected: ids,
            below: place.path().to_path_buf(),
        });
    });
    match closed {
        Some(closed) => Err(closed.into()),
        None => Ok(open),
    }
}

/// Whether every user may read the file, or list and enter the directory.
fn is_open(kind: FileType, stat: &Stat) -> bool {
    let needed = if kind == FileType::Directory { 0o005 } else { 0o004 };
    stat.st_mode & needed == needed
}

impl From<Foreign> for WorkspaceError {
    fn from(foreign: Foreign) -> Self {
        WorkspaceError::Owner {
            path: foreign.path,
            found: foreign.found,
            expected: foreign.expected.uid,
            repair: repair(foreign.expected, &foreign.below),
        }
    }
}
