//! The files of a session by their virtual paths, for clients: listed, read and written by the host.
//!
//! The roots are descriptors. Every access below them goes through `confined`: beneath the root, through no link, within
//! one file system, without waiting. A program may change everything meanwhile.

mod browse;
mod entries;
mod error;
mod new_entries;
mod path;
mod policy;
mod read;
mod write;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, FileType, Mode, OFlags, Stat};
use types::{Principal, SessionName};

use crate::config::{Keeping, RESULTS, SCRATCH};
use crate::confined::{self, Bounds, DEEPEST, Seen, walk};
use crate::directory::{Directory, Ids};
use crate::error::WorkspaceError;
use crate::layout::Workspaces;
use crate::lease::Lease;
use crate::tree::Tree;
use crate::virtual_files::path::VirtualPath;

pub use self::policy::{FilePolicy, Operation};
pub use browse::{Browse, DirectoryListing, Listed, ListedKind};
pub use entries::{DirectoryEntry, EntryKind};
pub use error::{FileError, ShownPath};
pub use read::FileText;
pub use write::WrittenText;

/// Maximum entries of a listing.
pub const MOST_ENTRIES: usize = 10_000;

const MIB: u64 = 1024 * 1024;

/// Bounds in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Maximum size of a file that is read.
    pub read: u64,
    /// Maximum size of a file in `/scratch` and `/results`.
    pub file: u64,
    /// Maximum size of all files in `/scratch` and `/results` together.
    pub total: u64,
}

/// One session's virtual file system: `/tools`, `/scratch`, `/skills` and `/results`. The files stay while the value
/// lives. Each call takes a new value, to see the current tools.
#[derive(Debug)]
pub struct VirtualFiles {
    roots: [Root; 4],
    policy: FilePolicy,
    limits: FileLimits,
    /// The principal's directory, which contains the sessions' directories and is hidden from sessions.
    place: OwnedFd,
    /// Owner of written files.
    owner: Ids,
    workspaces: Workspaces,
    principal: Principal,
    lease: Lease,
    _tree: Option<Tree>,
}

#[derive(Debug)]
struct Root {
    name: &'static str,
    description: &'static str,
    /// `None` is an empty directory: nothing was published yet.
    directory: Option<OwnedFd>,
    access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Files of codeyard, which programs cannot change.
    ReadOnly,
    /// Files that programs may change.
    Writable,
}

// === impl FileLimits ===

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            read: MIB,
            file: 10 * MIB,
            total: 100 * MIB,
        }
    }
}

// === impl Workspaces ===

impl Workspaces {
    /// Opens a session's virtual file system, with or without a running session. Creates missing directories.
    ///
    /// # Errors
    /// If the session's directories cannot be opened, or the settings keep no files.
    pub fn virtual_files(
        &self,
        principal: &Principal,
        session: &SessionName,
        policy: FilePolicy,
        limits: FileLimits,
    ) -> Result<VirtualFiles, WorkspaceError> {
        if self.keeping() == Keeping::Own {
            return Err(WorkspaceError::NotKept);
        }
        let files = self.open(principal, session)?;
        let session = Directory::at(&files.session)?;
        let place = self
            .shared
            .existing_place(principal)?
            .ok_or_else(|| WorkspaceError::BeingCleaned(files.session.clone()))?;
        let tree = self.shared(principal);
        let part = |name| opened(tree.as_ref(), name);
        let own = |name: &str| session.child(name.as_ref()).map(|place| place.map(OwnedFd::from));
        Ok(VirtualFiles {
            roots: [
                Root::new(
                    "tools",
                    "read-only stubs of the tools",
                    part("tools")?,
                    Access::ReadOnly,
                ),
                Root::new("scratch", "temporary files", own(SCRATCH)?, Access::Writable),
                Root::new(
                    "skills",
                    "read-only approved skills",
                    part("skills")?,
                    Access::ReadOnly,
                ),
                Root::new("results", "files to keep", own(RESULTS)?, Access::Writable),
            ],
            policy,
            limits,
            place: place.into(),
            owner: self.shared.ids()?,
            workspaces: self.clone(),
            principal: principal.clone(),
            lease: files.lease,
            _tree: tree,
        })
    }
}

