//! Copies of the tree of tools and skills that every session may read.
//!
//! A session's Landlock rules are fixed at its start, but the tree changes later. So sessions read copies below one
//! directory.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::session_root;

/// Unused copies that stay on disk, because a session may need such a tree again.
const MAX_UNUSED: usize = 4;

#[derive(Debug)]
pub struct ToolTrees {
    directory: PathBuf,
    /// The most recently used copy is last.
    copies: Mutex<Vec<TreeCopy>>,
}

/// The directory of a copy. The copy stays on disk while a reference exists.
pub type TreeCopy = Arc<PathBuf>;

impl ToolTrees {
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            copies: Mutex::default(),
        }
    }

    /// The copy of a tree, made if missing. The name of a tree is a hash of its content.
    pub fn copy_of(&self, source: &Path) -> io::Result<TreeCopy> {
        let name = source.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let path = self.directory.join(name);
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = match copies.iter().position(|known| **known == path) {
            Some(found) => copies.remove(found),
            None => {
                // The path reaches sessions only after the copy is complete.
                copy_tree(source, &path)?;
                Arc::new(path)
            }
        };
        copies.push(Arc::clone(&copy));
        let is_unused = |copy: &TreeCopy| Arc::strong_count(copy) == 1;
        let surplus = copies
            .iter()
            .filter(|copy| is_unused(copy))
            .count()
            .saturating_sub(MAX_UNUSED);
        let old: Vec<TreeCopy> = copies
            .extract_if(.., |copy| is_unused(copy))
            .take(surplus)
            .collect();
        for copy in old {
            jail::keeper::remove_tree(&copy);
        }
        Ok(copy)
    }
}

/// Copies directories and files. Codeyard makes the tree, which contains nothing else.
fn copy_tree(source: &Path, target: &Path) -> io::Result<()> {
    session_root::make(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let target = target.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            fs::set_permissions(&target, Permissions::from_mode(0o644))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_copies_stay_and_the_most_recent_unused_ones() {
        let place = tempfile::tempdir().unwrap();
        let trees = ToolTrees::new(place.path().join("copies"));
        let copy = |name: &str| {
            let source = place.path().join(name);
            fs::create_dir_all(&source).unwrap();
            trees.copy_of(&source).unwrap()
        };
        let seen = copy("seen");
        let [unseen, asked] = ["unseen", "asked"].map(|name| copy(name).to_path_buf());
        for number in 0..10 {
            copy("asked");
            copy(&number.to_string());
        }
        assert!(seen.exists() && asked.exists());
        assert!(!unseen.exists());
        assert_eq!(
            fs::read_dir(place.path().join("copies")).unwrap().count(),
            MAX_UNUSED + 2
        );
    }
}
