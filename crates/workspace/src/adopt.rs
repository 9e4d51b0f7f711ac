//! Gives files that a tool wrote as root to the owner of the sessions' files, so that programs can read them.

use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Gid, Uid, fchown, fstat};
use types::Principal;

use crate::config::{Keeping, SESSIONS, WORKSPACE};
use crate::confined::open_any;
use crate::directory::Ids;
use crate::layout::Workspaces;
use crate::name::encode;

impl Workspaces {
    /// Host directory of a principal's files. `Some` only if this process's tools write there as root while sessions
    /// run as another user.
    pub fn place_of_others(&self, principal: &Principal) -> Option<PathBuf> {
        let config = &self.shared.config;
        let (uid, _) = config.owner_on_disk()?;
        let differs = config.keeping != Keeping::Own && uid != Ids::own().uid;
        differs.then(|| config.root.join(encode(&principal.to_string())))
    }

    /// Gives a file or directory of this process's user to the owner of the sessions' files. Returns whether the owner
    /// was changed.
    pub fn adopt(&self, principal: &Principal, path: &Path) -> bool {
        self.try_adopt(principal, path).unwrap_or(false)
    }

    fn try_adopt(&self, principal: &Principal, path: &Path) -> Option<bool> {
        let place = self.place_of_others(principal)?;
        let below = path.strip_prefix(&place).ok()?;
        let mut parts = below.components();
        let top = parts.next()?.as_os_str();
        if top != WORKSPACE && top != SESSIONS {
            return None;
        }
        let root = self.shared.existing_root().ok()??;
        let top = root
            .child(encode(&principal.to_string()).as_ref())
            .ok()??
            .child(top)
            .ok()??;
        let file = open_any(&top, parts.as_path()).ok()?;
        let found = fstat(&file).ok()?;
        let kind = FileType::from_raw_mode(found.st_mode);
        // A file with several hard links may belong to any user.
        let is_new = kind == FileType::Directory || (kind == FileType::RegularFile && found.st_nlink == 1);
        if !is_new || found.st_uid != Ids::own().uid {
            return None;
        }
        let (uid, gid) = self.shared.config.owner_on_disk()?;
        fchown(&file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).ok()?;
        Some(true)
    }
}
