//! How much a principal's files take, by looking at each: the measure where no kernel counts.

use std::collections::HashSet;

use rustix::fs::{FileType, Mode, OFlags, openat};
use types::Principal;

use crate::confined::{Bounds, DEEPEST, Seen, walk};
use crate::directory::Directory;
use crate::error::WorkspaceError;
use crate::layout::Workspaces;
use crate::name::encode;

/// Entries that a measure looks at where there is no bound: some seconds.
const MOST_ENTRIES: u64 = 2_000_000;

/// `st_blocks` counts in these.
const BLOCK: u64 = 512;

/// What a principal's files take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files, directories and whatever else has a name.
    pub files: u64,
    /// Whether everything was counted: there may be more than a measure looks at, or something that it cannot look into.
    pub complete: bool,
}

/// What a file system can still take, whoever writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files and directories.
    pub files: u64,
}

/// What a principal's files may take; 0 is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files and directories.
    pub files: u64,
}

impl Quota {
    /// Whether files of this measure are more than it allows. What could not be counted is.
    pub fn is_outgrown_by(self, usage: Usage) -> bool {
        let over = |bound: u64, used: u64| bound > 0 && used > bound;
        let bounded = self.bytes > 0 || self.files > 0;
        over(self.bytes, usage.bytes) || over(self.files, usage.files) || (bounded && !usage.complete)
    }
}

impl Workspaces {
    /// What one principal may keep.
    pub fn quota(&self) -> Quota {
        let config = &self.shared.config;
        Quota {
            bytes: config.quota,
            files: config.inodes,
        }
    }

    /// Room that the file system of the principals' files has, for whoever looks often; `None` if it does not say.
    pub fn room(&self) -> Option<FreeSpace> {
        let room = rustix::fs::statvfs(&self.shared.config.root).ok()?;
        Some(FreeSpace {
            bytes: room.f_bfree.saturating_mul(room.f_frsize),
            files: room.f_ffree,
        })
    }

    /// The file system of the principals' files, as `st_dev` names it.
    pub fn device(&self) -> Option<u64> {
        rustix::fs::stat(&self.shared.config.root)
            .ok()
            .map(|found| found.st_dev)
    }

    /// What a principal's files take now; nothing if there are none.
    ///
    /// # Errors
    /// If something else stands where they should be.
    pub fn measure(&self, principal: &Principal) -> Result<Usage, WorkspaceError> {
        let Some(root) = self.shared.existing_root()? else {
            return Ok(Usage {
                complete: true,
                ..Usage::default()
            });
        };
        match root.child(encode(&principal.to_string()).as_ref())? {
            Some(place) => Ok(self.measure_place(&place)),
            None => Ok(Usage {
                complete: true,
                ..Usage::default()
            }),
        }
    }

    /// What the files in one principal's directory take.
    pub(crate) fn measure_place(&self, place: &Directory) -> Usage {
        // As many as are allowed, with what codeyard itself makes there, and one that is too many.
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
                // Several names of one file are one file, also to the kernel's quota.
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
