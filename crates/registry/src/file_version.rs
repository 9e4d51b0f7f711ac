//! A file's version from its metadata, to detect changes without reading the file.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use environment::{MAX_FILE, why_unreadable};

/// Resolution of file systems' clocks: changes within this time may have the same time stamp.
const TICK: Duration = Duration::from_millis(100);

/// A file's metadata at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileVersion {
    /// A regular file.
    File {
        device: u64,
        inode: u64,
        size: u64,
        /// Last change of the content, in seconds and nanoseconds.
        modified: (i64, i64),
        /// Last change of content or metadata, in seconds and nanoseconds.
        changed: (i64, i64),
        /// A further change would have a new time stamp.
        is_settled: bool,
    },
    /// A directory, a pipe or another type.
    Other,
    Unreadable(io::ErrorKind),
}

impl FileVersion {
    pub(crate) fn of(path: &Path) -> FileVersion {
        match std::fs::metadata(path) {
            Ok(metadata) => FileVersion::from(&metadata),
            Err(error) => FileVersion::Unreadable(error.kind()),
        }
    }

    /// The version of a directory entry; faster than by path.
    pub(crate) fn of_entry(entry: &DirEntry) -> FileVersion {
        match entry.metadata() {
            Ok(metadata) if !metadata.is_symlink() => FileVersion::from(&metadata),
            _ => FileVersion::of(&entry.path()),
        }
    }

    fn from(metadata: &Metadata) -> FileVersion {
        if !metadata.is_file() {
            return FileVersion::Other;
        }
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        FileVersion::File {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed,
            is_settled: is_settled(changed),
        }
    }

    /// Whether a program may still be writing the file.
    pub(crate) fn is_fresh(&self) -> bool {
        matches!(
            self,
            FileVersion::File {
                is_settled: false,
                ..
            }
        )
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(
            self,
            FileVersion::Unreadable(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        )
    }

    pub(crate) fn has_same_content(&self, now: &FileVersion) -> bool {
        match (self, now) {
            (
                FileVersion::File {
                    device,
                    inode,
                    size,
                    modified,
                    changed,
                    is_settled: true,
                },
                FileVersion::File {
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
            (FileVersion::File { .. }, _) => false,
            (known, now) => known == now,
        }
    }

    /// Why the file must not be opened: a pipe would block.
    pub(crate) fn refusal(&self) -> Option<String> {
        match self {
            FileVersion::File { size, .. } if *size > MAX_FILE => {
                Some(format!("the file is larger than {} MiB", MAX_FILE / 1024 / 1024))
            }
            FileVersion::File { .. } => None,
            FileVersion::Other => Some("this is not a regular file".to_owned()),
            FileVersion::Unreadable(kind) => Some(why_unreadable(&(*kind).into())),
        }
    }
}

/// Whether the time is more than a tick ago.
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
