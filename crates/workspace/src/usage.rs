//! Measures a principal's files by visiting each file, if the kernel does not count them.

use std::collections::HashSet;

use rustix::fs::{FileType, Mode, OFlags, openat};
use types::Principal;

use crate::confined::{Bounds, DEEPEST, Seen, walk};
use crate::directory::Directory;
use crate::error::WorkspaceError;
use crate::layout::Workspaces;

/// Most entries that a measurement visits without a bound on files. Visiting them takes some seconds.
pub(crate) const MOST_ENTRIES: u64 = 2_000_000;

/// Unit of `st_blocks`, in bytes.
const BLOCK: u64 = 512;

/// Size of a principal's files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files, directories and other entries.
    pub files: u64,
    /// Whether everything was counted: neither the bound on entries nor an unreadable directory stopped the walk.
    pub complete: bool,
}

/// Free space of a file system, available to any writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files and directories.
    pub files: u64,
}

/// Bounds of a principal's files; 0 is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files and directories.
    pub files: u64,
}

impl Quota {
    /// Whether this usage exceeds the quota. An incomplete count exceeds it too.
    pub fn is_outgrown_by(self, usage: Usage) -> bool {
        let over = |bound: u64, used: u64| bound > 0 && used > bound;
        let bounded = self.bytes > 0 || self.files > 0;
        over(self.bytes, usage.bytes) || over(self.files, usage.files) || (bounded && !usage.complete)
    }
}

impl Workspaces {
    /// One principal's bounds.
    pub fn quota(&self) -> Quota {
        let config = &self.shared.config;
        Quota {
            bytes: config.quota,
            files: config.inodes,
        }
    }

    /// Free space of the principals' file system, cheap to read; `None` if unknown.
    pub fn room(&self) -> Option<FreeSpace> {
        let room = rustix::fs::statvfs(&self.shared.config.root).ok()?;
        Some(FreeSpace {
            bytes: room.f_bfree.saturating_mul(room.f_frsize),
            files: room.f_ffree,
        })
    }

    /// `st_dev` of the principals' file system; `None` if unknown.
    pub fn device(&self) -> Option<u64> {
        rustix::fs::stat(&self.shared.config.root)
            .ok()
            .map(|found| found.st_dev)
    }

    /// Current size of a principal's files; zero if there are none.
    ///
    /// # Errors
    /// If something else is in the place of their directory.
    pub fn measure(&self, principal: &Principal) -> Result<Usage, WorkspaceError> {
        match self.shared.existing_place(principal)? {
            Some(place) => Ok(self.measure_place(&place)),
            None => Ok(Usage {
                complete: true,
                ..Usage::default()
            }),
        }
    }

    /// Size of the files in one principal's directory.
    pub(crate) fn measure_place(&self, place: &Directory) -> Usage {
        // Visit the allowed entries, codeyard's own entries, and one entry more to detect an excess.
        let entries = match self.shared.config.inodes {
            0 => MOST_ENTRIES,
            inodes => inodes.saturating_add(16).min(MOST_ENTRIES),
        };
        let mut usage = Usage::default();
        let mut linked = HashSet::new();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(top) = openat(place, ".", flags, Mode::empty()) else {
            return usage;
        };
        let seen = walk(
            &top,
            Bounds {
                entries,
                depth: DEEPEST,
            },
            |met| {
                usage.files += 1;
                let stat = met.stat;
                // Hard links of one file count once, as in the kernel's quota.
                let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
                if directory || stat.st_nlink <= 1 || linked.insert((stat.st_dev, stat.st_ino)) {
                    usage.bytes += u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(BLOCK);
                }
            },
        );
        usage.complete = seen == Seen::All;
        usage
    }
}
