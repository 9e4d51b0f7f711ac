//! Calls that wait for their client to return with answers, by unguessable handles that are valid once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;

use crate::error::RequestError;

/// How long a call stays parked. A client that has not returned by then has abandoned the call.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The parked calls of one client. A call that its client abandons is dropped.
pub(crate) struct ParkedCalls<T> {
    /// Of every handle, so that no `requestState` of a server is taken for one.
    prefix: &'static str,
    calls: Arc<Mutex<HashMap<String, ParkedCall<T>>>>,
}

struct ParkedCall<T> {
    call: T,
    /// Removes the call after [`TIMEOUT`].
    _timer: AbortOnDropHandle<()>,
}

// === impl ParkedCalls ===

impl<T: Send + 'static> ParkedCalls<T> {
    pub(crate) fn new(prefix: &'static str) -> Self {
        Self {
            prefix,
            calls: Arc::default(),
        }
    }

    /// A new handle for [`ParkedCalls::park`].
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn handle(&self) -> Result<String, getrandom::Error> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret)?;
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{}{secret}", self.prefix))
    }

    pub(crate) fn park(&self, handle: String, call: T) {
        let timer = tokio::spawn(expire(Arc::downgrade(&self.calls), handle.clone()));
        let _timer = AbortOnDropHandle::new(timer);
        lock(&self.calls).insert(handle, ParkedCall { call, _timer });
    }

    /// The parked call with this `requestState`; `None` if the state is no handle of this list.
    ///
    /// # Errors
    /// The handle was used before, has expired, or was invented; or `is_same` says that the request repeats another call,
    /// which is dropped.
    pub(crate) fn take(
        &self,
        state: Option<&str>,
        is_same: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>, RequestError> {
        let Some(handle) = state.filter(|state| state.starts_with(self.prefix)) else {
            return Ok(None);
        };
        let parked = lock(&self.calls).remove(handle).ok_or(RequestError::RequestState(
            "is unknown or has expired: it is valid once, for five minutes, in the process that gave it; call again \
             without it",
        ))?;
        match is_same(&parked.call) {
            true => Ok(Some(parked.call)),
            false => Err(RequestError::RequestState(
                "belongs to another call, which has been given up",
            )),
        }
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.calls).len()
    }
}

impl<T> fmt::Debug for ParkedCalls<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkedCalls")
            .field("calls", &lock(&self.calls).len())
            .finish_non_exhaustive()
    }
}

fn lock<T>(calls: &Mutex<HashMap<String, ParkedCall<T>>>) -> MutexGuard<'_, HashMap<String, ParkedCall<T>>> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops a call whose client has not returned in time.
async fn expire<T>(calls: Weak<Mutex<HashMap<String, ParkedCall<T>>>>, handle: String) {
    tokio::time::sleep(TIMEOUT).await;
    let expired = calls.upgrade().and_then(|calls| lock(&calls).remove(&handle));
    drop(expired);
}
