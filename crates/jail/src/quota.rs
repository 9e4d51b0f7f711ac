//! Project quotas: limits of the kernel on bytes and inodes of a directory tree, on ext4 and xfs.
//!
//! A tree belongs to a project by the number on its directories, which new entries inherit. Setting limits needs real
//! root; the mount decides whether they are enforced (`prjquota`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{c_int, c_long, c_uint, c_ulong};

/// `_IOR('X', 31, struct fsxattr)` and `_IOW('X', 32, struct fsxattr)` of linux/fs.h.
const FS_IOC_FSGETXATTR: c_ulong = 0x801c_581f;
const FS_IOC_FSSETXATTR: c_ulong = 0x401c_5820;
const FS_XFLAG_PROJINHERIT: u32 = 0x200;

/// From linux/quota.h and linux/dqblk_xfs.h.
const PROJECTS: u32 = 2;
const GET: u32 = 0x0080_0007;
const SET: u32 = 0x0080_0008;
const STATE: u32 = (0x58 << 8) | 8;
const STATE_VERSION: i8 = 1;
const PROJECTS_ENFORCED: u16 = 1 << 5;
const BLOCK_LIMITS: u32 = 1;
const INODE_LIMITS: u32 = 4;

/// Unit of limits in bytes.
const BLOCK: u64 = 1024;

/// `struct fsxattr`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    flags: u32,
    extent_size: u32,
    extents: u32,
    project: u32,
    copy_extent_size: u32,
    padding: [u8; 8],
}

/// `struct if_dqblk`.
#[repr(C)]
#[derive(Default)]
struct Block {
    bytes_hard: u64,
    bytes_soft: u64,
    bytes: u64,
    inodes_hard: u64,
    inodes_soft: u64,
    inodes: u64,
    bytes_time: u64,
    inodes_time: u64,
    valid: u32,
}

/// `struct fs_quota_statv`; only the flags are used.
#[repr(C)]
struct QuotaStatus {
    version: i8,
    padding: u8,
    flags: u16,
    rest: [u64; 24],
}

/// Limits and usage of a project; 0 means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Project {
    /// Limit in bytes, in steps of 1 KiB.
    pub most_bytes: u64,
    /// Limit on files and directories.
    pub most_inodes: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// Files and directories in use.
    pub inodes: u64,
}

/// Whether the file system of this directory enforces project limits.
///
/// # Errors
/// If the file system has no quotas.
pub fn is_enforced(directory: BorrowedFd<'_>) -> io::Result<bool> {
    let mut state = QuotaStatus {
        version: STATE_VERSION,
        padding: 0,
        flags: 0,
        rest: [0; 24],
    };
    control(directory, STATE, 0, &mut state)?;
    Ok(state.flags & PROJECTS_ENFORCED != 0)
}

/// The project of a file or directory; 0 if none.
///
/// # Errors
/// If the file system has no projects.
pub fn project_of(file: BorrowedFd<'_>) -> io::Result<u32> {
    attributes(file).map(|attributes| attributes.project)
}

/// Adds a directory, and everything made below it from now on, to a project.
///
/// # Errors
/// If the file system has no projects, or this process lacks the right.
pub fn join_directory(directory: BorrowedFd<'_>, project: u32) -> io::Result<()> {
    set_attributes(directory, project, FS_XFLAG_PROJINHERIT)
}

/// Adds an existing file to a project.
///
/// # Errors
/// As [`join_directory`].
pub fn join_file(file: BorrowedFd<'_>, project: u32) -> io::Result<()> {
    set_attributes(file, project, 0)
}

/// Limits and usage of a project on the file system of this directory; all 0 for an unknown project.
///
/// # Errors
/// If the file system has no quotas, or this process lacks the right.
pub fn get(directory: BorrowedFd<'_>, project: u32) -> io::Result<Project> {
    let mut block = Block::default();
    match control(directory, GET, project, &mut block) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
        Err(error) => return Err(error),
    }
    Ok(Project {
        most_bytes: block.bytes_hard.saturating_mul(BLOCK),
        most_inodes: block.inodes_hard,
        bytes: block.bytes,
        inodes: block.inodes,
    })
}

/// Sets the limits of a project; 0 removes a limit.
///
/// # Errors
/// As [`get`].
pub fn set(directory: BorrowedFd<'_>, project: u32, bytes: u64, inodes: u64) -> io::Result<()> {
    let mut block = Block {
        bytes_hard: bytes.div_ceil(BLOCK),
        inodes_hard: inodes,
        valid: BLOCK_LIMITS | INODE_LIMITS,
        ..Block::default()
    };
    control(directory, SET, project, &mut block)
}

fn attributes(file: BorrowedFd<'_>) -> io::Result<Attributes> {
    let mut attributes = Attributes::default();
    // SAFETY: the call writes a `struct fsxattr`, which `Attributes` is, and the descriptor is open.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FSGETXATTR, &raw mut attributes) };
    system_result(c_long::from(done)).map(|()| attributes)
}

fn set_attributes(file: BorrowedFd<'_>, project: u32, flags: u32) -> io::Result<()> {
    let mut attributes = attributes(file)?;
    attributes.project = project;
    attributes.flags |= flags;
    // SAFETY: the call reads a `struct fsxattr`, which `Attributes` is, and the descriptor is open.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FSSETXATTR, &raw const attributes) };
    system_result(c_long::from(done))
}

/// `quotactl_fd` for projects. `T` is the type that the command takes.
fn control<T>(directory: BorrowedFd<'_>, command: u32, project: u32, argument: &mut T) -> io::Result<()> {
    let descriptor: c_int = directory.as_raw_fd();
    let command: c_uint = (command << 8) | PROJECTS;
    // SAFETY: the three commands above read or write one `Block` or one `State`, and no more; both are laid out as in C
    // and live as long as the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_quotactl_fd,
            descriptor,
            command,
            project,
            std::ptr::from_mut(argument),
        )
    };
    system_result(done)
}

fn system_result(returned: c_long) -> io::Result<()> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn structures_are_as_large_as_the_kernel_has_them() {
        assert_eq!(size_of::<Attributes>(), 28);
        assert_eq!(size_of::<Block>(), 72);
        assert!(size_of::<QuotaStatus>() >= 176);
    }

    #[test]
    fn a_file_system_without_quotas_says_so() {
        let directory = std::fs::File::open("/proc").unwrap();
        assert!(is_enforced(directory.as_fd()).is_err());
        assert!(project_of(directory.as_fd()).is_err());
        assert!(set(directory.as_fd(), 7, 1, 1).is_err());
    }
}
