//! Whether a file has changed, without reading it.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::host::MAX_FILE;
use crate::mistakes::why_unreadable;

/// A file that was written within this time before it was looked at may be written again within the same tick of the
/// file system's clock.
const TICK: Duration = Duration::from_millis(100);

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// A regular file.
    File {
        device: u64,
        inode: u64,
        size: u64,
        /// Seconds and nanoseconds of the last change of its content.
        modified: (i64, i64),
        /// The same of its last change of any kind.
        changed: (i64, i64),
        /// Whether a further change would show.
        is_settled: bool,
    },
    /// A directory, a pipe or the like.
    Other,
    /// Its state cannot be read.
    Unreadable(io::ErrorKind),
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Stamp {
        match std::fs::metadata(path) {
            Ok(metadata) => Stamp::from(&metadata),
            Err(error) => Stamp::Unreadable(error.kind()),
        }
    }

    /// The same for an entry of a directory that is being read, which is a little faster.
    pub(crate) fn of_entry(entry: &DirEntry) -> Stamp {
        match entry.metadata() {
            Ok(metadata) if !metadata.is_symlink() => Stamp::from(&metadata),
            _ => Stamp::of(&entry.path()),
        }
    }

    fn from(metadata: &Metadata) -> Stamp {
        if !metadata.is_file() {
            return Stamp::Other;
        }
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Stamp::File {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed,
            is_settled: is_settled(changed),
        }
    }

    /// Whether the file may still be being written.
    pub(crate) fn is_fresh(&self) -> bool {
        matches!(
            self,
            Stamp::File {
                is_settled: false,
                ..
            }
        )
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(
            self,
            Stamp::Unreadable(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        )
    }

    /// Whether the file that had this stamp and now has the other one still holds the same.
    pub(crate) fn holds(&self, now: &Stamp) -> bool {
        match (self, now) {
            (
                Stamp::File {
                    device,
                    inode,
                    size,
                    modified,
                    changed,
                    is_settled: true,
                },
                Stamp::File {
                    device: device_now,
                    inode: inode_now,
                    size: size_now,
                    modified: modified_now,
                    changed: changed_now,
                    ..
                },
            ) => {
                (device, inode, size, modified, changed)
                    == (device_now, inode_now, size_now, modified_now, changed_now)
            }
            (Stamp::File { .. }, _) => false,
            (known, now) => known == now,
        }
    }

    /// Why the file need not be opened; a pipe would be waited for.
    pub(crate) fn refusal(&self) -> Option<String> {
        match self {
            Stamp::File { size, .. } if *size > MAX_FILE => {
                Some(format!("the file is larger than {} MiB", MAX_FILE / 1024 / 1024))
            }
            Stamp::File { .. } => None,
            Stamp::Other => Some("this is no regular file".to_owned()),
            Stamp::Unreadable(kind) => Some(why_unreadable(&(*kind).into())),
        }
    }
}

/// Whether that moment is long enough ago.
fn is_settled((seconds, nanoseconds): (i64, i64)) -> bool {
    let since_epoch = u64::try_from(seconds)
        .ok()
        .zip(u32::try_from(nanoseconds).ok())
        .map(|(seconds, nanoseconds)| Duration::new(seconds, nanoseconds));
    let moment = since_epoch.and_then(|time| SystemTime::UNIX_EPOCH.checked_add(time));
    moment
        .and_then(|moment| SystemTime::now().duration_since(moment).ok())
        .is_some_and(|age| age > TICK)
}
