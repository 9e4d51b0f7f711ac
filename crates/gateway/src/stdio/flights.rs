//! Requests under way by their id: none twice at once, and not more than can be kept.
//!
//! An id is free again when its answer is about to be written, or when the request was cancelled (its answer is never
//! written then) and its handler has ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::RequestId;

/// Requests under way at once; more are refused, so that a client that reads no answers cannot fill the memory.
pub(super) const MAX_IN_FLIGHT: usize = 512;

/// All requests under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Flights(Arc<Mutex<HashMap<RequestId, Progress>>>);

#[derive(Debug, Default, Clone, Copy)]
struct Progress {
    cancelled: bool,
    handled: bool,
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// A request of the same id is under way.
    Duplicate,
    /// [`MAX_IN_FLIGHT`] requests are under way.
    Full,
}

/// Held by the request until its handler has ended.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "the handle works by being dropped")]
pub(super) struct Flight(Arc<Handling>);

/// Held by the answer until it is about to be written; frees the id when it is dropped.
#[derive(Debug)]
pub(super) struct Landing {
    flights: Flights,
    id: RequestId,
}

#[derive(Debug)]
struct Handling {
    flights: Flights,
    id: RequestId,
}

impl Flights {
    pub(super) fn start(&self, id: &RequestId) -> Result<Flight, Refused> {
        let mut flights = self.lock();
        if flights.contains_key(id) {
            return Err(Refused::Duplicate);
        }
        if flights.len() >= MAX_IN_FLIGHT {
            return Err(Refused::Full);
        }
        flights.insert(id.clone(), Progress::default());
        Ok(Flight(Arc::new(Handling {
            flights: self.clone(),
            id: id.clone(),
        })))
    }

    /// What the answer carries until it is about to be written.
    pub(super) fn landing(&self, id: RequestId) -> Landing {
        Landing {
            flights: self.clone(),
            id,
        }
    }

    /// The client does not want the answer any more.
    pub(super) fn cancelled(&self, id: &RequestId) {
        self.note(id, |progress| progress.cancelled = true);
    }

    fn note(&self, id: &RequestId, change: impl FnOnce(&mut Progress)) {
        let mut flights = self.lock();
        if let Some(progress) = flights.get_mut(id) {
            change(progress);
            if progress.cancelled && progress.handled {
                flights.remove(id);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Progress>> {
        // Nothing panics while it holds the lock, and a map of ids has no broken state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.id);
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        self.flights.note(&self.id, |progress| progress.handled = true);
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
        let flights = Flights::default();
        let flight = flights.start(&id(1)).unwrap();
        assert_eq!(flights.start(&id(1)).unwrap_err(), Refused::Duplicate);
        assert!(flights.start(&RequestId::String("1".into())).is_ok());
        drop(flight);
        let landing = flights.landing(id(1));
        assert_eq!(
            flights.start(&id(1)).unwrap_err(),
            Refused::Duplicate,
            "not written yet"
        );
        drop(landing);
        assert!(flights.start(&id(1)).is_ok());
    }

    #[test]
    fn a_cancelled_id_is_free_when_its_handler_has_ended() {
        let flights = Flights::default();
        let flight = flights.start(&id(1)).unwrap();
        flights.cancelled(&id(1));
        assert_eq!(flights.start(&id(1)).unwrap_err(), Refused::Duplicate);
        drop(flight);
        let flight = flights.start(&id(1)).unwrap();
        drop(flight);
        flights.cancelled(&id(1));
        assert!(
            flights.start(&id(1)).is_ok(),
            "cancelled between its end and its answer"
        );
        flights.cancelled(&id(99));
    }

    #[test]
    fn there_is_a_bound() {
        let flights = Flights::default();
        let all: Vec<_> = (0..512)
            .map(|number| flights.start(&id(number)).unwrap())
            .collect();
        assert_eq!(flights.start(&id(512)).unwrap_err(), Refused::Full);
        drop(all);
        drop(flights.landing(id(3)));
        assert!(flights.start(&id(512)).is_ok());
    }
}
