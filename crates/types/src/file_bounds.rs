//! How much the tools for files read and list at once.

/// Bounds of `fs_read` and `fs_browse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBounds {
    /// Bytes of the largest file that is read.
    pub read: u64,
    /// Entries of a listing.
    pub entries: EntryBounds,
}

/// Entries of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryBounds {
    /// If the request names no number; at most `most`.
    pub usual: usize,
    /// More are cut off.
    pub most: usize,
}

impl Default for FileBounds {
    /// 1 MiB.
    fn default() -> Self {
        Self {
            read: 1024 * 1024,
            entries: EntryBounds::default(),
        }
    }
}

impl Default for EntryBounds {
    /// 200, and 1000 at most.
    fn default() -> Self {
        Self {
            usual: 200,
            most: 1000,
        }
    }
}
