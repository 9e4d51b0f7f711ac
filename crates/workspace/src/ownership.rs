//! Files of another user where sessions keep theirs, found and reported before a program meets them.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, Mode, OFlags, Stat, access, lstat, openat};
use rustix::io::Errno;

use crate::clean::names;
use crate::config::Keeping;
use crate::confined::{Bounds, walk};
use crate::error::WorkspaceError;
use crate::layout::{RESULTS, Shared, WORKSPACE, Workspaces};
use crate::place::{Ids, Place};

/// How far a look goes: it is part of opening a session.
const LOOK: Bounds = Bounds {
    entries: 1_024,
    depth: 3,
};

/// Files of another user that programs read and cannot change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// One of them.
    path: PathBuf,
    found: u32,
    expected: Ids,
    /// Where the repair begins.
    below: PathBuf,
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

/// The command that gives a directory and everything in it to its owner.
pub(crate) fn repair(Ids { uid, gid }: Ids, below: &Path) -> String {
    let path = below.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if path.chars().all(is_plain) {
        return format!("sudo chown -R {uid}:{gid} {path}");
    }
    format!("sudo chown -R {uid}:{gid} '{}'", path.replace('\'', "'\\''"))
}

/// Refuses a data directory that another user has closed to this one, as after `sudo` with this user's `HOME`.
///
/// # Errors
/// Which directory is closed, with what to do.
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
    // What lies in a directory of this user, or is codeyard's own, may be given to this user; nothing else.
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

/// Looks at the first levels of a directory that sessions see.
///
/// # Errors
/// If something there belongs to another user and is closed to sessions.
pub(crate) fn look(place: &Place, ids: Ids) -> Result<Option<Foreign>, WorkspaceError> {
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

/// Whether every user may read the file, or list the directory and enter it.
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

impl Workspaces {
    /// Whether the files of all principals belong to the owner of sessions' files; changes nothing.
    ///
    /// # Errors
    /// If sessions cannot have their files, with the command that repairs it.
    pub fn owners(&self) -> Result<Option<Foreign>, WorkspaceError> {
        if self.keeping() == Keeping::Own {
            return Ok(None);
        }
        let shared = &*self.shared;
        shared.owners().map_err(|error| shared.explained(error))
    }
}

impl Shared {
    fn owners(&self) -> Result<Option<Foreign>, WorkspaceError> {
        let Some(root) = self.existing_root()? else {
            return Ok(None);
        };
        let ids = self.ids()?;
        let mut found = None;
        for name in names(&root)? {
            let Some(principal) = root.child(&name)? else {
                continue;
            };
            for part in [WORKSPACE, RESULTS] {
                let Some(place) = principal.child(part.as_ref())? else {
                    continue;
                };
                if part == WORKSPACE {
                    place.expect_owner(ids)?;
                }
                found = found.or(look(&place, ids)?);
            }
        }
        Ok(found)
    }

    /// The same error, or the directory of another user that it comes from: one that root has made in an ordinary user's
    /// data directory.
    pub(crate) fn explained(&self, error: WorkspaceError) -> WorkspaceError {
        let WorkspaceError::Step { path, cause, .. } = &error else {
            return error;
        };
        let own = Ids::own();
        let Some(root) = self.root_of(path) else {
            return error;
        };
        if own.uid == 0 || cause.kind() != std::io::ErrorKind::PermissionDenied {
            return error;
        }
        let below = path.ancestors().take_while(|path| path.starts_with(&root));
        let nearest = below
            .filter_map(|path| Some((path, lstat(path).ok()?.st_uid)))
            .next();
        match nearest {
            Some((path, found)) if found != own.uid => Foreign {
                path: path.to_path_buf(),
                found,
                expected: own,
                below: root,
            }
            .into(),
            _ => error,
        }
    }
}
