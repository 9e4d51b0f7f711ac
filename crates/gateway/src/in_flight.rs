//! Ids of requests in flight: unique at any time, and limited in number.
//!
//! An id becomes free when its response is about to be written. A cancelled request's response is never written, so
//! its id becomes free when the handler has ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ErrorCode, ErrorData, RequestId};

/// Limit on requests in flight; further requests are refused, so that a client that reads no responses cannot fill the
/// memory.
const MAX_IN_FLIGHT: usize = 512;

/// Error code of our own refusals, from JSON-RPC's range for servers.
const BUSY: ErrorCode = ErrorCode(-32000);

#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<RequestId, Progress>>>);

#[derive(Debug, Default, Clone, Copy)]
struct Progress {
    is_cancelled: bool,
    is_handled: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InFlightError {
    #[error("Invalid request: a request with id {0} is under way already")]
    Duplicate(RequestId),
    #[error("{MAX_IN_FLIGHT} requests are under way already; wait for answers")]
    Full,
}

impl From<InFlightError> for ErrorData {
    fn from(error: InFlightError) -> Self {
        let code = match error {
            InFlightError::Duplicate(_) => ErrorCode::INVALID_REQUEST,
            InFlightError::Full => BUSY,
        };
        ErrorData::new(code, error.to_string(), None)
    }
}

/// Held by a request until its handler has ended.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "the handle works by being dropped")]
pub(crate) struct HandlerGuard(Arc<Handling>);

/// Held by an answer until it is about to be written; frees the id on drop.
#[derive(Debug)]
pub(crate) struct AnswerGuard {
    in_flight: InFlight,
    id: RequestId,
}

#[derive(Debug)]
struct Handling {
    in_flight: InFlight,
    id: RequestId,
}

impl InFlight {
    pub(crate) fn start(&self, id: &RequestId) -> Result<HandlerGuard, InFlightError> {
        let mut requests = self.lock();
        if requests.contains_key(id) {
            return Err(InFlightError::Duplicate(id.clone()));
        }
        if requests.len() >= MAX_IN_FLIGHT {
            return Err(InFlightError::Full);
        }
        requests.insert(id.clone(), Progress::default());
        Ok(HandlerGuard(Arc::new(Handling {
            in_flight: self.clone(),
            id: id.clone(),
        })))
    }

    /// Held by the answer until it is about to be written.
    pub(crate) fn answer_guard(&self, id: RequestId) -> AnswerGuard {
        AnswerGuard {
            in_flight: self.clone(),
            id,
        }
    }

    /// Marks a request whose response the client no longer wants.
    pub(crate) fn cancelled(&self, id: &RequestId) {
        self.update(id, |progress| progress.is_cancelled = true);
    }

    fn update(&self, id: &RequestId, update: impl FnOnce(&mut Progress)) {
        let mut requests = self.lock();
        if let Some(progress) = requests.get_mut(id) {
            update(progress);
            if progress.is_cancelled && progress.is_handled {
                requests.remove(id);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.id);
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        self.in_flight
            .update(&self.id, |progress| progress.is_handled = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    #[test]
    fn an_id_is_free_when_its_answer_is_written() {
        let requests = InFlight::default();
        let handling = requests.start(&id(1)).unwrap();
        assert_eq!(
            requests.start(&id(1)).unwrap_err(),
            InFlightError::Duplicate(id(1))
        );
        assert!(requests.start(&RequestId::String("1".into())).is_ok());
        drop(handling);
        let answer = requests.answer_guard(id(1));
        assert_eq!(
            requests.start(&id(1)).unwrap_err(),
            InFlightError::Duplicate(id(1)),
            "not written yet"
        );
        drop(answer);
        assert!(requests.start(&id(1)).is_ok());
    }

    #[test]
    fn a_cancelled_id_is_free_when_its_handler_has_ended() {
        let requests = InFlight::default();
        let handling = requests.start(&id(1)).unwrap();
        requests.cancelled(&id(1));
        assert_eq!(
            requests.start(&id(1)).unwrap_err(),
            InFlightError::Duplicate(id(1))
        );
        drop(handling);
        let handling = requests.start(&id(1)).unwrap();
        drop(handling);
        requests.cancelled(&id(1));
        assert!(
            requests.start(&id(1)).is_ok(),
            "cancelled between its end and its answer"
        );
        requests.cancelled(&id(99));
    }

    #[test]
    fn there_is_a_bound() {
        let requests = InFlight::default();
        let all: Vec<_> = (0..512)
            .map(|number| requests.start(&id(number)).unwrap())
            .collect();
        assert_eq!(requests.start(&id(512)).unwrap_err(), InFlightError::Full);
        drop(all);
        drop(requests.answer_guard(id(3)));
        assert!(requests.start(&id(512)).is_ok());
    }
}
