//! Detects a file's changes without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

/// A file written within this time before a look may be written again in the same tick of the file system's clock.
const TICK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether both stamps belong to one file, whatever its content.
    pub(crate) fn is_of_same_file(&self, other: &Stamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether a further change would show.
    pub(crate) fn is_settled(&self) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let since_epoch = u64::try_from(seconds)
            .ok()
            .zip(u32::try_from(nanoseconds).ok())
            .map(|(seconds, nanoseconds)| Duration::new(seconds, nanoseconds));
        since_epoch
            .and_then(|time| SystemTime::UNIX_EPOCH.checked_add(time))
            .and_then(|moment| SystemTime::now().duration_since(moment).ok())
            .is_some_and(|age| age > TICK)
    }
}
