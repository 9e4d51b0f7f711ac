//! Directories of the host that sessions see: their mount points and how the host opens them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::{Deserialize, Serialize};

use crate::launcher::sys;

/// Mount point of an attached directory in a session. Mount points are directories of the read-only template, so no
/// process can rename them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountPoint {
    /// The customer's own files.
    Workspace,
    /// The directory that holds `results` and `scratch`.
    Session,
    /// Tools and skills as files.
    Shared,
    /// A folder from the settings.
    Mount(u8),
}

/// Parent of all mount points: Landlock rules on it also hold for directories attached below it later.
pub const PARENT: &str = "/at";
/// An empty directory of the template: an overlay without an upper layer needs two lower ones.
pub(crate) const EMPTY: &str = "/at/empty";
/// Upper bound on folders in the settings.
pub const MOST_MOUNTS: u8 = 16;

impl MountPoint {
    /// The directory on the template.
    pub fn path(self) -> PathBuf {
        let name = match self {
            MountPoint::Workspace => "workspace".to_owned(),
            MountPoint::Session => "session".to_owned(),
            MountPoint::Shared => "shared".to_owned(),
            MountPoint::Mount(number) => format!("m{number}"),
        };
        Path::new(PARENT).join(name)
    }
}

/// Access to the files below a mount point.
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

/// Whether a session sees a tree through an overlay. An overlay has its own inodes: its sockets, FIFOs, locks and
/// leases do not reach processes that use the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Overlay {
    /// Attach the tree itself.
    Unused,
    /// Attach the tree itself only if the kernel or the file system refuses an overlay.
    Preferred,
    /// Fail without an overlay.
    Required,
}

/// A tree attached without its preferred overlay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainAttachment {
    /// The tree's mount point.
    pub place: MountPoint,
    /// Why the kernel refused the overlay.
    pub cause: String,
}

/// An order to the mounter. The first descriptor of each order is the socket for the answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Attach directories to a session. The next descriptors are the session's pidfd, then the trees that the host has
    /// opened.
    Attach {
        placed: Vec<Placed>,
        /// User and group of the session in the zygote's user namespace; overlays read files as this user. `None` if
        /// the mounter has the same user.
        reader: Option<u32>,
    },
    /// Make a user namespace that maps user and group `inside` to user and group `outside` of the zygote's namespace.
    Map { inside: (u32, u32), outside: u32 },
    /// Kill every process of a session's pid namespace except the first. The next descriptor is the session's pidfd.
    KillOthers,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Placed {
    pub(crate) place: MountPoint,
    pub(crate) writing: WriteAccess,
    pub(crate) overlay: Overlay,
    /// Path on the host, which the mounter opens; `None` if the host sends the tree as a descriptor.
    pub(crate) source: Option<PathBuf>,
}

/// A directory of the host, opened without following symbolic links.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    owner: (u32, u32),
}

impl Directory {
    /// Opens a directory and sends its file system every request that attaching needs. A hanging file system therefore
    /// blocks here, not in the mounter.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(source: &Path) -> io::Result<Self> {
        let descriptor = directory(source)?;
        let found = rustix::fs::fstat(&descriptor)?;
        rustix::fs::fstatfs(&descriptor)?;
        Ok(Self {
            descriptor,
            owner: (found.st_uid, found.st_gid),
        })
    }

    /// User id and group id of the owner.
    pub fn owner(&self) -> (u32, u32) {
        self.owner
    }

    /// The directory as a detached tree. With `map`, files of user `inside` appear as files of user `outside`; this
    /// needs real root.
    ///
    /// # Errors
    /// The system's error; `Unsupported` if the file system cannot be mapped.
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
