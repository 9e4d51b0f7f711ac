//! `/mcp`: what POST, GET and DELETE of both eras do.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, delete, get, post};
use futures_util::stream::{self, Stream};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use surfaces::{ClientResponses, WireRules};
use tokio::sync::Semaphore;
use types::bulk;

use super::conversation::{AskError, Conversation, Delivery, Exchange, OnLeave, TellError};
use super::era::{self, Era, HEADER_MISMATCH, SESSION};
use super::guard::EntryGuard;
use super::message_fields::MessageFields;
use super::sessions::Conversations;
use crate::lines::MAX_LINE;
use crate::{message, reply};

/// Bytes of a body that is read at any time; of larger ones, [`MOST_LARGE`] are read at once.
const SMALL_BODY: u64 = 64 * 1024;

/// Larger bodies that are read at once, so that they take no more than so many times the longest one.
const MOST_LARGE: usize = 8;

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long an answer may take before the client gets events: a head that says that something will come.
const QUIET: Duration = Duration::from_secs(1);

/// Between two signs of life on a stream that has nothing to say.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What answers requests.
#[derive(Debug)]
pub(super) struct Endpoint {
    guard: EntryGuard,
    pub(super) conversations: Conversations,
    large_bodies: Semaphore,
}

/// A request that goes no further.
#[derive(Debug)]
struct HttpRefusal {
    status: StatusCode,
    error: Box<ErrorData>,
    id: Option<RequestId>,
}

/// Why a body is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum BodyError {
    #[error("`Content-Type` must be application/json")]
    Type,
    #[error("`Content-Encoding` is not taken; send the body as it is")]
    Encoding,
    #[error("the body is not whole, or has more than {MAX_LINE} bytes")]
    TooLarge,
    #[error("the body took too long")]
    TooSlow,
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

/// Turns a request away before anything of it but its head is read.
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
    let bytes = match endpoint.read(&head.headers, body).await {
        Ok(bytes) => bytes,
        Err(error) => return (error.status(), error.to_string()).into_response(),
    };
    let answered = match parse(&bytes) {
        Ok(message) => match era::era(&head.headers, &message) {
            Era::Modern => endpoint.modern(&head.headers, message).await,
            Era::Legacy => endpoint.legacy(&head.headers, message).await,
        },
        Err(refused) => Err(refused),
    };
    answered.unwrap_or_else(HttpRefusal::into_response)
}

/// GET: what belongs to no request, for a client with a session.
async fn listen(State(endpoint): State<Arc<Endpoint>>, headers: HeaderMap) -> Response {
    match endpoint.session(&headers, None) {
        Ok(conversation) => {
            let messages = conversation.listen();
            // The stream keeps its session.
            let state = (messages, conversation);
            events(stream::unfold(state, async |(mut messages, conversation)| {
                let message = messages.recv().await?;
                Some((event(message), (messages, conversation)))
            }))
        }
        Err(_) if !headers.contains_key(SESSION) => no_method().await,
        Err(refused) => refused.into_response(),
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
            large_bodies: Semaphore::new(MOST_LARGE),
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
        exchange(&conversation, Era::Modern, &mut message, OnLeave::Cancel).await
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
            let why = "`MCP-Protocol-Version` is none of the revisions with sessions";
            let error = ErrorData::invalid_request(why, None);
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, error, message.id));
        }
        if message.is_request() {
            return exchange(&conversation, Era::Legacy, &mut message, OnLeave::GoOn).await;
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
            HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, error, id)
        })?;
        let mut response = exchange(&conversation, Era::Legacy, &mut message, OnLeave::Cancel).await?;
        if let Ok(session) = HeaderValue::from_str(&session) {
            response.headers_mut().insert(SESSION, session);
        }
        Ok(response)
    }

    /// The body of a request.
    async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, BodyError> {
        check_body(headers, &body)?;
        let is_small = body.size_hint().upper().is_some_and(|most| most <= SMALL_BODY);
        let reading = async {
            let _place = match is_small {
                true => None,
                // It is never closed.
                false => self.large_bodies.acquire().await.ok(),
            };
            to_bytes(body, MAX_LINE).await
        };
        match tokio::time::timeout(BODY_TIMEOUT, reading).await {
            Ok(Ok(bytes)) => Ok(bytes.into()),
            Ok(Err(_)) => Err(BodyError::TooLarge),
            Err(_) => Err(BodyError::TooSlow),
        }
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

/// Whether a body may be read, by what its head says.
fn check_body(headers: &HeaderMap, body: &Body) -> Result<(), BodyError> {
    let kind = era::header(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(BodyError::Type);
    }
    // What grows when it is unpacked has no bound that could be known before.
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(BodyError::Encoding);
    }
    match body.size_hint().lower() > MAX_LINE as u64 {
        true => Err(BodyError::TooLarge),
        false => Ok(()),
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
        Ok(_) => Err(HttpRefusal::bad("this is no message".to_owned(), None)),
    }
}

/// One request and all that comes for it: JSON if the answer is the first that comes, and comes soon; else events.
async fn exchange(
    conversation: &Arc<Conversation>,
    era: Era,
    request: &mut MessageFields<'_>,
    on_leave: OnLeave,
) -> Result<Response, HttpRefusal> {
    let id = request.id.clone();
    let mut exchange = conversation
        .ask(request, on_leave)
        .await
        .map_err(|error| match error {
            AskError::Route(why) => HttpRefusal::bad(why.to_string(), id.clone()),
            AskError::Ended(_) => HttpRefusal::no_session(id.clone()),
        })?;
    let first = match tokio::time::timeout(QUIET, exchange.next()).await {
        Ok(Some(Delivery::Answer(answer))) => {
            let kind = [(CONTENT_TYPE, "application/json")];
            return Ok((era::status(era, request, &answer), kind, answer).into_response());
        }
        Ok(Some(Delivery::Message(message))) => Some(message),
        Ok(None) => return Err(HttpRefusal::no_session(id)),
        Err(_) => None,
    };
    Ok(events(deliveries(first, exchange)))
}

/// All that comes for a request, to its answer.
fn deliveries(first: Option<Vec<u8>>, exchange: Exchange) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((first, exchange), async |(first, mut exchange)| {
        let message = match first {
            Some(message) => message,
            None => match exchange.next().await? {
                Delivery::Message(message) | Delivery::Answer(message) => message,
            },
        };
        Some((event(message), (None, exchange)))
    })
}

fn event(message: Vec<u8>) -> Result<Event, Infallible> {
    // What a surface writes is JSON, and so UTF-8 without line ends.
    Ok(Event::default()
        .event("message")
        .data(String::from_utf8_lossy(&message).trim_end()))
}

fn events(messages: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let mut response = Sse::new(messages)
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Proxies of a kind collect what is sent in small pieces unless they are told.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

// === impl BodyError ===

impl BodyError {
    fn status(self) -> StatusCode {
        match self {
            BodyError::Type | BodyError::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
        }
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

    /// An id that was never given, or whose session has ended.
    fn no_session(id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::new(
            ErrorCode(-32001),
            "there is no such session; `initialize` opens one",
            None,
        );
        HttpRefusal::new(StatusCode::NOT_FOUND, error, id)
    }

    fn into_response(self) -> Response {
        let body = reply::encode_error(&self.error, &self.id).unwrap_or_default();
        (self.status, [(CONTENT_TYPE, "application/json")], body).into_response()
    }
}
