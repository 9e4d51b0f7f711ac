//! The requests of a modern client that are under way: each can carry questions of its server back with its answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use upstream::Refusal;

use super::client::{INTERNAL_ERROR, METHOD_NOT_FOUND, MOST_QUESTIONS};

/// A question of a server, and where its answer goes.
#[derive(Debug)]
pub(super) struct Posed {
    pub(super) method: String,
    pub(super) params: Option<Value>,
    pub(super) reply: oneshot::Sender<Value>,
}

/// What a request says of itself.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// What the client can be asked in its answer.
    pub(super) capabilities: Map<String, Value>,
    /// Whether it wants to hear what its server logs.
    pub(super) wants_logs: bool,
}

/// All requests under way.
#[derive(Debug, Default)]
pub(super) struct Desk {
    seats: Mutex<Seats>,
}

#[derive(Debug, Default)]
struct Seats {
    count: u64,
    /// Oldest first.
    taken: BTreeMap<u64, Seat>,
}

#[derive(Debug)]
struct Seat {
    server: String,
    terms: Terms,
    /// Whether the client has been asked something for it and has not come again.
    is_parked: bool,
    questions: mpsc::Sender<Posed>,
}

/// The place of one request, for as long as this lives.
#[derive(Debug)]
pub(super) struct Seated {
    desk: Arc<Desk>,
    number: u64,
}

impl Desk {
    /// Notes a request to that server; what the server asks meanwhile comes out of the receiver.
    pub(super) fn seat(self: &Arc<Self>, server: &str, terms: Terms) -> (Seated, mpsc::Receiver<Posed>) {
        let (questions, receiver) = mpsc::channel(MOST_QUESTIONS);
        let mut seats = self.seats();
        seats.count += 1;
        let number = seats.count;
        let server = server.to_owned();
        seats.taken.insert(
            number,
            Seat {
                server,
                terms,
                is_parked: false,
                questions,
            },
        );
        let desk = Arc::clone(self);
        (Seated { desk, number }, receiver)
    }

    /// Whether any request to that server wants to hear what it logs.
    pub(super) fn wants_logs(&self, server: &str) -> bool {
        let seats = self.seats();
        let mut taken = seats.taken.values();
        taken.any(|seat| seat.server == server && seat.terms.wants_logs)
    }

    /// Has a request to that server whose client can answer carry the question: one that is waited for, or else the last one
    /// that is parked. Which request a question is about is not part of the protocol; all of them are the same client's.
    pub(super) async fn pose(
        &self,
        server: &str,
        capability: &str,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, Refusal> {
        let carrier = {
            let seats = self.seats();
            let taken = seats.taken.values();
            taken
                .filter(|seat| seat.server == server && seat.terms.capabilities.contains_key(capability))
                .max_by_key(|seat| !seat.is_parked)
                .map(|seat| seat.questions.clone())
        };
        let Some(carrier) = carrier else {
            return Err(Refusal {
                code: METHOD_NOT_FOUND,
                message: format!(
                    "{method}: no call is under way whose client declared the capability '{capability}'"
                ),
                data: None,
            });
        };
        let (reply, answer) = oneshot::channel();
        let posed = Posed {
            method,
            params,
            reply,
        };
        // Whether it arrives or not, the answer tells.
        let _ = carrier.try_send(posed);
        answer.await.map_err(|_| Refusal {
            code: INTERNAL_ERROR,
            message: "the client did not answer before its call was over".to_owned(),
            data: None,
        })
    }

    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seated {
    /// Whether its client has been asked and has not come again.
    pub(super) fn set_parked(&self, is_parked: bool) {
        if let Some(seat) = self.desk.seats().taken.get_mut(&self.number) {
            seat.is_parked = is_parked;
        }
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.desk.seats().taken.remove(&self.number);
    }
}
