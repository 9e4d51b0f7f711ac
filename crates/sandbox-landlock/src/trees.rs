//! Copies of the tree of tools and skills, where every session may read: what a session may reach is fixed when it starts,
//! and the tree changes later.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::place;

/// Copies that stay though no session sees them: what comes back is there at once.
const KEPT: usize = 4;

/// The copies.
#[derive(Debug)]
pub struct Trees {
    directory: PathBuf,
    /// The one that was asked for last comes last.
    copies: Mutex<Vec<Copied>>,
}

/// The directory of a copy, which stays as long as somebody holds this.
pub type Copied = Arc<PathBuf>;

impl Trees {
    /// None yet.
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            copies: Mutex::default(),
        }
    }

    /// The copy of a tree whose name says what is in it; made if it is missing.
    pub fn copy_of(&self, source: &Path) -> io::Result<Copied> {
        let name = source.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let path = self.directory.join(name);
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = match copies.iter().position(|known| **known == path) {
            Some(found) => copies.remove(found),
            None => {
                // Nobody sees it before it is whole: no session has been told of it.
                copy_tree(source, &path)?;
                Arc::new(path)
            }
        };
        copies.push(Arc::clone(&copy));
        let unseen = |copy: &Copied| Arc::strong_count(copy) == 1;
        let surplus = copies
            .iter()
            .filter(|copy| unseen(copy))
            .count()
            .saturating_sub(KEPT);
        let old: Vec<Copied> = copies.extract_if(.., |copy| unseen(copy)).take(surplus).collect();
        for copy in old {
            jail::keeper::remove_tree(&copy);
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
    fn what_is_seen_stays_and_of_the_others_those_that_were_asked_for_last() {
        let place = tempfile::tempdir().unwrap();
        let trees = Trees::new(place.path().join("copies"));
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
            KEPT + 2
        );
    }
}
