//! Directories of the host that sessions see: where they appear, and how a host that may open them does.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::{Deserialize, Serialize};

use crate::launcher::sys;

/// Where an attached directory appears. Each place is a directory of the template, which nothing can rename.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
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
/// Most folders that settings may name.
pub const MOST_MOUNTS: u8 = 16;

impl Place {
    /// Its directory on the template.
    pub fn path(self) -> PathBuf {
        let name = match self {
            Place::Workspace => "workspace".to_owned(),
            Place::Results => "results".to_owned(),
            Place::Shared => "shared".to_owned(),
            Place::Mount(number) => format!("m{number}"),
        };
        Path::new(PARENT).join(name)
    }
}

/// What may be done below a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writing {
    /// Reading only.
    Refused,
    /// Reading and writing.
    Allowed,
}

impl Writing {
    pub(crate) fn attributes(self) -> u64 {
        let always = sys::NOSUID | sys::NODEV;
        match self {
            Writing::Refused => always | sys::RDONLY,
            Writing::Allowed => always,
        }
    }
}

/// What the mounter is asked to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Attach directories to the session whose pidfd comes first; the trees that the host has opened come after it.
    Attach(Vec<Placed>),
    /// Make a user namespace in which user and group `inside` are what they are `outside` in the zygote's.
    Map { inside: (u32, u32), outside: u32 },
    /// Kill every process of the pid namespace of the session whose pidfd comes along, except its first.
    KillOthers,
}

/// One directory to attach.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) writing: Writing,
    /// Opened by the mounter itself; else the tree comes as a descriptor.
    pub(crate) source: Option<PathBuf>,
}

/// Opens a directory as a detached tree, without following symbolic links. With `map`, who `inside` is there appears
/// as who it is outside: only real root may do that.
///
/// # Errors
/// The system's; `Unsupported` if the file system cannot be mapped.
pub fn open(source: &Path, writing: Writing, map: Option<BorrowedFd<'_>>) -> io::Result<OwnedFd> {
    let directory = directory(source)?;
    let tree = sys::open_tree_at(directory.as_fd())?;
    let set = sys::set_mapped_attributes(tree.as_fd(), writing.attributes(), map);
    match set {
        Err(error) if map.is_some() && error.raw_os_error() == Some(libc::EINVAL) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "its file system has no idmapped mounts",
        )),
        set => set.map(|()| tree),
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
