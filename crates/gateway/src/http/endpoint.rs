//! MCP's requests to one surface: POST, GET and DELETE in both eras.

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use surfaces::WireRules;
use types::bulk;

use super::conversation::{AskError, Conversation, Delivery, Exchange, ListenError, OnLeave};
use super::era::{self, Era, HEADER_MISMATCH, LAST_EVENT, SESSION};
use super::event_log::{EventReader, ResumeError};
use super::events::{self, Opening, StreamKind};
use super::http_refusal::{HttpRefusal, json};
use super::message_fields::MessageFields;
use super::sessions::Conversations;
use super::trace_header;
use crate::message;

/// Time without a response after which the client receives an event stream. Its head shows that a response will
/// follow.
const QUIET: Duration = Duration::from_secs(1);

/// The request whose stream stays open until the client leaves.
const SUBSCRIBE: &str = "subscriptions/listen";

/// One surface for the clients that share it.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) conversations: Conversations,
}

impl Endpoint {
    pub(super) fn new(conversations: Conversations) -> Endpoint {
        Endpoint { conversations }
    }

    /// POST: one message of the client.
    pub(super) async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Response {
        let answered = match parse(body) {
            Ok(mut message) => {
                trace_header::add(headers, &mut message);
                match era::era(headers, &message) {
                    Era::Modern => self.modern(headers, message).await,
                    Era::Legacy => self.legacy(headers, message).await,
                }
            }
            Err(refused) => Err(refused),
        };
        answered.unwrap_or_else(HttpRefusal::into_response)
    }

    /// GET: a session client's messages that are not related to a request, or the rest of an interrupted stream.
    pub(super) fn stream(&self, headers: &HeaderMap) -> Response {
        match self.listen(headers) {
            Ok((opening, reader)) => events::resumable(StreamKind::Standing, opening, reader),
            Err(refused) => refused.into_response(),
        }
    }

    /// DELETE: a client ends its session.
    pub(super) fn end(&self, headers: &HeaderMap) -> Response {
        let id = era::header(headers, SESSION).unwrap_or_default();
        match self.conversations.end(id) {
            true => StatusCode::OK.into_response(),
            false => HttpRefusal::no_session(None).into_response(),
        }
    }

