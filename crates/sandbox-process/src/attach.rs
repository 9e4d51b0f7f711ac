//! Attaches directories of the host to sessions.
//!
//! As root this process opens the directories; as an ordinary user the mounter does.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use jail::attach::{Directory, MOST_MOUNTS, MountPoint, Overlay, PlainAttachment, WriteAccess};
use jail::session::wire::Guard;
use jail::spec::Identity;
use jail::zygote::{
    Attachment as MounterAttachment, MOST_TREES, MounterReply, Source, Zygote as ZygoteProcess,
};
use sandbox::{Attachment, AttachmentAccess, SESSION, SHARED};
use types::RequiredIsolation;

use crate::mount_sources::DEADLINE;
use crate::zygote::{Zygote, ZygoteError};

/// An owner whose files appear as the session's own, and the user namespace that maps the owner (idmapped mounts).
#[derive(Debug)]
pub struct OwnerMap {
    owner: (u32, u32),
    namespace: OwnedFd,
}

#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("{target}: attach {}: {cause}", .source_path.display())]
    Failed {
        /// Path in the session.
        target: String,
        /// Path on the host.
        source_path: std::path::PathBuf,
        cause: io::Error,
    },
    /// The mounter reported an error.
    #[error("cannot attach directories to the session: {0}")]
    Mounter(String),
    #[error(
        "attach {folders}: no answer within {} s; check the file systems that they lie on",
        DEADLINE.as_secs()
    )]
    Late {
        /// All directories of the order, for the error message.
        folders: String,
    },
    #[error("nothing can be attached at {0}")]
    NoPlace(String),
    #[error(transparent)]
    Zygote(#[from] ZygoteError),
}

impl AttachError {
    /// Whether the file system of the kept files has no idmapped mounts.
    pub fn is_unmappable(&self) -> bool {
        match self {
            AttachError::Failed { target, cause, .. } => {
                matches!(target.as_str(), "/workspace" | SESSION)
                    && cause.kind() == io::ErrorKind::Unsupported
            }
            _ => false,
        }
    }
}

impl Zygote {
    /// Attaches directories to a session that is `user` in the zygote's namespace.
    pub async fn attach(
        &self,
        session: BorrowedFd<'_>,
        user: u32,
        map: &mut Option<OwnerMap>,
        files: &[&Attachment],
    ) -> Result<(), AttachError> {
        let directories = self.directories(files).await?;
        let mut trees = Vec::new();
        for (file, directory) in files.iter().zip(&directories) {
            trees.push(self.tree_of(user, map, file, directory).await?);
        }
        let mut attachments = Vec::new();
        for (file, tree) in files.iter().zip(&trees) {
            attachments.push(MounterAttachment {
                place: self.mount_point(&file.target)?,
                writing: writing(file.access),
                overlay: self.overlay(file.access),
                source: match tree {
                    Some(tree) => Source::Tree(tree.as_fd()),
                    None => Source::Path(&file.source),
                },
            });
        }
        for (some, files) in attachments.chunks(MOST_TREES).zip(files.chunks(MOST_TREES)) {
            self.attach_some(session, user, some, files).await?;
        }
        Ok(())
    }

    /// Opens the directories. A deadline applies to folders of the settings, because their file systems may hang.
    async fn directories(&self, files: &[&Attachment]) -> Result<Vec<Directory>, AttachError> {
        let is_folder = |file: &&Attachment| self.mount_targets.contains(&file.target);
        if !files.iter().any(is_folder) {
            let open =
                |file: &&Attachment| Directory::open(&file.source).map_err(|cause| failed(file, cause));
            return files.iter().map(open).collect();
        }
        let sources = files.iter().map(|file| file.source.clone()).collect();
        let opened = self.mount_sources.open(sources).await;
        opened.map_err(|error| match files.get(error.index) {
            Some(file) => failed(file, error.cause),
            None => AttachError::Mounter(error.cause.to_string()),
        })
    }

