//! Codeyard's own directories: opened without following links, created with their owner, and named in errors.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{self, AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use rustix::io::Errno;

use crate::config::Owner;
use crate::error::WorkspaceError;

/// User and group `nobody` on every Linux. The kernel also shows this number for an owner that it cannot map.
pub(crate) const NOBODY: u32 = 65_534;

/// Follows no link and reaches nothing above the directory, even under concurrent changes.
pub(crate) const CONFINED: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

const DIRECTORY: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory held open by descriptor.
#[derive(Debug)]
pub(crate) struct Directory {
    fd: OwnedFd,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectoryOwner {
    /// This process owns the directory: sessions see neither the directory nor the names in it.
    Ours,
    Sessions(Ids),
}

// === impl Ids ===

impl Ids {
    pub(crate) fn own() -> Ids {
        Ids {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    /// Owner of sessions' files below this data directory. If the directory is missing, this process will create and
    /// own it.
    pub(crate) fn of(owner: Owner, data: &Path) -> Result<Ids, WorkspaceError> {
        let own = Ids::own();
        if own.uid != 0 {
            return Ok(own);
        }
        let directory = match std::fs::metadata(data) {
            Ok(metadata) => Ids {
                uid: metadata.uid(),
                gid: metadata.gid(),
            },
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => own,
            Err(cause) => return Err(WorkspaceError::io("look at the directory", data, cause)),
        };
        Ok(match owner {
            Owner::User(uid) if uid != directory.uid => Ids { uid, gid: uid },
            Owner::DataDirectory if directory.uid == 0 => Ids {
                uid: NOBODY,
                gid: NOBODY,
            },
            Owner::User(_) | Owner::DataDirectory => directory,
        })
    }

    /// Mode of the directories above those of sessions. An ordinary user may pass through to their own files. `nobody`
    /// may not, because other services also run as `nobody`.
    pub(crate) fn passage(self) -> Mode {
        let through = rustix::process::geteuid().is_root() && self.uid != NOBODY;
        Mode::from_raw_mode(if through { 0o711 } else { 0o700 })
    }
}

// === impl Directory ===

impl Directory {
    /// Opens a directory of codeyard's own, creating it and its missing parents.
    pub(crate) fn root(path: &Path, mode: Mode) -> Result<Directory, WorkspaceError> {
        match Directory::at(path) {
            Err(WorkspaceError::Step { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
            place => return place,
        }
        make_all(path.parent().unwrap_or(Path::new("/")))?;
        match fs::mkdirat(CWD, path, mode) {
            Ok(()) | Err(Errno::EXIST) => Directory::at(path),
            Err(cause) => Err(WorkspaceError::step("make the directory", path, cause)),
        }
    }

    /// Opens an existing directory. The last component must not be a link; earlier components may be links.
    pub(crate) fn at(path: &Path) -> Result<Directory, WorkspaceError> {
        match fs::openat(CWD, path, DIRECTORY, Mode::empty()) {
            Ok(fd) => Ok(Directory {
                fd,
                path: path.to_path_buf(),
            }),
            Err(cause) => Err(refused(CWD, path.as_os_str(), path, cause)),
        }
    }

    /// The same directory, with a path that contains no symbolic link.
    pub(crate) fn canonical(self) -> Result<Directory, WorkspaceError> {
        match std::fs::canonicalize(&self.path) {
            Ok(path) => Ok(Directory { path, ..self }),
            Err(cause) => Err(WorkspaceError::io("resolve the path", &self.path, cause)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn child(&self, name: &OsStr) -> Result<Option<Directory>, WorkspaceError> {
        let path = self.path.join(name);
        match fs::openat2(&self.fd, name, DIRECTORY, Mode::empty(), CONFINED) {
            Ok(fd) => Ok(Some(Directory { fd, path })),
            Err(Errno::NOENT) => Ok(None),
            Err(cause) => Err(refused(self.fd.as_fd(), name, &path, cause)),
        }
    }

    /// The named subdirectory, created if missing. If another process creates it at the same time, both processes give
    /// it to the same owner.
    pub(crate) fn make(
        &self,
        name: &OsStr,
        mode: Mode,
        belongs: DirectoryOwner,
    ) -> Result<Directory, WorkspaceError> {
        if let (DirectoryOwner::Ours, Some(place)) = (belongs, self.child(name)?) {
            return Ok(place);
        }
        let path = self.path.join(name);
        match fs::mkdirat(&self.fd, name, mode) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(cause) => return Err(WorkspaceError::step("make the directory", &path, cause)),
        }
        let Some(place) = self.child(name)? else {
            return Err(WorkspaceError::step("open the directory", &path, Errno::NOENT));
        };
        if let DirectoryOwner::Sessions(ids) = belongs
            && place.stat()?.st_uid != ids.uid
        {
            place.give(ids)?;
        }
        Ok(place)
    }

    /// Changes the owner of the directory itself, not of its content.
    fn give(&self, ids: Ids) -> Result<(), WorkspaceError> {
        let (uid, gid) = (Uid::from_raw(ids.uid), Gid::from_raw(ids.gid));
        fs::chownat(&self.fd, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH)
            .map_err(|cause| WorkspaceError::step("give the directory to its owner", &self.path, cause))
    }

    pub(crate) fn expect_owner(&self, ids: Ids) -> Result<(), WorkspaceError> {
        let found = self.stat()?.st_uid;
        if found == ids.uid {
            return Ok(());
        }
        Err(WorkspaceError::Owner {
            path: self.path.clone(),
            found,
            expected: ids.uid,
            repair: repair(ids, &self.path),
        })
    }

    /// Gives the owner all permissions on the directory.
    pub(crate) fn open_to_owner(&self) -> Result<(), WorkspaceError> {
        // `fchmod` refuses a descriptor without access to the content, and a name could be replaced meanwhile.
        let held = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        fs::chmod(held, Mode::from_raw_mode(0o700))
            .map_err(|cause| WorkspaceError::step("set the mode of the directory", &self.path, cause))
    }

    pub(crate) fn stat(&self) -> Result<Stat, WorkspaceError> {
        fs::fstat(&self.fd).map_err(|cause| WorkspaceError::step("look at the directory", &self.path, cause))
    }
}

impl From<Directory> for OwnedFd {
    fn from(directory: Directory) -> OwnedFd {
        directory.fd
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Creates a directory and its parents outside the sessions' reach. Follows links, because the user made them.
pub(crate) fn make_all(path: &Path) -> Result<(), WorkspaceError> {
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    made.map_err(|cause| WorkspaceError::io("make the directory", path, cause))
}

/// Why a directory could not be opened: the file type found in its place, else the system's error.
fn refused(at: BorrowedFd<'_>, name: &OsStr, path: &Path, cause: Errno) -> WorkspaceError {
    let found = match fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => kind(FileType::from_raw_mode(stat.st_mode)),
        Err(_) => None,
    };
    match found {
        Some(found) if matches!(cause, Errno::NOTDIR | Errno::LOOP) => WorkspaceError::NotADirectory {
            path: path.to_path_buf(),
            found,
        },
        _ => WorkspaceError::step("open the directory", path, cause),
    }
}

/// Names a file type other than a directory.
pub(crate) fn kind(file: FileType) -> Option<&'static str> {
    Some(match file {
        FileType::Directory => return None,
        FileType::RegularFile => "a file",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    })
}

/// The command that gives a directory and its content to the owner.
pub(crate) fn repair(Ids { uid, gid }: Ids, below: &Path) -> String {
    let path = below.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if path.chars().all(is_plain) {
        return format!("sudo chown -R {uid}:{gid} {path}");
    }
    format!("sudo chown -R {uid}:{gid} '{}'", path.replace('\'', "'\\''"))
}

pub(crate) fn names(root: &Directory) -> Result<Vec<OsString>, WorkspaceError> {
    let failed = |cause: Errno| WorkspaceError::step("read the directory", root.path(), cause);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = fs::openat(root, ".", flags, Mode::empty()).map_err(failed)?;
    let mut names = Vec::new();
    for entry in Dir::new(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// When a file was last changed.
pub(crate) fn modified_at(stat: &Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}
