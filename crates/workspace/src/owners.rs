//! Checks that all principals' files belong to the owner of sessions' files.

use rustix::fs::lstat;

use crate::config::{Keeping, SESSIONS, WORKSPACE};
use crate::directory::{Ids, names};
use crate::error::WorkspaceError;
use crate::layout::{SharedWorkspaces, Workspaces};
use crate::ownership::{Foreign, look};

impl Workspaces {
    /// Checks that all principals' files belong to the owner of sessions' files; changes nothing.
    ///
    /// # Errors
    /// If sessions cannot use their files; the error names the repair command.
    pub fn owners(&self) -> Result<Option<Foreign>, WorkspaceError> {
        if self.keeping() == Keeping::Own {
            return Ok(None);
        }
        let shared = &*self.shared;
        shared.owners().map_err(|error| shared.explained(error))
    }
}

impl SharedWorkspaces {
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
            for part in [WORKSPACE, SESSIONS] {
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

    /// Replaces an error by its cause, if the cause is a directory that root made in an ordinary user's data
    /// directory.
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
