//! The transport of revision 2024-11-05: answers arrive on the session's one stream, not in the response.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use rmcp::model::{ErrorCode, ErrorData};
use tokio::sync::mpsc;

use super::conversation::OnLeave;
use super::endpoint::{self, Endpoint};
use super::event_log::EventReader;
use super::events;
use super::http_refusal::HttpRefusal;

/// The parameter of the address for messages.
const SESSION_ID: &str = "session_id";

/// Reads the stream of a session, which ends when the reader is dropped.
#[derive(Debug)]
pub(super) struct SseReader {
    /// Messages that are not related to a request.
    events: EventReader,
    answers: mpsc::Receiver<Vec<u8>>,
    session: SseSession,
}

/// Ends the session on drop.
#[derive(Debug)]
struct SseSession {
    endpoint: Arc<Endpoint>,
    id: String,
}

/// GET: opens a session. `messages` is the path to which the client sends its messages.
pub(super) fn open(endpoint: &Arc<Endpoint>, messages: &str) -> Response {
    match SseReader::open(endpoint) {
        Ok(reader) => {
            let address = format!("{messages}?{SESSION_ID}={}", reader.session.id);
            events::older(&address, reader)
        }
        Err(refused) => refused.into_response(),
    }
}

/// POST: one message of the client.
pub(super) async fn message(endpoint: &Endpoint, query: &str, body: &[u8]) -> Response {
    match accept(endpoint, query, body).await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refused) => refused.into_response(),
    }
}

async fn accept(endpoint: &Endpoint, query: &str, body: &[u8]) -> Result<(), HttpRefusal> {
    let mut message = endpoint::parse(body)?;
    let conversation = session_id(query).and_then(|id| endpoint.conversations.session(id));
    let streamed = conversation.and_then(|conversation| Some((conversation.answers()?, conversation)));
    let (answers, conversation) = streamed.ok_or_else(|| HttpRefusal::no_session(message.id.clone()))?;
    if message.is_request() {
        let exchange = endpoint::ask(&conversation, &mut message, OnLeave::Cancel).await?;
        exchange.forward(answers);
        return Ok(());
    }
    Ok(conversation.tell(&mut message).await?)
}

fn session_id(query: &str) -> Option<&str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name == SESSION_ID).then_some(value))
}

// === impl SseReader ===

impl SseReader {
    fn open(endpoint: &Arc<Endpoint>) -> Result<SseReader, HttpRefusal> {
        let (opening, conversation) = endpoint.conversations.begin().map_err(|full| {
            let error = ErrorData::new(ErrorCode(-32000), full.to_string(), None);
            HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, error, None)
        })?;
        let (events, answers) = conversation
            .listen_to_all()
            .map_err(|full| HttpRefusal::too_many(full, None))?;
        let session = SseSession {
            endpoint: Arc::clone(endpoint),
            id: opening.agree(),
        };
        Ok(SseReader {
            events,
            answers,
            session,
        })
    }

    /// The next message; `None` once the surface has ended. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        tokio::select! {
            biased;
            Some(answer) = self.answers.recv() => Some(answer),
            event = self.events.next() => match event {
                Some((_, message)) => Some(message.to_vec()),
                None => self.answers.try_recv().ok(),
            },
        }
    }
}

impl Drop for SseSession {
    fn drop(&mut self) {
        self.endpoint.conversations.end(&self.id);
    }
}