    async fn attach_some(
        &self,
        session: BorrowedFd<'_>,
        user: u32,
        attachments: &[MounterAttachment<'_>],
        files: &[&Attachment],
    ) -> Result<(), AttachError> {
        // If sessions have no users of their own, they have the mounter's user.
        let reader = self.mode.identity.has_user_per_session().then_some(user);
        let order = |zygote: &ZygoteProcess| zygote.order_attachments(session, reader, attachments);
        match self.ask_mounter(DEADLINE, order).await {
            Ok(Ok(MounterReply::Attached(bare))) => {
                self.record_without_overlay(&bare, attachments, files);
                Ok(())
            }
            Ok(Ok(_)) => Err(AttachError::Mounter("another answer came".to_owned())),
            Ok(Err(cause)) => Err(AttachError::Mounter(format!("{}: {cause}", listed(files)))),
            Err(ZygoteError::Late) => Err(AttachError::Late {
                folders: listed(files),
            }),
            Err(error) => Err(error.into()),
        }
    }

    fn record_without_overlay(
        &self,
        bare: &[PlainAttachment],
        attachments: &[MounterAttachment<'_>],
        files: &[&Attachment],
    ) {
        for one in bare {
            let found = attachments
                .iter()
                .zip(files)
                .find(|(it, _)| it.place == one.place);
            if let Some((_, file)) = found {
                self.mount_sources
                    .record_without_overlay(&file.source, one.cause.clone());
            }
        }
    }

    /// Makes the map that shows files of `owner` as files of `user`, if the session has none.
    pub async fn map_owner(
        &self,
        owner: (u32, u32),
        user: u32,
        map: &mut Option<OwnerMap>,
    ) -> Result<(), AttachError> {
        let is_root = matches!(self.mode.identity, Identity::Range { .. });
        if !is_root || map.as_ref().is_some_and(|map| map.owner == owner) {
            return Ok(());
        }
        let order = |zygote: &ZygoteProcess| zygote.order_map(owner, user);
        match self.ask_mounter(DEADLINE, order).await? {
            Ok(MounterReply::Namespace(namespace)) => {
                *map = Some(OwnerMap { owner, namespace });
                Ok(())
            }
            Ok(_) => Err(AttachError::Mounter("no namespace came".to_owned())),
            Err(error) => Err(AttachError::Mounter(error)),
        }
    }

    /// The directory's mount; `None` if the mounter opens the directory.
    async fn tree_of(
        &self,
        user: u32,
        map: &mut Option<OwnerMap>,
        file: &Attachment,
        directory: &Directory,
    ) -> Result<Option<OwnedFd>, AttachError> {
        if !matches!(self.mode.identity, Identity::Range { .. }) {
            return Ok(None);
        }
        let map = if file.access == AttachmentAccess::Shared {
            None
        } else {
            self.map_owner(directory.owner(), user, map).await?;
            map.as_ref().map(|map| map.namespace.as_fd())
        };
        let tree = directory.tree(writing(file.access), map);
        tree.map(Some).map_err(|cause| failed(file, cause))
    }

    /// Read-only folders of the settings get an overlay, because they may contain sockets and FIFOs.
    fn overlay(&self, access: AttachmentAccess) -> Overlay {
        match (access, self.require) {
            _ if self.removed.contains(Guard::Overlay) => Overlay::Unused,
            (AttachmentAccess::Shared | AttachmentAccess::ReadWrite, _) => Overlay::Unused,
            (AttachmentAccess::ReadOnly, RequiredIsolation::TenantIsolation) => Overlay::Required,
            (AttachmentAccess::ReadOnly, RequiredIsolation::SingleTenant) => Overlay::Preferred,
        }
    }

    fn mount_point(&self, target: &str) -> Result<MountPoint, AttachError> {
        let mounts = (0..MOST_MOUNTS).zip(&self.mount_targets);
        match target {
            "/workspace" => Some(MountPoint::Workspace),
            SESSION => Some(MountPoint::Session),
            SHARED => Some(MountPoint::Shared),
            _ => mounts
                .into_iter()
                .find(|(_, mount)| *mount == target)
                .map(|(number, _)| MountPoint::Mount(number)),
        }
        .ok_or_else(|| AttachError::NoPlace(target.to_owned()))
    }
}

fn failed(file: &Attachment, cause: io::Error) -> AttachError {
    AttachError::Failed {
        target: file.target.clone(),
        source_path: file.source.clone(),
        cause,
    }
}

fn listed(files: &[&Attachment]) -> String {
    let sources = files.iter().map(|file| file.source.display().to_string());
    sources.collect::<Vec<_>>().join(", ")
}

fn writing(access: AttachmentAccess) -> WriteAccess {
    match access {
        AttachmentAccess::Shared | AttachmentAccess::ReadOnly => WriteAccess::Refused,
        AttachmentAccess::ReadWrite => WriteAccess::Allowed,
    }
}
