//! Errors about host files, each with path and remedy.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A step on a file or directory failed.
    #[error("{}: cannot {step}: {cause}{}", .path.display(), remedy(.cause))]
    Step {
        /// The step, such as `make the directory`.
        step: &'static str,
        /// File or directory.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Something else is in the place of a codeyard directory.
    #[error("{}: is {found}, not a directory; move it away, codeyard makes the directory itself", .path.display())]
    NotADirectory {
        /// The expected directory.
        path: PathBuf,
        /// The file type found there.
        found: &'static str,
    },
    /// The files belong to another user than the settings require.
    #[error(
        "{}: belongs to user {found}, but files of sessions belong to user {expected}; run `{repair}`",
        .path.display()
    )]
    Owner {
        /// The directory.
        path: PathBuf,
        /// Actual user id.
        found: u32,
        /// Required user id.
        expected: u32,
        /// The command that changes the owner.
        repair: String,
    },
    /// The data directory belongs to another user and is closed to this process.
    #[error("{}: belongs to user {found} and is closed to user {own}; {remedy}", .path.display())]
    Data {
        /// The first closed directory of the path.
        path: PathBuf,
        /// Its owner's user id.
        found: u32,
        /// This process's user id.
        own: u32,
        /// What to do.
        remedy: String,
    },
    /// The settings keep no files of sessions on the host.
    #[error("sessions keep no files on the host; remove `enabled = false` from `[workspace]`")]
    NotKept,
    /// Another process is removing these files.
    #[error("{}: is being cleaned by another codeyard process; try again when it is done", .0.display())]
    BeingCleaned(PathBuf),
    /// Another process uses these files.
    #[error("{}: is in use by a running codeyard process; end its client first", .0.display())]
    InUse(PathBuf),
    /// The name of a shared file is malformed.
    #[error(
        "`{0}` cannot be the name of a shared file: it must be relative, below `tools/` or `skills/`, without `.` and `..`"
    )]
    BadName(String),
    /// The file system cannot enforce the bounds that the settings require.
    #[error(
        "{}: the kernel cannot hold quotas here: {cause}; {QUOTA_REMEDY}, or set `[workspace] enforce` to \"image\" or \"auto\"",
        .path.display()
    )]
    NoQuota {
        /// Directory of all workspaces.
        path: PathBuf,
        /// The reason.
        cause: String,
    },
    /// The settings require images, which cannot be used here.
    #[error(
        "`[workspace] enforce = \"image\"` cannot be met: {cause}; images need root, loop devices (/dev/loop-control), a `quota` \
         and the package e2fsprogs; or set `enforce` to \"kernel\" (project quotas) or \"auto\""
    )]
    NoImage {
        /// The reason.
        cause: String,
    },
    /// The settings require a kernel quota, and there is none.
    #[error(
        "`[sandbox] require = \"tenant-isolation\"` needs a workspace quota that the kernel enforces: {0}; set `[workspace] \
         enforce = \"image\"` and a `quota`, mount the data directory's file system with `prjquota`, or set `[workspace] \
         enabled = false`"
    )]
    QuotaNotEnforced(String),
    /// A program that creates or checks images failed.
    #[error("{}: `{program}` failed: {said}; {remedy}", .image.display())]
    Tool {
        /// Name of the program.
        program: &'static str,
        /// The image.
        image: PathBuf,
        /// Its output.
        said: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Both the directory and the image contain files.
    #[error("{}: has files beside those in its image {}; move either away, so that none are hidden", .path.display(), .image.display())]
    BesideImage {
        /// The directory.
        path: PathBuf,
        /// The image.
        image: PathBuf,
    },
    /// The files are in an image, and the settings require another way of storage.
    #[error(
        "{}: its files are in the image {}; set `[workspace] enforce = \"image\"`, or copy them out of the directory that \
         `codeyard workspace path` shows and run `codeyard workspace clean`",
        .path.display(), .image.display()
    )]
    InImage {
        /// The directory.
        path: PathBuf,
        /// The image.
        image: PathBuf,
    },
    /// The image has another size than the settings require, and is in use.
    #[error(
        "{}: its image was made for another `quota` or `inodes`, and a running codeyard process uses it; end its client first, \
         the image is then made anew with its files",
        .0.display()
    )]
    OtherSize(PathBuf),
    /// Another file system is mounted where the principal's image belongs.
    #[error("{}: another file system is mounted here, not the principal's image; unmount it", .0.display())]
    Foreign(PathBuf),
}

const QUOTA_REMEDY: &str =
    "run as root with the data directory on ext4 or xfs that is mounted with `prjquota`";

impl WorkspaceError {
    pub(crate) fn step(step: &'static str, path: &Path, cause: Errno) -> Self {
        Self::io(step, path, io::Error::from(cause))
    }

    pub(crate) fn io(step: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Step {
            step,
            path: path.to_path_buf(),
            cause,
        }
    }
}

fn remedy(cause: &io::Error) -> &'static str {
    match cause.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ROFS) => "; name a writable data directory with --data",
        Some(Errno::NOSPC) => "; free some space, `codeyard workspace clean` removes what sessions left",
        Some(Errno::DQUOT) => {
            "; the disk quota is used up, `codeyard workspace clean` removes what sessions left"
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            "; give this user the data directory, or name another one with --data"
        }
        Some(Errno::NOTDIR | Errno::EXIST) => {
            "; a part of the path is a file: move it away, or name another data directory with --data"
        }
        Some(Errno::LOOP) => "; a symbolic link stands where codeyard keeps files: move it away",
        Some(Errno::NAMETOOLONG) => "; name a data directory with a shorter path with --data",
        _ => "",
    }
}
