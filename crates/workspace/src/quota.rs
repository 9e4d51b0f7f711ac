//! Kernel quotas: each principal's directory is a project of its file system.

use std::hash::Hasher;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use jail::quota;
use rustix::fs::{self, FileType, FlockOperation, Mode, OFlags};

use crate::confined::{self, Bounds, DEEPEST};
use crate::directory::Directory;
use crate::error::WorkspaceError;

/// Codeyard's project numbers are above this number, so that they differ from an administrator's.
const FIRST: u32 = 0x4000_0000;

/// Numbers to try. Two principals rarely get the same number.
const ATTEMPTS: u32 = 64;

/// Most existing entries of a directory that a new quota takes in.
const MOST_ENTRIES: u64 = 2_000_000;

/// Whether the kernel can enforce quotas in this directory; otherwise the reason.
pub(crate) fn available(root: &Directory) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root sets them".to_owned());
    }
    let directory = readable(root).map_err(|error| error.to_string())?;
    match quota::is_enforced(directory.as_fd()) {
        Ok(true) => {}
        Ok(false) => {
            return Err("the file system counts projects, and is mounted without `prjquota`".to_owned());
        }
        Err(error) => return Err(format!("the file system has no project quotas ({error})")),
    }
    match quota::get(directory.as_fd(), FIRST) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("this process may not set them ({error})")),
    }
}

/// Makes the principal's directory a project if needed, and sets its limits.
pub(crate) fn bind(
    root: &Directory,
    place: &Directory,
    bytes: u64,
    inodes: u64,
) -> Result<(), WorkspaceError> {
    let failed = |cause: io::Error| WorkspaceError::io("set the quota of the directory", place.path(), cause);
    let directory = readable(place)?;
    let mut project = quota::project_of(directory.as_fd()).map_err(failed)?;
    if project == 0 {
        // Take the numbers one at a time: two principals must not take the same number.
        let all = readable(root)?;
        fs::flock(&all, FlockOperation::LockExclusive).map_err(|cause| failed(cause.into()))?;
        project = quota::project_of(directory.as_fd()).map_err(failed)?;
        if project == 0 {
            project = free(place, &directory).map_err(failed)?;
            // Set the limits first, so that no other process considers the number free.
            quota::set(directory.as_fd(), project, bytes, inodes).map_err(failed)?;
            take_in(&directory, project);
            quota::join_directory(directory.as_fd(), project).map_err(failed)?;
        }
    }
    quota::set(directory.as_fd(), project, bytes, inodes).map_err(failed)
}

fn free(place: &Directory, directory: &OwnedFd) -> io::Result<u32> {
    let mut hash = std::collections::hash_map::DefaultHasher::new();
    hash.write(place.path().as_os_str().as_encoded_bytes());
    // The upper half of the hash is as good as the lower half.
    let start = u32::try_from(hash.finish() >> 34).unwrap_or(0);
    for step in 0..ATTEMPTS {
        let project = FIRST | (start.wrapping_add(step) & (FIRST - 1));
        if quota::get(directory.as_fd(), project)? == quota::Project::default() {
            return Ok(project);
        }
    }
    Err(io::Error::other("no project number is free"))
}

/// Adds existing files to the project, because the kernel counts only a project's own files.
fn take_in(directory: &OwnedFd, project: u32) {
    let bounds = Bounds {
        entries: MOST_ENTRIES,
        depth: DEEPEST,
    };
    let mut failed = 0_u64;
    confined::walk(directory, bounds, |met| {
        let kind = FileType::from_raw_mode(met.stat.st_mode);
        let joined = match (kind, confined::open_any(directory, met.path)) {
            (FileType::Directory, Ok(file)) => quota::join_directory(file.as_fd(), project),
            (FileType::RegularFile, Ok(file)) => quota::join_file(file.as_fd(), project),
            // Links and special files use almost no space, and cannot be opened.
            _ => Ok(()),
        };
        failed += u64::from(joined.is_err());
    });
    if failed > 0 {
        tracing::warn!(failed, "files from before the quota are not counted by it");
    }
}

fn readable(place: &Directory) -> Result<OwnedFd, WorkspaceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::openat(place, ".", flags, Mode::empty())
        .map_err(|cause| WorkspaceError::step("open the directory", place.path(), cause))
}

#[cfg(test)]
pub(crate) mod tests;
