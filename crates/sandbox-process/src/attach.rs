//! Shows sessions directories of the host: opened here as root, by the mounter as an ordinary user.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use jail::attach::{Bare, Directory, MOST_MOUNTS, Overlay, Place, Writing};
use jail::session::wire::Guard;
use jail::spec::Identity;
use jail::zygote::{self, Answer, MOST_TREES, Source, Zygote};
use sandbox::{Access, Attachment};

use crate::config::Requirement;
use crate::folders::DEADLINE;
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
    /// The mounter waits for a file system.
    #[error(
        "attach {folders}: no answer within {} s; check the file systems that they lie on",
        DEADLINE.as_secs()
    )]
    Late {
        /// All that were to be attached at once.
        folders: String,
    },
    /// No place of that name.
    #[error("nothing can be attached at {0}")]
    NoPlace(String),
    /// The zygote is gone.
    #[error(transparent)]
    Station(#[from] StationError),
}

impl AttachError {
    /// Whether the file system of the session's own files cannot show them as another user's.
    pub fn is_unmappable(&self) -> bool {
        match self {
            AttachError::Failed { target, cause, .. } => {
                matches!(target.as_str(), "/workspace" | "/results")
                    && cause.kind() == io::ErrorKind::Unsupported
            }
            _ => false,
        }
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
        let directories = self.directories(files).await?;
        let mut trees = Vec::new();
        for (file, directory) in files.iter().zip(&directories) {
            trees.push(self.tree_of(user, map, file, directory).await?);
        }
        let mut attachments = Vec::new();
        for (file, tree) in files.iter().zip(&trees) {
            attachments.push(zygote::Attachment {
                place: self.place(&file.target)?,
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

    /// Opens the directories, under a deadline if the user's own folders are among them: those may hang.
    async fn directories(&self, files: &[&Attachment]) -> Result<Vec<Directory>, AttachError> {
        let is_folder = |file: &&Attachment| self.mount_targets().contains(&file.target);
        if !files.iter().any(is_folder) {
            let open =
                |file: &&Attachment| Directory::open(&file.source).map_err(|cause| failed(file, cause));
            return files.iter().map(open).collect();
        }
        let sources = files.iter().map(|file| file.source.clone()).collect();
        let opened = self.folders().open(sources).await;
        opened.map_err(|unopened| match files.get(unopened.number) {
            Some(file) => failed(file, unopened.cause),
            None => AttachError::Mounter(unopened.cause.to_string()),
        })
    }

    /// Has the mounter attach what one order holds.
    async fn attach_some(
        &self,
        session: BorrowedFd<'_>,
        user: u32,
        attachments: &[zygote::Attachment<'_>],
        files: &[&Attachment],
    ) -> Result<(), AttachError> {
        // A bare ordinary user's sessions are the mounter's own user.
        let reader = self.identity().has_user_per_session().then_some(user);
        let order = |zygote: &Zygote| zygote.order_attachments(session, reader, attachments);
        match self.ask_mounter(DEADLINE, order).await {
            Ok(Ok(Answer::Attached(bare))) => {
                self.note_bare(&bare, attachments, files);
                Ok(())
            }
            Ok(Ok(_)) => Err(AttachError::Mounter("another answer came".to_owned())),
            Ok(Err(cause)) => Err(AttachError::Mounter(format!("{}: {cause}", listed(files)))),
            Err(StationError::Late) => Err(AttachError::Late {
                folders: listed(files),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes which directories a session sees without the overlay that was preferred.
    fn note_bare(&self, bare: &[Bare], attachments: &[zygote::Attachment<'_>], files: &[&Attachment]) {
        for one in bare {
            let found = attachments
                .iter()
                .zip(files)
                .find(|(it, _)| it.place == one.place);
            if let Some((_, file)) = found {
                self.folders().note_bare(&file.source, one.cause.clone());
            }
        }
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
        let order = |zygote: &Zygote| zygote.order_map(owner, user);
        match self.ask_mounter(DEADLINE, order).await? {
            Ok(Answer::Namespace(namespace)) => {
                *map = Some(Map { owner, namespace });
                Ok(())
            }
            Ok(_) => Err(AttachError::Mounter("no namespace came".to_owned())),
            Err(error) => Err(AttachError::Mounter(error)),
        }
    }

    /// The directory's tree, if this process is the one to make it.
    async fn tree_of(
        &self,
        user: u32,
        map: &mut Option<Map>,
        file: &Attachment,
        directory: &Directory,
    ) -> Result<Option<OwnedFd>, AttachError> {
        if !matches!(self.identity(), Identity::Range { .. }) {
            return Ok(None);
        }
        let map = if file.access == Access::Shared {
            None
        } else {
            self.map_owner(directory.owner(), user, map).await?;
            map.as_ref().map(|map| map.namespace.as_fd())
        };
        let tree = directory.tree(writing(file.access), map);
        tree.map(Some).map_err(|cause| failed(file, cause))
    }

    /// Read-only folders of the user's get an overlay: they may hold more than files.
    fn overlay(&self, access: Access) -> Overlay {
        match (access, self.requirement()) {
            _ if self.has_removed(Guard::Overlay) => Overlay::Unused,
            (Access::Shared | Access::ReadWrite, _) => Overlay::Unused,
            (Access::ReadOnly, Requirement::TenantIsolation) => Overlay::Required,
            (Access::ReadOnly, Requirement::SingleTenant) => Overlay::Preferred,
        }
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

fn writing(access: Access) -> Writing {
    match access {
        Access::Shared | Access::ReadOnly => Writing::Refused,
        Access::ReadWrite => Writing::Allowed,
    }
}