/// A part of the shared tree.
fn opened(tree: Option<&Tree>, name: &str) -> Result<Option<OwnedFd>, WorkspaceError> {
    let Some(tree) = tree else { return Ok(None) };
    let tree = Directory::at(&tree.path)?;
    Ok(tree.child(name.as_ref())?.map(OwnedFd::from))
}

// === impl Root ===

impl Root {
    fn new(
        name: &'static str,
        description: &'static str,
        directory: Option<OwnedFd>,
        access: Access,
    ) -> Root {
        Root {
            name,
            description,
            directory,
            access,
        }
    }

    fn stat(&self) -> Option<Stat> {
        fs::fstat(self.directory.as_ref()?).ok()
    }
}

// === impl VirtualFiles ===

impl VirtualFiles {
    /// Keeps the session's files while it or a clone lives.
    pub fn lease(&self) -> Lease {
        self.lease.clone()
    }

    /// Checks the programs' files against the limits, as after a run.
    ///
    /// # Errors
    /// The first file that is too large, or the total size.
    pub fn check_disk(&self) -> Result<(), FileError> {
        if self.written_bytes(Some(self.limits.file))? > self.limits.total {
            return Err(FileError::DiskFull);
        }
        Ok(())
    }

    /// Total size of all regular files below the writable roots. Files that cannot be counted exceed the limit.
    fn written_bytes(&self, largest: Option<u64>) -> Result<u64, FileError> {
        let mut total = 0_u64;
        for root in self.roots.iter().filter(|root| root.access == Access::Writable) {
            let Some(top) = root.directory.as_ref().and_then(|place| readable(place.as_fd())) else {
                return Err(FileError::DiskFull);
            };
            let bounds = Bounds {
                entries: crate::usage::MOST_ENTRIES,
                depth: DEEPEST,
            };
            let mut too_large = None;
            let seen = walk(&top, bounds, |met| {
                if FileType::from_raw_mode(met.stat.st_mode) != FileType::RegularFile {
                    return;
                }
                let size = size_of(met.stat);
                total = total.saturating_add(size);
                if largest.is_some_and(|largest| size > largest) && too_large.is_none() {
                    too_large = Some(format!("/{}/{}", root.name, met.path.to_string_lossy()));
                }
            });
            if let Some(path) = too_large {
                return Err(FileError::FileTooLarge(ShownPath::new(&path)));
            }
            if seen == Seen::Part {
                return Err(FileError::DiskFull);
            }
        }
        Ok(total)
    }

    /// The root of a path, and the path below it.
    fn root<'a>(&self, path: &'a VirtualPath) -> Result<(&Root, &'a str), FileError> {
        let (name, below) = path.split();
        let root = self.roots.iter().find(|root| root.name == name);
        root.map(|root| (root, below))
            .ok_or_else(|| FileError::Outside(path.shown()))
    }
}

/// Opens a directory for listing.
fn readable(directory: BorrowedFd<'_>) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    fs::openat2(directory, ".", flags, Mode::empty(), confined::WITHIN).ok()
}

fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// Finds by the trimmed path, as the original does. If that is missing, keeps the white space at the end, because
/// names may end in white space.
fn find<T>(path: &str, find: impl Fn(&VirtualPath) -> Result<T, FileError>) -> Result<T, FileError> {
    let found = find(&VirtualPath::parse(path.trim())?);
    let is_missing = matches!(found, Err(FileError::Missing(_)));
    if is_missing && path.trim_start() != path.trim() {
        let other = VirtualPath::parse(path.trim_start())?;
        return find(&other).or(found);
    }
    found
}

#[cfg(test)]
mod tests;
