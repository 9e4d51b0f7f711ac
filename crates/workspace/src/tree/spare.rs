//! The spare tree: equal to the current one, so that the next publication writes only what changed.

use std::sync::{PoisonError, TryLockError};

use super::build::{self, Unfinished};
use super::{Tree, Trees, sweep};
use crate::directory::Directory;
use crate::error::WorkspaceError;

/// Minimum number of files for a spare tree: linking fewer takes only milliseconds.
const WORTH: usize = 500;

impl Trees {
    /// The spare tree, unless it is missing or under construction.
    pub(super) fn take_spare(&self) -> Option<Unfinished> {
        match self.spare.try_lock() {
            Ok(mut spare) => spare.take(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Makes the spare tree equal to this tree.
    pub(super) fn make_spare(&self, root: &Directory, tree: &Tree) -> Result<(), WorkspaceError> {
        let mut place = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if tree.manifest.len() < WORTH {
            return Ok(());
        }
        if place
            .as_ref()
            .is_some_and(|spare| spare.manifest == *tree.manifest)
        {
            return Ok(());
        }
        let begun = match place.take() {
            Some(spare) => Some(spare),
            None => self.begin(root)?,
        };
        let Some(mut begun) = begun else { return Ok(()) };
        // Every file is in the tree.
        let made = build::change(&begun, &tree.manifest, Some(tree.source()), &|_| None);
        if let Err(error) = made {
            sweep::remove(root, begun.name.as_ref());
            return Err(error);
        }
        begun.manifest = (*tree.manifest).clone();
        *place = Some(begun);
        Ok(())
    }
}
