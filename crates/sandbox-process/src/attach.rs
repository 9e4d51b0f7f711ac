//! Shows sessions directories of the host: opened here as root, by the mounter as an ordinary user.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jail::attach::{MOST_MOUNTS, Place, Writing};
use jail::spec::Identity;
use jail::zygote::{self, MOST_TREES, Source};
use sandbox::{Access, Attachment};

use crate::station::{Station, StationError};

/// Whose files a session's tree shows as the session's own, and the user namespace that says so to the kernel.
#[derive(Debug)]
pub struct Map {
    owner: (u32, u32),
    namespace: OwnedFd,
}

/// Why a directory cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// It cannot be opened or attached.
    #[error("{target}: attach {}: {cause}", .source_path.display())]
    Failed {
        /// Where it was to appear.
        target: String,
        /// On the host.
        source_path: std::path::PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The mounter could not.
    #[error("attach directories: {0}")]
    Mounter(String),
    /// No place of that name.
    #[error("nothing can be attached at {0}")]
    NoPlace(String),
    /// The zygote is gone.
    #[error(transparent)]
    Station(#[from] StationError),
}

impl AttachError {
    /// Whether the file system cannot show its files as another user's.
    pub fn is_unmappable(&self) -> bool {
        matches!(self, AttachError::Failed { cause, .. } if cause.kind() == io::ErrorKind::Unsupported)
    }
}

impl Station {
    /// Attaches directories to a session that is `user` in the zygote's namespace.
    pub async fn attach(
        &self,
        session: BorrowedFd<'_>,
        user: u32,
        map: &mut Option<Map>,
        files: &[&Attachment],
    ) -> Result<(), AttachError> {
        let mut trees = Vec::new();
        for file in files {
            trees.push(self.tree_of(user, map, file).await?);
        }
        let mut attachments = Vec::new();
        for (file, tree) in files.iter().zip(&trees) {
            attachments.push(zygote::Attachment {
                place: self.place(&file.target)?,
                writing: writing(file.access),
                source: match tree {
                    Some(tree) => Source::Tree(tree.as_fd()),
                    None => Source::Path(&file.source),
                },
            });
        }
        for some in attachments.chunks(MOST_TREES) {
            let done = self.ask_mounter(|zygote| zygote.order_attachments(session, some));
            done.await?.map_err(AttachError::Mounter)?;
        }
        Ok(())
    }

    /// Makes what attaching files of `owner` to a session of `user` needs, if that is missing.
    pub async fn map_owner(
        &self,
        owner: (u32, u32),
        user: u32,
        map: &mut Option<Map>,
    ) -> Result<(), AttachError> {
        let is_root = matches!(self.identity(), Identity::Range { .. });
        if !is_root || map.as_ref().is_some_and(|map| map.owner == owner) {
            return Ok(());
        }
        let made = self.ask_mounter(|zygote| zygote.order_map(owner, user)).await?;
        let namespace = made.and_then(|namespace| namespace.ok_or_else(|| "no namespace came".to_owned()));
        *map = Some(Map {
            owner,
            namespace: namespace.map_err(AttachError::Mounter)?,
        });
        Ok(())
    }

    /// The directory's tree, if this process is the one to open it.
    async fn tree_of(
        &self,
        user: u32,
        map: &mut Option<Map>,
        file: &Attachment,
    ) -> Result<Option<OwnedFd>, AttachError> {
        if !matches!(self.identity(), Identity::Range { .. }) {
            return Ok(None);
        }
        let failed = |cause| AttachError::Failed {
            target: file.target.clone(),
            source_path: file.source.clone(),
            cause,
        };
        let map = if file.access == Access::Shared {
            None
        } else {
            let owner = owner_of(&file.source).map_err(failed)?;
            self.map_owner(owner, user, map).await?;
            map.as_ref().map(|map| map.namespace.as_fd())
        };
        let tree = jail::attach::open(&file.source, writing(file.access), map).map_err(failed)?;
        Ok(Some(tree))
    }

    fn place(&self, target: &str) -> Result<Place, AttachError> {
        let mounts = (0..MOST_MOUNTS).zip(self.mount_targets());
        match target {
            "/workspace" => Some(Place::Workspace),
            "/results" => Some(Place::Results),
            "/shared" => Some(Place::Shared),
            _ => mounts
                .into_iter()
                .find(|(_, mount)| *mount == target)
                .map(|(number, _)| Place::Mount(number)),
        }
        .ok_or_else(|| AttachError::NoPlace(target.to_owned()))
    }
}

fn owner_of(directory: &Path) -> io::Result<(u32, u32)> {
    let found = std::fs::symlink_metadata(directory)?;
    Ok((found.uid(), found.gid()))
}

fn writing(access: Access) -> Writing {
    match access {
        Access::Shared | Access::ReadOnly => Writing::Refused,
        Access::ReadWrite => Writing::Allowed,
    }
}
