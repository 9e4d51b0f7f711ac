//! `/mcp`: POST, GET and DELETE in both eras.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, delete, get, post};
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use surfaces::{ClientResponses, WireRules};
use types::bulk;

use super::body::BodyReader;
use super::connections::ConnectionHandle;
use super::conversation::{
    AskError, Conversation, Delivery, Exchange, ListenError, OnLeave, TellError, TooManyStreams,
};
use super::era::{self, Era, HEADER_MISMATCH, LAST_EVENT, SESSION};
use super::event_log::{EventReader, ResumeError};
use super::events::{self, Opening};
use super::guard::EntryGuard;
use super::message_fields::MessageFields;
use super::sessions::Conversations;
use crate::{message, reply};

/// Time without a response after which the client receives an event stream. Its head shows that a response will
/// follow.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Endpoint {
    guard: EntryGuard,
    pub(super) conversations: Conversations,
    bodies: BodyReader,
}

/// A request that is refused.
#[derive(Debug)]
struct HttpRefusal {
    status: StatusCode,
    error: Box<ErrorData>,
    id: Option<RequestId>,
}

pub(super) fn router(endpoint: Arc<Endpoint>) -> Router {
    Router::new()
        .route(
            "/mcp",
            post(answer)
                .merge(get(listen))
                .merge(delete(end))
                .fallback(no_method),
        )
        .fallback(any(no_page))
        .layer(middleware::from_fn_with_state(Arc::clone(&endpoint), guarded))
        .with_state(endpoint)
}

/// Refuses a request by its head, before the body is read.
async fn guarded(State(endpoint): State<Arc<Endpoint>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = endpoint.guard.check(request.headers()) {
        let mut response = (refusal.status(), refusal.to_string()).into_response();
        if refusal.status() == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer realm=\"codeyard\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        return response;
    }
    next.run(request).await
}

async fn no_page() -> Response {
    (StatusCode::NOT_FOUND, "the only page is /mcp").into_response()
}

async fn no_method() -> Response {
    let allowed = [(ALLOW, "POST, GET, DELETE")];
    (
        StatusCode::METHOD_NOT_ALLOWED,
        allowed,
        "/mcp takes POST, GET and DELETE",
    )
        .into_response()
}

/// POST: one message of the client.
async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let bytes = match endpoint.bodies.read(&head.headers, body).await {
        Ok(bytes) => bytes,
        Err(error) => return (error.status(), error.to_string()).into_response(),
    };
    let answering = async {
        let answered = match parse(&bytes) {
            Ok(message) => match era::era(&head.headers, &message) {
                Era::Modern => endpoint.modern(&head.headers, message).await,
                Era::Legacy => endpoint.legacy(&head.headers, message).await,
            },
            Err(refused) => Err(refused),
        };
        answered.unwrap_or_else(HttpRefusal::into_response)
    };
    under_way(&head.extensions, answering).await
}

/// GET: a session client's messages that are not related to a request, or the rest of an interrupted stream.
async fn listen(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let headers = request.headers();
    let listening = async {
        match endpoint.listen(headers) {
            Ok((opening, reader)) => events::resumable(opening, reader),
            Err(_) if !headers.contains_key(SESSION) => no_method().await,
            Err(refused) => refused.into_response(),
        }
    };
    under_way(request.extensions(), listening).await
}

/// Keeps the connection open until the response is sent.
async fn under_way(extensions: &Extensions, answering: impl Future<Output = Response>) -> Response {
    let request = extensions.get::<ConnectionHandle>().map(ConnectionHandle::begin);
    let response = answering.await;
    match request {
        Some(request) => request.until_sent(response),
        None => response,
    }
}

/// DELETE: a client ends its session.
async fn end(State(endpoint): State<Arc<Endpoint>>, headers: HeaderMap) -> Response {
    let id = era::header(&headers, SESSION).unwrap_or_default();
    match endpoint.conversations.end(id) {
        true => StatusCode::OK.into_response(),
        false => HttpRefusal::no_session(None).into_response(),
    }
}

impl Endpoint {
    pub(super) fn new(guard: EntryGuard, conversations: Conversations) -> Endpoint {
        Endpoint {
            guard,
            conversations,
            bodies: BodyReader::new(),
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
        Ok(events::deliveries(first, exchange))
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
            let reader = reader.map_err(|full| HttpRefusal::too_many_streams(full, id))?;
            return Ok(events::resumable(opening(headers), reader));
        }
        let told = conversation.tell(&mut message).await;
        told.map_err(|error| match error {
            TellError::Repeated(twice) => HttpRefusal::bad(twice.to_string(), None),
            TellError::Ended(_) => HttpRefusal::no_session(None),
        })?;
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
            let reader = reader.map_err(|full| HttpRefusal::too_many_streams(full, None))?;
            return Ok((opening(headers), reader));
        }
        let last = era::header(headers, LAST_EVENT).unwrap_or_default();
        let reader = conversation.resume(last).map_err(|error| match error {
            ListenError::TooManyStreams(full) => HttpRefusal::too_many_streams(full, None),
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

fn parse(bytes: &[u8]) -> Result<MessageFields<'_>, HttpRefusal> {
    const PLAIN: WireRules = WireRules {
        undecoded: &[],
        responses: ClientResponses::Deliver,
    };
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

async fn ask(
    conversation: &Arc<Conversation>,
    request: &mut MessageFields<'_>,
    on_leave: OnLeave,
) -> Result<Exchange, HttpRefusal> {
    let id = request.id.clone();
    let asked = conversation.ask(request, on_leave).await;
    asked.map_err(|error| match error {
        AskError::Route(why) => HttpRefusal::bad(why.to_string(), id),
        AskError::TooManyStreams(full) => HttpRefusal::too_many_streams(full, id),
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

fn json(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn opening(headers: &HeaderMap) -> Opening {
    match era::begins_with_id(headers) {
        true => Opening::Id,
        false => Opening::Message,
    }
}

// === impl HttpRefusal ===

impl HttpRefusal {
    fn new(status: StatusCode, error: ErrorData, id: Option<RequestId>) -> HttpRefusal {
        HttpRefusal {
            status,
            error: Box::new(error),
            id,
        }
    }

    fn bad(why: String, id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::invalid_request(format!("Invalid request: {why}"), None);
        HttpRefusal::new(StatusCode::BAD_REQUEST, error, id)
    }

    /// The session id is unknown, or the session has ended.
    fn no_session(id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::new(
            ErrorCode(-32001),
            "the session is unknown or has ended; `initialize` opens one",
            None,
        );
        HttpRefusal::new(StatusCode::NOT_FOUND, error, id)
    }

    /// A limit was reached; a later attempt may succeed.
    fn too_many_streams(full: TooManyStreams, id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::new(ErrorCode(-32000), full.to_string(), None);
        HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, error, id)
    }

    fn into_response(self) -> Response {
        let body = reply::encode_error(&self.error, &self.id).unwrap_or_default();
        let mut response = json(self.status, body);
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
