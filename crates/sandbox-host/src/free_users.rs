//! The kernel users of a lease that have no session.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// A queue, so that a user is reused as late as possible.
#[derive(Debug)]
pub struct FreeUsers(Mutex<VecDeque<u32>>);

impl FreeUsers {
    /// All users are free.
    pub fn new(users: impl IntoIterator<Item = u32>) -> Self {
        Self(Mutex::new(users.into_iter().collect()))
    }

    /// Takes a user; `None` if all have sessions.
    pub fn take(&self) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Returns the user of an ended session.
    pub fn give_back(&self, user: u32) {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        users.push_back(user);
    }
}
