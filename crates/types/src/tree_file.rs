//! Files of the tree of tools and skills, whose content is made only where it is needed.

use std::fmt;

/// Stands in a file's content for the time at which the file is written first, which is as long.
pub const WRITTEN_AT: &str = "0000-00-00T00:00:00Z";

/// One file of a tree that sessions share.
pub struct TreeFile<'a> {
    /// Differs from the key of any other content of this file.
    pub key: [u8; 32],
    make: Box<dyn Fn() -> Vec<u8> + 'a>,
}

// === impl TreeFile ===

impl<'a> TreeFile<'a> {
    /// A file with a key of what `make` reads.
    pub fn new(key: [u8; 32], make: impl Fn() -> Vec<u8> + 'a) -> TreeFile<'a> {
        TreeFile {
            key,
            make: Box::new(make),
        }
    }

    /// Makes the content, which may contain [`WRITTEN_AT`] once.
    pub fn content(&self) -> Vec<u8> {
        (self.make)()
    }
}

impl fmt::Debug for TreeFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeFile")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
