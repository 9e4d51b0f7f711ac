//! Directories of sessions: one for each session name of a principal, shared by all languages.
//!
//! ```text
//! <root>/<principal>/sessions/<session>/results   /results, kept
//! <root>/<principal>/sessions/<session>/scratch   /scratch, removed when the session has ended
//! ```
//!
//! A session sees its directory as one tree and owns the tree. A program may therefore rename or replace `results` and
//! `scratch` themselves; the next opening makes directories again.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{self, AtFlags, FlockOperation, Mode, RenameFlags};
use rustix::io::Errno;
use types::{Principal, SessionName};

use crate::config::{RESULTS, SCRATCH, SESSIONS};
use crate::directory::{Directory, DirectoryOwner, Ids, modified_at, names};
use crate::error::WorkspaceError;
use crate::layout::Workspaces;
use crate::lease::{open_directory, share_named, touch};
use crate::name::encode;
use crate::remove;

const PRIVATE: Mode = Mode::from_raw_mode(0o700);

/// Longest wait of an opening for processes that remove the session's files. They hold the lock for a few renames.
const PATIENCE: Duration = Duration::from_secs(2);

/// Interval of attempts within `PATIENCE`.
const PAUSE: Duration = Duration::from_millis(1);

/// One session's directory in use.
#[derive(Debug)]
pub(crate) struct SessionDirectory {
    pub(crate) top: Directory,
    pub(crate) results: Directory,
    pub(crate) scratch: Directory,
    /// Keeps other processes from removing the files.
    pub(crate) using: OwnedFd,
}

/// When the scratch files of an unused session are removed.
#[derive(Debug, Clone, Copy)]
enum Removal {
    Now,
    /// If the last use was longer ago.
    After(Duration),
}

impl Workspaces {
    /// Removes the scratch files of a session that has ended, and its directories if they are empty. Does nothing while
    /// another session of that name lives, in any process.
    ///
    /// # Errors
    /// If the files cannot be removed; the next tidying tries again.
    pub fn end_session(&self, principal: &Principal, session: &SessionName) -> Result<(), WorkspaceError> {
        let Some(place) = self.shared.existing_place(principal)? else {
            return Ok(());
        };
        if let Some(sessions) = place.child(SESSIONS.as_ref())? {
            remove_unused(&place, &sessions, encode(session.as_str()).as_ref(), Removal::Now)?;
        }
        remove::sweep(&place)
    }

    /// Removes what ended sessions of a principal left: empty directories, scratch files that no session has used for
    /// `scratch_time`, and the rest of interrupted removals.
    ///
    /// # Errors
    /// If the directory of the sessions cannot be read.
    pub fn tidy(&self, principal: &Principal) -> Result<(), WorkspaceError> {
        let Some(place) = self.shared.existing_place(principal)? else {
            return Ok(());
        };
        if let Some(sessions) = place.child(SESSIONS.as_ref())? {
            let removal = Removal::After(self.shared.config.scratch_time);
            for name in names(&sessions)? {
                if let Err(error) = remove_unused(&place, &sessions, &name, removal) {
                    tracing::debug!(%error, "files of an ended session stay");
                }
            }
        }
        remove::sweep(&place)
    }
}

/// The directory of all of a principal's sessions, with what earlier versions kept elsewhere.
pub(crate) fn all(place: &Directory, ids: Ids) -> Result<Directory, WorkspaceError> {
    let sessions = place.make(SESSIONS.as_ref(), ids.passage(), DirectoryOwner::Ours)?;
    if let Ok(Some(earlier)) = place.child(RESULTS.as_ref()) {
        move_earlier(&earlier, &sessions, ids)?;
        // Whatever could not be moved stays with its directory.
        let _ = fs::unlinkat(place, RESULTS, AtFlags::REMOVEDIR);
    }
    Ok(sessions)
}

/// Moves results from `results/<session>`, where earlier versions kept them, to `sessions/<session>/results`.
fn move_earlier(earlier: &Directory, sessions: &Directory, ids: Ids) -> Result<(), WorkspaceError> {
    for name in names(earlier)? {
        let session = owned(sessions, &name, ids)?;
        let mut moved = rename(earlier, &name, &session, RESULTS);
        if moved == Err(Errno::EXIST) {
            let _ = fs::unlinkat(&session, RESULTS, AtFlags::REMOVEDIR);
            moved = rename(earlier, &name, &session, RESULTS);
        }
        match moved {
            // Another process moved the directory.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(cause) => {
                let path = earlier.path().join(&name);
                tracing::warn!(path = %path.display(), %cause, "results of an earlier version cannot be moved");
            }
        }
    }
    Ok(())
}

