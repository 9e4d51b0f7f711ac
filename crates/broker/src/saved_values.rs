//! Tools and memories that programs save, and the reporting of database errors.

use std::sync::{Mutex, PoisonError};

use store::{Saved, SavedError, Trouble};
use types::HostCallError;

use crate::error;

/// Saved tools and memories, with the last logged database error.
#[derive(Debug)]
pub(crate) struct SavedValues {
    pub(crate) saved: Saved,
    logged: Mutex<Option<Trouble>>,
}

// === impl SavedValues ===

impl SavedValues {
    pub(crate) fn new(saved: Saved) -> SavedValues {
        SavedValues {
            saved,
            logged: Mutex::default(),
        }
    }

    /// Converts an error for the program. Logs a database error with its remedy, once per distinct error.
    pub(crate) fn checked<T>(&self, done: Result<T, SavedError>) -> Result<T, HostCallError> {
        let trouble = match &done {
            Err(SavedError::Store(trouble)) => Some(trouble.clone()),
            Ok(_) => None,
            // The request was refused before the database was used.
            Err(_) => return done.map_err(|error| error::saved(&error)),
        };
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if *logged != trouble {
            if let Some(trouble) = &trouble {
                tracing::warn!("tools and memories cannot be saved or loaded: {trouble}");
            }
            *logged = trouble;
        }
        done.map_err(|error| error::saved(&error))
    }
}
