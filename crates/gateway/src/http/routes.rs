//! Finds the HTTP request for a message of the surface: responses by id, progress by token, other messages by
//! listener.
//!
//! Requests get numbers of our own, because clients of a shared conversation may choose the same ids and tokens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::model::RequestId;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

use super::Clients;
use super::event_log::EventWriter;
use super::message_fields::{MessageFields, Repeated, replace};

/// Limit on unread messages besides the response; further messages are dropped.
const MOST_MESSAGES: usize = 256;

const PROGRESS_TOKEN: &[&str] = &["progressToken"];
const META_TOKEN: &[&str] = &["_meta", "progressToken"];
const META_SUBSCRIPTION: &[&str] = &["_meta", "io.modelcontextprotocol/subscriptionId"];
const REQUEST_ID: &[&str] = &["requestId"];

/// The waiting requests of one conversation.
#[derive(Debug, Default)]
pub(super) struct Routes {
    last: i64,
    requests: BTreeMap<i64, Waiting>,
    listener: Option<EventWriter>,
}

#[derive(Debug)]
struct Waiting {
    /// The client's own id and token.
    id: RequestId,
    token: Option<Box<RawValue>>,
    messages: mpsc::Sender<Vec<u8>>,
    answer: oneshot::Sender<Vec<u8>>,
}

/// A request in flight, with its incoming messages.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) number: i64,
    pub(super) messages: mpsc::Receiver<Vec<u8>>,
    pub(super) answer: oneshot::Receiver<Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RouteError {
    #[error(transparent)]
    Repeated(#[from] Repeated),
    #[error("a request with id {0} is under way already")]
    Duplicate(RequestId),
}

// === impl Routes ===

impl Routes {
    /// Replaces the id and token of a request by our number.
    pub(super) fn begin(
        &mut self,
        request: &mut MessageFields<'_>,
        clients: Clients,
    ) -> Result<Route, RouteError> {
        let id = request.id.clone().unwrap_or(RequestId::Number(0));
        if clients == Clients::One && self.number_of(&id).is_some() {
            return Err(RouteError::Duplicate(id));
        }
        let number = self.last + 1;
        let token = match &request.params {
            Some(params) => replace(params, META_TOKEN, &number_text(number))?,
            None => None,
        };
        let token = token.map(|replaced| {
            request.params = Some(Cow::Owned(replaced.object));
            replaced.old
        });
        self.last = number;
        request.id = Some(RequestId::Number(number));
        let (messages, waiting_messages) = mpsc::channel(MOST_MESSAGES);
        let (answer, waiting_answer) = oneshot::channel();
        self.requests.insert(
            number,
            Waiting {
                id,
                token,
                messages,
                answer,
            },
        );
        Ok(Route {
            number,
            messages: waiting_messages,
            answer: waiting_answer,
        })
    }

    /// Removes a request that has no waiting client.
    pub(super) fn end(&mut self, number: i64) {
        self.requests.remove(&number);
    }

    /// Replaces the client's id in a cancellation by our number.
    pub(super) fn translate_cancellation(
        &self,
        notification: &mut MessageFields<'_>,
    ) -> Result<(), Repeated> {
        let id = notification.param(REQUEST_ID);
        let id = id.and_then(|id| serde_json::from_str::<RequestId>(id.get()).ok());
        let number = id.and_then(|id| self.number_of(&id));
        if let (Some(number), Some(params)) = (number, &notification.params)
            && let Some(replaced) = replace(params, REQUEST_ID, &number_text(number))?
        {
            notification.params = Some(Cow::Owned(replaced.object));
        }
        Ok(())
    }

    /// Sets the stream for messages that are not related to a request.
    pub(super) fn listen(&mut self, listener: EventWriter) {
        self.listener = Some(listener);
    }

    /// Whether every request is answered.
    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }

    /// Delivers a message of the surface.
    pub(super) fn deliver(&mut self, message: &[u8]) {
        let Some(mut fields) = MessageFields::parse(message) else {
            return;
        };
        if fields.is_answer() {
            let number = number_in(fields.id.as_ref());
            if let Some(waiting) = number.and_then(|number| self.requests.remove(&number)) {
                waiting.answer(fields);
            }
            return;
        }
        let progress = fields.param(PROGRESS_TOKEN);
        let subscription = fields.param(META_SUBSCRIPTION);
        let number = progress.or(subscription).and_then(|text| text.get().parse().ok());
        match number {
            Some(number) => {
                if let Some(waiting) = self.requests.get(&number) {
                    waiting.translate(&mut fields);
                    waiting.message(fields.to_bytes());
                }
            }
            None => self.deliver_to_anybody(message),
        }
    }

    /// Delivers a message that names no request: to the only request, else to the listener, else to the oldest
    /// request. A listener whose stream was interrupted receives the message when it resumes.
    fn deliver_to_anybody(&self, message: &[u8]) {
        match (&self.listener, self.requests.values().next()) {
            (_, Some(only)) if self.requests.len() == 1 => only.message(message.to_vec()),
            (Some(listener), _) if listener.is_read() => listener.message(message),
            (_, Some(oldest)) => oldest.message(message.to_vec()),
            (Some(listener), None) => listener.message(message),
            (None, None) => {}
        }
    }

    fn number_of(&self, id: &RequestId) -> Option<i64> {
        let mut requests = self.requests.iter();
        requests.find_map(|(number, waiting)| (waiting.id == *id).then_some(*number))
    }
}

// === impl Waiting ===

impl Waiting {
    /// Restores the client's own id and token.
    fn translate(&self, fields: &mut MessageFields<'_>) {
        let own = [
            (PROGRESS_TOKEN, self.token.clone()),
            (META_SUBSCRIPTION, to_raw_value(&self.id).ok()),
        ];
        for (path, own) in own {
            let (Some(params), Some(own)) = (&fields.params, own) else {
                continue;
            };
            // A surface never repeats a key.
            if let Ok(Some(replaced)) = replace(params, path, &own) {
                fields.params = Some(Cow::Owned(replaced.object));
            }
        }
    }

    /// Queues a message. A client that does not read loses messages other than the response.
    fn message(&self, message: Vec<u8>) {
        let _ = self.messages.try_send(message);
    }

    fn answer(self, mut fields: MessageFields<'_>) {
        if let (Some(result), Ok(id)) = (&fields.result, to_raw_value(&self.id))
            && let Ok(Some(replaced)) = replace(result, META_SUBSCRIPTION, &id)
        {
            fields.result = Some(Cow::Owned(replaced.object));
        }
        fields.id = Some(self.id);
        // The receiver is dropped if the client has disconnected.
        let _ = self.answer.send(fields.to_bytes());
    }
}

fn number_in(id: Option<&RequestId>) -> Option<i64> {
    match id? {
        RequestId::Number(number) => Some(*number),
        RequestId::String(_) => None,
    }
}

fn number_text(number: i64) -> Box<RawValue> {
    // A number is always JSON.
    to_raw_value(&number).unwrap_or_default()
}
