//! The open files of guests: their size limit between runs, unlinked files, and whether a descriptor is readable.

use std::collections::HashMap;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, makedev, statx};
use rustix::process::{Pid, Resource, Rlimit};

/// Bytes per unit of `st_blocks`.
const BLOCK: u64 = 512;

/// The file size limit (`RLIMIT_FSIZE`) of a guest's first process, and of its engine if that is a process of its own.
/// Their children inherit it. Only the host sets it: seccomp forbids the guest to change limits.
#[derive(Debug)]
pub struct FileSizeLimit {
    /// Limit in bytes, set at launch.
    launched: u64,
    current: u64,
}

impl FileSizeLimit {
    /// Starts with the limit of the launch, in bytes.
    pub fn new(launched: u64) -> Self {
        Self {
            launched,
            current: launched,
        }
    }

    /// Sets the limit of the process `first`, then of its engine. The caller must know that these processes are alive. An
    /// engine that `first` starts later inherits the limit. `None` restores the limit of the launch.
    pub fn set(&mut self, first: u32, engine: impl FnOnce() -> Option<u32>, limit: Option<u64>) {
        let wanted = limit.unwrap_or(self.launched).min(self.launched);
        if wanted != self.current
            && self.set_one(first, wanted)
            && engine().is_none_or(|pid| self.set_one(pid, wanted))
        {
            self.current = wanted;
        }
    }

    /// Whether the limit of this process could be set.
    fn set_one(&self, pid: u32, wanted: u64) -> bool {
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if process.is_none() {
            return false;
        }
        let rlimit = Rlimit {
            current: Some(wanted),
            maximum: Some(self.launched),
        };
        let set = rustix::process::prlimit(process, Resource::Fsize, rlimit);
        set.inspect_err(|error| tracing::warn!(%error, "the size of a session's files could not be bound"))
            .is_ok()
    }
}

/// Whether a descriptor is readable now, such as the pidfd of an ended process.
pub fn is_readable(descriptor: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
    rustix::event::poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Bytes of the unlinked files that the process has open, by device and inode.
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

/// Bytes of the unlinked files on `device` that the process has open.
pub fn unlinked_on(pid: u32, device: u64) -> u64 {
    let files = unlinked(pid).into_iter();
    files
        .filter(|((of, _), _)| *of == device)
        .map(|(_, bytes)| bytes)
        .sum()
}

/// The kernel's cached metadata of an open file. A request to the file system could hang.
fn stat_without_sync(descriptor: &Path) -> Option<Statx> {
    let fields = StatxFlags::TYPE | StatxFlags::NLINK | StatxFlags::INO | StatxFlags::BLOCKS;
    statx(CWD, descriptor, AtFlags::STATX_DONT_SYNC, fields).ok()
}