fn rename(from: &Directory, name: &OsStr, to: &Directory, new: &str) -> Result<(), Errno> {
    fs::renameat_with(from, name, to, new, RenameFlags::NOREPLACE)
}

/// Opens a session's directory, creating what is missing.
pub(crate) fn open(sessions: &Directory, name: &OsStr, ids: Ids) -> Result<SessionDirectory, WorkspaceError> {
    let deadline = Instant::now() + PATIENCE;
    let (top, using) = loop {
        match owned(sessions, name, ids) {
            Ok(top) => {
                if let Some(using) = share_named(sessions, name)? {
                    break (top, using);
                }
            }
            // Another process removed the directory as unused before this process opened it.
            Err(WorkspaceError::Step { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if Instant::now() > deadline {
            return Err(WorkspaceError::BeingCleaned(sessions.path().join(name)));
        }
        std::thread::sleep(PAUSE);
    };
    touch(&using);
    Ok(SessionDirectory {
        results: part(&top, RESULTS, ids)?,
        scratch: part(&top, SCRATCH, ids)?,
        top,
        using,
    })
}

/// A directory within the session's. Anything else in its place is a program's doing and is removed.
fn part(top: &Directory, name: &str, ids: Ids) -> Result<Directory, WorkspaceError> {
    match owned(top, name.as_ref(), ids) {
        Err(WorkspaceError::NotADirectory { .. }) => {
            remove::tree(top, name.as_ref())
                .map_err(|cause| WorkspaceError::step("remove", &top.path().join(name), cause))?;
            owned(top, name.as_ref(), ids)
        }
        found => found,
    }
}

/// A directory that sessions see, with the right owner.
pub(crate) fn owned(parent: &Directory, name: &OsStr, ids: Ids) -> Result<Directory, WorkspaceError> {
    let place = match parent.child(name)? {
        Some(place) => place,
        None => parent.make(name, PRIVATE, DirectoryOwner::Sessions(ids))?,
    };
    let found = place.stat()?;
    if found.st_uid == 0 && ids.uid != 0 {
        // A process died between creating the directory and changing its owner. The directory is empty and belongs to
        // root.
        return parent.make(name, PRIVATE, DirectoryOwner::Sessions(ids));
    }
    place.expect_owner(ids)?;
    open_to_owner(&place)?;
    Ok(place)
}

/// Gives a directory back the permissions that a program took from itself.
fn open_to_owner(place: &Directory) -> Result<(), WorkspaceError> {
    if Mode::from_raw_mode(place.stat()?.st_mode).contains(PRIVATE) {
        return Ok(());
    }
    place.open_to_owner()
}

/// Removes the scratch files of a session that no process uses, then empty directories.
fn remove_unused(
    place: &Directory,
    sessions: &Directory,
    name: &OsStr,
    removal: Removal,
) -> Result<(), WorkspaceError> {
    let Some(top) = sessions.child(name)? else {
        return Ok(());
    };
    open_to_owner(&top)?;
    let Some(lock) = open_directory(sessions, name)? else {
        return Ok(());
    };
    if fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    if is_due(&top, removal)? {
        // Renames are quick, so a session that begins meanwhile waits for the renames only.
        for entry in names(&top)?.into_iter().filter(|entry| entry != RESULTS) {
            remove::put_aside(&top, &entry, place)?;
        }
    }
    // Directories with files stay.
    for empty in [SCRATCH, RESULTS] {
        let _ = fs::unlinkat(&top, empty, AtFlags::REMOVEDIR);
    }
    let _ = fs::unlinkat(sessions, name, AtFlags::REMOVEDIR);
    Ok(())
}

fn is_due(top: &Directory, removal: Removal) -> Result<bool, WorkspaceError> {
    let Removal::After(age) = removal else {
        return Ok(true);
    };
    let used = modified_at(&top.stat()?);
    Ok(SystemTime::now()
        .duration_since(used)
        .is_ok_and(|unused| unused > age))
}

#[cfg(test)]
mod tests;
