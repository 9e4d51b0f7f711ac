//! Directories of the host that sessions see: where they appear, and how a host that may open them does.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::{Deserialize, Serialize};

use crate::launcher::sys;

/// Where an attached directory appears. Each place is a directory of the template, which nothing can rename.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountPoint {
    /// The customer's own files.
    Workspace,
    /// What runs leave for the host.
    Results,
    /// Tools and skills as files.
    Shared,
    /// One of the folders that the settings name.
    Mount(u8),
}

/// Parent of all places: Landlock rules on it hold for what is attached below it later.
pub const PARENT: &str = "/at";
/// An empty directory of the template: an overlay without an upper layer needs two lower ones.
pub(crate) const EMPTY: &str = "/at/empty";
/// Most folders that settings may name.
pub const MOST_MOUNTS: u8 = 16;

impl MountPoint {
    /// Its directory on the template.
    pub fn path(self) -> PathBuf {
        let name = match self {
            MountPoint::Workspace => "workspace".to_owned(),
            MountPoint::Results => "results".to_owned(),
            MountPoint::Shared => "shared".to_owned(),
            MountPoint::Mount(number) => format!("m{number}"),
        };
        Path::new(PARENT).join(name)
    }
}

/// What may be done below a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteAccess {
    /// Reading only.
    Refused,
    /// Reading and writing.
    Allowed,
}

impl WriteAccess {
    pub(crate) fn attributes(self) -> u64 {
        let always = sys::NOSUID | sys::NODEV;
        match self {
            WriteAccess::Refused => always | sys::RDONLY,
            WriteAccess::Allowed => always,
        }
    }
}

/// Whether a session sees a tree through an overlay, which has sockets, FIFOs, locks and leases of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Overlay {
    /// The tree itself is attached.
    Unused,
    /// The tree itself is attached only where the kernel or the file system refuses an overlay.
    Preferred,
    /// Without an overlay nothing is attached.
    Required,
}

/// A tree that was attached without the overlay that was preferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainAttachment {
    /// Where it appears.
    pub place: MountPoint,
    /// Why the kernel refused the overlay.
    pub cause: String,
}

/// What the mounter is asked to do. The socket for its answer is the first descriptor of each order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Attach directories to the session whose pidfd comes next; the trees that the host has opened come after it.
    Attach {
        placed: Vec<Placed>,
        /// User and group of the session in the zygote's namespace: overlays read as this user. `None` if the mounter
        /// is the same user.
        reader: Option<u32>,
    },
    /// Make a user namespace in which user and group `inside` are what they are `outside` in the zygote's.
    Map { inside: (u32, u32), outside: u32 },
    /// Kill every process of the pid namespace of the session whose pidfd comes along, except its first.
    KillOthers,
}

/// One directory to attach.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Placed {
    pub(crate) place: MountPoint,
    pub(crate) writing: WriteAccess,
    pub(crate) overlay: Overlay,
    /// Opened by the mounter itself; else the tree comes as a descriptor.
    pub(crate) source: Option<PathBuf>,
}

/// A directory of the host that was opened without following symbolic links.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    owner: (u32, u32),
}

impl Directory {
    /// Opens it. Asks its file system all that attaching it asks, so that one that hangs does so here.
    ///
    /// # Errors
    /// The system's.
    pub fn open(source: &Path) -> io::Result<Self> {
        let descriptor = directory(source)?;
        let found = rustix::fs::fstat(&descriptor)?;
        rustix::fs::fstatfs(&descriptor)?;
        Ok(Self {
            descriptor,
            owner: (found.st_uid, found.st_gid),
        })
    }

    /// Its user and group.
    pub fn owner(&self) -> (u32, u32) {
        self.owner
    }

    /// The directory as a detached tree. With `map`, who `inside` is there appears as who it is outside: only real root
    /// may do that.
    ///
    /// # Errors
    /// The system's; `Unsupported` if the file system cannot be mapped.
    pub fn tree(&self, writing: WriteAccess, map: Option<BorrowedFd<'_>>) -> io::Result<OwnedFd> {
        let tree = sys::open_tree_at(self.descriptor.as_fd())?;
        let set = sys::set_mapped_attributes(tree.as_fd(), writing.attributes(), map);
        match set {
            Err(error) if map.is_some() && error.raw_os_error() == Some(libc::EINVAL) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "its file system has no idmapped mounts",
            )),
            set => set.map(|()| tree),
        }
    }
}

/// Opens a directory by a path that crosses no symbolic link.
pub(crate) fn directory(source: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(
        rustix::fs::CWD,
        source,
        flags,
        Mode::empty(),
        resolve,
    )?)
}
