//! Lists the principals with files and removes files, never while a process uses them.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::SystemTime;

use rustix::fs::{self, AtFlags};
use rustix::io::Errno;
use types::{Principal, SessionName};

use crate::config::{PARTS, RESULTS, SESSIONS, WORKSPACE};
use crate::directory::{Directory, modified_at, names};
use crate::error::WorkspaceError;
use crate::image::Images;
use crate::layout::Workspaces;
use crate::lease::{LOCK, Lock};
use crate::name::{decode, encode};
use crate::remove::{put_aside, sweep};
use crate::usage::Usage;

/// One principal's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The principal's name. If the name was too long for a directory, the directory's name.
    pub name: String,
    /// Directory of the files.
    pub path: PathBuf,
    /// Size of the files.
    pub usage: Usage,
    /// When a session was last opened there.
    pub last_use: Option<SystemTime>,
    /// Whether a running process uses the files.
    pub in_use: bool,
}

/// Which of a principal's files a cleaning removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The workspace and the files of all sessions.
    Everything,
    /// The results and scratch files of all sessions.
    Sessions,
}

impl Workspaces {
    /// A principal's workspace directory, even if missing.
    pub fn path(&self, principal: &Principal) -> PathBuf {
        self.shared
            .config
            .root
            .join(encode(&principal.to_string()))
            .join(WORKSPACE)
    }

    /// A session's results directory, even if missing.
    pub fn results_path(&self, principal: &Principal, session: &SessionName) -> PathBuf {
        self.shared
            .config
            .root
            .join(encode(&principal.to_string()))
            .join(SESSIONS)
            .join(encode(session.as_str()))
            .join(RESULTS)
    }

    /// Every principal with files, by name.
    ///
    /// # Errors
    /// If their common directory cannot be read.
    pub fn list(&self) -> Result<Vec<Holding>, WorkspaceError> {
        let Some(root) = self.shared.existing_root()? else {
            return Ok(Vec::new());
        };
        let mut holdings = Vec::new();
        for file in names(&root)? {
            let Some(name) = file.to_str().filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let images = Images::existing(&root)?.filter(|images| images.has(name));
            if let Some(images) = &images {
                images.mounted(name)?;
            }
            holdings.extend(self.holding(&root, name));
            if let Some(images) = images {
                images.unmount_unused(name)?;
            }
        }
        holdings.sort_by(|one, two| one.name.cmp(&two.name));
        Ok(holdings)
    }

    /// The holding in a directory; `None` if codeyard did not make the entry.
    fn holding(&self, root: &Directory, file: &str) -> Option<Holding> {
        let place = root.child(file.as_ref()).ok()??;
        place.child(WORKSPACE.as_ref()).ok()??;
        let lock = fs::statat(&place, LOCK, AtFlags::SYMLINK_NOFOLLOW).ok();
        Some(Holding {
            name: decode(file).unwrap_or_else(|| file.to_owned()),
            usage: self.measure_place(&place),
            last_use: lock.as_ref().map(modified_at),
            in_use: matches!(Lock::exclusive(&place), Err(WorkspaceError::InUse(_))),
            path: place.path().to_path_buf(),
        })
    }

    /// Removes a principal's files.
    ///
    /// # Errors
    /// If a process uses them, or they cannot be removed.
    pub fn clean(&self, holding: &Holding, extent: Extent) -> Result<(), WorkspaceError> {
        let Some(root) = self.shared.existing_root()? else {
            return Ok(());
        };
        let Some(file) = holding.path.file_name().and_then(OsStr::to_str) else {
            return Ok(());
        };
        if let Some(images) = Images::existing(&root)?.filter(|images| images.has(file)) {
            clean_image(&images, file, extent)?;
        }
        let Some(place) = root.child(file.as_ref())? else {
            return Ok(());
        };
        let lock = Lock::exclusive(&place)?;
        // Rename first, because a rename is quick. A session that opens meanwhile waits only for the rename.
        let taken: &[&str] = match extent {
            Extent::Everything => &PARTS,
            Extent::Sessions => &[SESSIONS, RESULTS],
        };
        for name in taken {
            put_aside(&place, name.as_ref(), &root)?;
        }
        if extent == Extent::Everything {
            // A waiting process sees that the lock lost its name, and starts again. Other entries stay in the
            // directory.
            let _ = fs::unlinkat(&place, LOCK, AtFlags::empty());
            let _ = fs::unlinkat(&root, file, AtFlags::REMOVEDIR);
        }
        drop(lock);
        sweep(&root)
    }

    /// Removes the directories of a principal who wrote nothing. Directories with files, and images, stay.
    ///
    /// # Errors
    /// If they cannot be examined.
    pub fn remove_empty(&self, principal: &Principal) -> Result<(), WorkspaceError> {
        let file = encode(&principal.to_string());
        let Some(root) = self.shared.existing_root()? else {
            return Ok(());
        };
        if Images::existing(&root)?.is_some_and(|images| images.has(&file)) {
            return Ok(());
        }
        let Some(place) = root.child(file.as_ref())? else {
            return Ok(());
        };
        let _lock = match Lock::exclusive(&place) {
            Ok(lock) => lock,
            Err(WorkspaceError::InUse(_) | WorkspaceError::BeingCleaned(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        // A non-empty directory cannot be removed.
        let is_empty = PARTS.map(|name| match fs::unlinkat(&place, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => true,
            Err(_) => false,
        });
        if is_empty == [true; 3] {
            let _ = fs::unlinkat(&place, LOCK, AtFlags::empty());
            let _ = fs::unlinkat(&root, file.as_str(), AtFlags::REMOVEDIR);
        }
        Ok(())
    }
}

/// Removes an unused image as a whole, or some files in it.
fn clean_image(images: &Images<'_>, file: &str, extent: Extent) -> Result<(), WorkspaceError> {
    if extent == Extent::Everything {
        return images.remove(file);
    }
    let place = images.mounted(file)?;
    let lock = Lock::exclusive(&place)?;
    for name in [SESSIONS, RESULTS] {
        put_aside(&place, name.as_ref(), &place)?;
    }
    let swept = sweep(&place);
    drop((lock, place));
    swept.and(images.unmount_unused(file))
}

#[cfg(test)]
mod tests;