    async fn modern(
        &self,
        headers: &HeaderMap,
        mut message: MessageFields<'_>,
    ) -> Result<Response, HttpRefusal> {
        if !message.is_request() {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        let tools = match message.method.as_deref() {
            Some("tools/call") => self.conversations.tools().await,
            _ => Arc::default(),
        };
        if let Some(why) = era::mismatch(headers, &message, &tools) {
            let error = ErrorData::new(ErrorCode(HEADER_MISMATCH), why, None);
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, error, message.id));
        }
        let conversation = self.conversations.shared();
        let asked = ask(&conversation, &mut message, OnLeave::Cancel).await?;
        let (first, exchange) = match first(asked, &message).await? {
            First::Answer(answer) => return Ok(json(era::status(Era::Modern, &message, &answer), answer)),
            First::Later(first, exchange) => (first, exchange),
        };
        let kind = match message.method.as_deref() {
            Some(SUBSCRIBE) => StreamKind::Standing,
            _ => StreamKind::Answer,
        };
        Ok(events::deliveries(kind, first, exchange))
    }

    async fn legacy(
        &self,
        headers: &HeaderMap,
        mut message: MessageFields<'_>,
    ) -> Result<Response, HttpRefusal> {
        if message.method.as_deref() == Some("initialize") && message.is_request() {
            return self.initialize(message).await;
        }
        let conversation = self.session(headers, message.id.clone())?;
        if era::is_wrong_version(headers) {
            let why = "`MCP-Protocol-Version` is not a revision with sessions";
            let error = ErrorData::invalid_request(why, None);
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, error, message.id));
        }
        if message.is_request() {
            let id = message.id.clone();
            let asked = ask(&conversation, &mut message, OnLeave::GoOn).await?;
            let (first, exchange) = match first(asked, &message).await? {
                First::Answer(answer) => return Ok(json(StatusCode::OK, answer)),
                First::Later(first, exchange) => (first, exchange),
            };
            let reader = exchange.into_stream(first);
            let reader = reader.map_err(|full| HttpRefusal::too_many(full, id))?;
            return Ok(events::resumable(StreamKind::Answer, opening(headers), reader));
        }
        conversation.tell(&mut message).await?;
        Ok(StatusCode::ACCEPTED.into_response())
    }

    /// Opens a session, if the surface agrees.
    async fn initialize(&self, mut message: MessageFields<'_>) -> Result<Response, HttpRefusal> {
        let id = message.id.clone();
        let (session, conversation) = self.conversations.begin().map_err(|full| {
            let error = ErrorData::new(ErrorCode(-32000), full.to_string(), None);
            HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, error, id.clone())
        })?;
        let mut exchange = ask(&conversation, &mut message, OnLeave::Cancel).await?;
        let answer = loop {
            match exchange.next().await {
                Some(Delivery::Answer(answer)) => break answer,
                // Drop the message: before its session opens, a client accepts only the response.
                Some(Delivery::Message(_)) => {}
                None => return Err(HttpRefusal::no_session(id)),
            }
        };
        let is_agreed = MessageFields::parse(&answer).is_some_and(|answer| answer.error.is_none());
        let mut response = json(StatusCode::OK, answer);
        if is_agreed && let Ok(session) = HeaderValue::from_str(&session.agree()) {
            response.headers_mut().insert(SESSION, session);
        }
        Ok(response)
    }

    fn listen(&self, headers: &HeaderMap) -> Result<(Opening, EventReader), HttpRefusal> {
        let conversation = self.session(headers, None)?;
        if !headers.contains_key(LAST_EVENT) {
            let reader = conversation.listen();
            let reader = reader.map_err(|full| HttpRefusal::too_many(full, None))?;
            return Ok((opening(headers), reader));
        }
        let last = era::header(headers, LAST_EVENT).unwrap_or_default();
        let reader = conversation.resume(last).map_err(|error| match error {
            ListenError::TooManyStreams(full) => HttpRefusal::too_many(full, None),
            ListenError::Resume(why) => {
                let status = match why {
                    ResumeError::Unknown => StatusCode::BAD_REQUEST,
                    ResumeError::Dropped => StatusCode::GONE,
                };
                HttpRefusal::new(status, ErrorData::invalid_request(why.to_string(), None), None)
            }
        })?;
        Ok((opening(headers), reader))
    }

    fn session(&self, headers: &HeaderMap, id: Option<RequestId>) -> Result<Arc<Conversation>, HttpRefusal> {
        match era::header(headers, SESSION) {
            Some(session) => self
                .conversations
                .session(session)
                .ok_or_else(|| HttpRefusal::no_session(id)),
            None => Err(HttpRefusal::bad(
                "`initialize` first, and send the `Mcp-Session-Id` that it gives".to_owned(),
                id,
            )),
        }
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<MessageFields<'_>, HttpRefusal> {
    const PLAIN: WireRules = WireRules { undecoded: &[] };
    let is_bounded = bulk::check(bytes, bulk::BUFFERED).is_ok();
    if let Some(message) = Some(bytes).filter(|_| is_bounded).and_then(MessageFields::parse) {
        return Ok(message);
    }
    match message::decode(bytes, PLAIN) {
        Err(rejection) => Err(HttpRefusal::new(
            StatusCode::BAD_REQUEST,
            rejection.error,
            rejection.id,
        )),
        Ok(_) => Err(HttpRefusal::bad("not a JSON-RPC message".to_owned(), None)),
    }
}

pub(super) async fn ask(
    conversation: &Arc<Conversation>,
    request: &mut MessageFields<'_>,
    on_leave: OnLeave,
) -> Result<Exchange, HttpRefusal> {
    let id = request.id.clone();
    let asked = conversation.ask(request, on_leave).await;
    asked.map_err(|error| match error {
        AskError::Route(why) => HttpRefusal::bad(why.to_string(), id),
        AskError::TooManyStreams(full) => HttpRefusal::too_many(full, id),
        AskError::TooManyRequests(full) => HttpRefusal::too_many(full, id),
        AskError::Ended(_) => HttpRefusal::no_session(id),
    })
}

/// The first part of a response.
enum First {
    /// The response arrived before any other message.
    Answer(Vec<u8>),
    /// The first message, if any; the response follows.
    Later(Option<Vec<u8>>, Exchange),
}

/// Waits at most [`QUIET`] for the first message.
async fn first(mut exchange: Exchange, request: &MessageFields<'_>) -> Result<First, HttpRefusal> {
    match tokio::time::timeout(QUIET, exchange.next()).await {
        Ok(Some(Delivery::Answer(answer))) => Ok(First::Answer(answer)),
        Ok(Some(Delivery::Message(message))) => Ok(First::Later(Some(message), exchange)),
        Ok(None) => Err(HttpRefusal::no_session(request.id.clone())),
        Err(_) => Ok(First::Later(None, exchange)),
    }
}

fn opening(headers: &HeaderMap) -> Opening {
    match era::begins_with_id(headers) {
        true => Opening::Id,
        false => Opening::Message,
    }
}
