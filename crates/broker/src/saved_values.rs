//! What programs save for later sessions, and who is told of trouble with it.

use std::sync::{Mutex, PoisonError};

use store::{Saved, SavedError, Trouble};
use types::HostCallError;

use crate::error;

/// What is saved, and what was last told of trouble with it.
#[derive(Debug)]
pub(crate) struct SavedValues {
    pub(crate) saved: Saved,
    reported: Mutex<Option<Trouble>>,
}

// === impl SavedValues ===

impl SavedValues {
    pub(crate) fn new(saved: Saved) -> SavedValues {
        SavedValues {
            saved,
            reported: Mutex::default(),
        }
    }

    /// What the program is told; whoever runs codeyard is told once of trouble, with the place and the remedy.
    pub(crate) fn checked<T>(&self, done: Result<T, SavedError>) -> Result<T, HostCallError> {
        let trouble = match &done {
            Err(SavedError::Store(trouble)) => Some(trouble.clone()),
            Ok(_) => None,
            // That the database works was not seen.
            Err(_) => return done.map_err(|error| error::saved(&error)),
        };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if *reported != trouble {
            if let Some(trouble) = &trouble {
                tracing::warn!("tools and memories cannot be saved or loaded: {trouble}");
            }
            *reported = trouble;
        }
        done.map_err(|error| error::saved(&error))
    }
}
