//! The files of a guest between runs: how large they may grow, and what it holds of files without a name.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, makedev, statx};
use rustix::process::{Pid, Resource, Rlimit};

/// `st_blocks` counts in these.
const BLOCK: u64 = 512;

/// The bound on each file that the first process of a guest writes, and what it starts. Only the host sets it: a filter
/// refuses the guest to change its limits.
#[derive(Debug)]
pub struct FileBound {
    usual: u64,
    now: u64,
}

impl FileBound {
    /// For a guest that was launched with this limit.
    pub fn new(usual: u64) -> Self {
        Self { usual, now: usual }
    }

    /// Bounds the process `pid`, which the caller knows to be alive; `None` is the limit of its launch.
    pub fn set(&mut self, pid: u32, most: Option<u64>) {
        let wanted = most.unwrap_or(self.usual).min(self.usual);
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if wanted == self.now || process.is_none() {
            return;
        }
        let limit = Rlimit {
            current: Some(wanted),
            maximum: Some(self.usual),
        };
        match rustix::process::prlimit(process, Resource::Fsize, limit) {
            Ok(_) => self.now = wanted,
            Err(error) => tracing::warn!(%error, "the size of a session's files could not be bound"),
        }
    }
}

/// Bytes of files on `device` that the process `pid` has open and that have no name; each file once.
pub fn unlinked(pid: u32, device: u64) -> u64 {
    let mut seen = HashSet::new();
    fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| known_of(&entry.path()))
        .filter(|file| FileType::from_raw_mode(file.stx_mode.into()).is_file() && file.stx_nlink == 0)
        .filter(|file| makedev(file.stx_dev_major, file.stx_dev_minor) == device && seen.insert(file.stx_ino))
        .map(|file| file.stx_blocks.saturating_mul(BLOCK))
        .sum()
}

/// What the kernel knows of an open file without asking its file system, which may be one that hangs.
fn known_of(descriptor: &Path) -> Option<Statx> {
    let of_interest = StatxFlags::TYPE | StatxFlags::NLINK | StatxFlags::INO | StatxFlags::BLOCKS;
    statx(CWD, descriptor, AtFlags::STATX_DONT_SYNC, of_interest).ok()
}
