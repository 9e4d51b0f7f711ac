//! Copies of the tree of tools and skills, where every session may read: what a session may reach is fixed when it starts,
//! and the tree changes later.

use std::collections::VecDeque;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::place;

/// Copies that stay: a run that began with one of them still reads it.
const RECENT: usize = 8;

/// The copies.
#[derive(Debug)]
pub struct Trees {
    directory: PathBuf,
    recent: Mutex<VecDeque<PathBuf>>,
}

impl Trees {
    /// None yet.
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            recent: Mutex::default(),
        }
    }

    /// The copy of a tree whose name says what is in it; made if it is missing.
    pub fn copy_of(&self, source: &Path) -> io::Result<PathBuf> {
        let name = source.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let copy = self.directory.join(name);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = recent.iter().position(|known| *known == copy) {
            // Whatever is in use goes last.
            recent.remove(found);
            recent.push_back(copy.clone());
            return Ok(copy);
        }
        // Nobody sees it before it is whole: no session has been told of it.
        copy_tree(source, &copy)?;
        recent.push_back(copy.clone());
        if recent.len() > RECENT
            && let Some(old) = recent.pop_front()
        {
            jail::keeper::remove_tree(&old);
        }
        Ok(copy)
    }
}

/// Copies directories and files; the tree is codeyard's own and has nothing else.
fn copy_tree(source: &Path, target: &Path) -> io::Result<()> {
    place::make(target)?;
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
    fn the_copy_that_was_asked_for_least_recently_goes_first() {
        let place = tempfile::tempdir().unwrap();
        let trees = Trees::new(place.path().join("copies"));
        let copy = |name: &str| {
            let source = place.path().join(name);
            fs::create_dir_all(&source).unwrap();
            trees.copy_of(&source).unwrap()
        };
        let (first, second) = (copy("first"), copy("second"));
        for number in 0..RECENT - 1 {
            copy("first");
            copy(&number.to_string());
        }
        assert!(first.exists());
        assert!(!second.exists());
    }
}
