//! The open files of guests: their size limit between runs, unlinked ones, and whether one is readable.

use std::collections::HashMap;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, makedev, statx};
use rustix::process::{Pid, Resource, Rlimit};

/// Bytes of one block of `st_blocks`.
const BLOCK: u64 = 512;

/// The file size limit (`RLIMIT_FSIZE`) of a guest's first process, which its children inherit. Seccomp forbids the guest
/// to change its limits, so only the host sets it.
#[derive(Debug)]
pub struct FileSizeLimit {
    /// The limit that the guest was launched with, in bytes.
    launched: u64,
    current: u64,
}

impl FileSizeLimit {
    /// The limit of a guest that was launched with it.
    pub fn new(launched: u64) -> Self {
        Self {
            launched,
            current: launched,
        }
    }

    /// Sets the limit of the process `pid`, which the caller knows to be alive. `None` restores the limit of its launch.
    pub fn set(&mut self, pid: u32, limit: Option<u64>) {
        let wanted = limit.unwrap_or(self.launched).min(self.launched);
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if wanted == self.current || process.is_none() {
            return;
        }
        let rlimit = Rlimit {
            current: Some(wanted),
            maximum: Some(self.launched),
        };
        match rustix::process::prlimit(process, Resource::Fsize, rlimit) {
            Ok(_) => self.current = wanted,
            Err(error) => tracing::warn!(%error, "the size of a session's files could not be bound"),
        }
    }
}

/// Whether a descriptor is readable now, such as the pidfd of a process that has ended.
pub fn is_readable(descriptor: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
    rustix::event::poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Bytes of the unlinked files that the process `pid` has open, by device and inode.
pub fn unlinked(pid: u32) -> HashMap<(u64, u64), u64> {
    fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| stat_without_sync(&entry.path()))
        .filter(|file| FileType::from_raw_mode(file.stx_mode.into()).is_file() && file.stx_nlink == 0)
        .map(|file| {
            let device = makedev(file.stx_dev_major, file.stx_dev_minor);
            ((device, file.stx_ino), file.stx_blocks.saturating_mul(BLOCK))
        })
        .collect()
}

/// Bytes of the unlinked files on `device` that the process `pid` has open.
pub fn unlinked_on(pid: u32, device: u64) -> u64 {
    let files = unlinked(pid).into_iter();
    files
        .filter(|((of, _), _)| *of == device)
        .map(|(_, bytes)| bytes)
        .sum()
}

/// What the kernel has cached about an open file. The file system is not asked, because it may hang.
fn stat_without_sync(descriptor: &Path) -> Option<Statx> {
    let fields = StatxFlags::TYPE | StatxFlags::NLINK | StatxFlags::INO | StatxFlags::BLOCKS;
    statx(CWD, descriptor, AtFlags::STATX_DONT_SYNC, fields).ok()
}
