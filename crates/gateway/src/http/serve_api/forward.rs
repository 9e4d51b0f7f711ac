//! Forwards requests to the process that runs the caller's sessions, and collects the other processes' parts of a
//! list.
//!
//! The other process checks the caller's own token again, so no process trusts another.

use std::error::Error as _;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::join_all;
use http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use identity::{Identity, Route};
use rest::{RestError, SessionsQuery};
use serde_json::Value;
use tokio::sync::OnceCell;
use types::ServerId;

use crate::http::api::{Api, ApiReply, OtherProcess, Place};
use crate::http::era::{LAST_EVENT, SESSION};
use crate::http::events::StreamKind;
use crate::http::trace_header;

/// Marks a forwarded request, which is not forwarded again.
const FORWARDED: HeaderName = HeaderName::from_static("x-codeyard-forwarded");

/// Prefix of MCP's headers.
const MCP: &str = "mcp-";

/// Time limit for the other processes' parts of a list.
const LISTING: Duration = Duration::from_secs(2);

/// Interval of looking up a lease's holder while its answer is awaited.
const CHECKING: Duration = Duration::from_secs(3);

/// Maximum bytes of a buffered answer: a result of 24 MiB as JSON text within JSON.
const MAX_ANSWER: usize = 64 << 20;

/// `Retry-After` while sessions move.
const MOVING: Duration = Duration::from_secs(1);

/// Sends requests to the other processes.
pub(super) struct Forwarder {
    api: Arc<dyn Api>,
    /// Made on first use.
    client: OnceCell<reqwest::Client>,
}

/// Why another process gave no answer.
enum NoAnswer {
    /// Its machine refused the connection, so the process has ended.
    Unreached,
    /// Nothing was sent, perhaps for a local reason: names, certificates, the network. The process may be alive.
    Unsent,
    /// The process may have run the request.
    Unknown,
}

/// Another process's answer as a response. A stream without an end ends with the drain. A plain challenge replaces the
/// other process's, which names its internal address; the outer layer may say more.
pub(super) fn response(route: Route, answer: reqwest::Response) -> Response {
    const PASSED: [HeaderName; 4] = [
        CONTENT_TYPE,
        CACHE_CONTROL,
        RETRY_AFTER,
        HeaderName::from_static(SESSION),
    ];
    let mut headers = HeaderMap::new();
    for name in PASSED {
        if let Some(value) = answer.headers().get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let status = answer.status();
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    if matches!(route, Route::McpStream | Route::SseStream) {
        response.extensions_mut().insert(StreamKind::Standing);
    }
    response
}

/// An answer of JSON-RPC.
pub(super) async fn reply(answer: reqwest::Response) -> Result<ApiReply, RestError> {
    let status = answer.status().as_u16();
    match whole(answer).await {
        Some(body) => Ok(ApiReply::json(status, body)),
        None => Err(unavailable(
            "the process that runs this session ended before its answer",
        )),
    }
}

/// The requested number of sessions. The query was validated before.
fn limit(head: &Parts) -> usize {
    let query = head.uri.query().unwrap_or_default();
    let pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).collect();
    let pairs = pairs.iter().map(|(name, value)| (&**name, &**value));
    let asked: Vec<(&str, &str)> = pairs.filter(|(name, _)| *name == "limit").collect();
    SessionsQuery::read(&asked).map_or(0, |query| query.limit)
}

fn last_used(session: &Value) -> &str {
    session["last_used_at"].as_str().unwrap_or_default()
}

/// The whole body; `None` if the body is incomplete or too large.
async fn whole(mut answer: reqwest::Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.ok()? {
        if body.len() + piece.len() > MAX_ANSWER {
            return None;
        }
        body.extend_from_slice(&piece);
    }
    Some(body)
}

fn unavailable(message: &str) -> RestError {
    RestError::Unavailable {
        message: message.to_owned(),
        retry_after: MOVING,
    }
}

// === impl Forwarder ===

impl Forwarder {
    pub(super) fn new(api: Arc<dyn Api>) -> Forwarder {
        Forwarder {
            api,
            client: OnceCell::new(),
        }
    }

    /// The answer of the process that runs the caller's sessions; `None` if this process does. If that process
    /// refuses the connection, this process takes its sessions over.
    pub(super) async fn elsewhere(
        &self,
        identity: &Identity,
        server: &ServerId,
        (head, body): (&Parts, &[u8]),
    ) -> Result<Option<reqwest::Response>, RestError> {
        let mut gone = None;
        for _ in 0..2 {
            let place = self.api.place(identity, server, gone.as_deref()).await?;
            let Place::At(process) = place else {
                return Ok(None);
            };
            if head.headers.contains_key(FORWARDED) {
                break;
            }
            let sent = self.send_while_alive(&process, (identity, server), (head, body));
            match sent.await {
                Ok(answer) => return Ok(Some(answer)),
                Err(NoAnswer::Unreached) => gone = Some(process.id),
                Err(NoAnswer::Unsent) => {
                    return Err(unavailable(
                        "the process that runs this session cannot be reached from here; send the request again",
                    ));
                }
                Err(NoAnswer::Unknown) => {
                    return Err(unavailable(
                        "the process that runs this session gave no answer; the program may have run",
                    ));
                }
            }
        }
        Err(unavailable(
            "the session is moving to another process; send the request again",
        ))
    }

    /// Sends a notification to every other process.
    pub(super) async fn tell_others(&self, head: &Parts, body: &[u8]) {
        if head.headers.contains_key(FORWARDED) {
            return;
        }
        let others = self.api.others().await.unwrap_or_default();
        let told = others.iter().map(|process| self.send(process, head, body));
        // A process that has ended has no calls to cancel.
        let _ = tokio::time::timeout(LISTING, join_all(told)).await;
    }

    /// The sessions of all processes, the last used first. Leaves out processes that do not answer in time.
    pub(super) async fn with_others(&self, head: &Parts, own: ApiReply) -> Result<ApiReply, RestError> {
        if head.headers.contains_key(FORWARDED) {
            return Ok(own);
        }
        let others = self.api.others().await?;
        if others.is_empty() {
            return Ok(own);
        }
        let lists = others.iter().map(|process| async {
            let asked = async { whole(self.send(process, head, b"").await.ok()?).await };
            tokio::time::timeout(LISTING, asked).await.ok().flatten()
        });
        let mut lists = join_all(lists).await;
        lists.push(Some(own.body().to_vec()));
        let lists = lists.into_iter().flatten();
        let mut sessions: Vec<Value> = lists
            .filter_map(|list| serde_json::from_slice::<Vec<Value>>(&list).ok())
            .flatten()
            .collect();
        // All times have the same format, so their texts sort by time.
        sessions.sort_by(|one, other| last_used(other).cmp(last_used(one)));
        sessions.truncate(limit(head));
        Ok(ApiReply::json(
            200,
            serde_json::to_vec(&sessions).unwrap_or_default(),
        ))
    }

    /// Sends a request, and waits for the answer's head only while the process holds the lease: a hanging process
    /// would never answer.
    async fn send_while_alive(
        &self,
        process: &OtherProcess,
        (identity, server): (&Identity, &ServerId),
        (head, body): (&Parts, &[u8]),
    ) -> Result<reqwest::Response, NoAnswer> {
        let mut sent = pin!(self.send(process, head, body));
        loop {
            tokio::select! {
                biased;
                answer = &mut sent => return answer,
                () = tokio::time::sleep(CHECKING) => {}
            }
            match self.api.place(identity, server, None).await {
                Ok(Place::At(holder)) if holder.id == process.id => {}
                _ => return Err(NoAnswer::Unknown),
            }
        }
    }

    async fn send(
        &self,
        process: &OtherProcess,
        head: &Parts,
        body: &[u8],
    ) -> Result<reqwest::Response, NoAnswer> {
        let client = self.client.get_or_try_init(upstream_wire::gateway_client).await;
        let client = client.map_err(|why| {
            tracing::warn!(%why, "requests cannot be passed on to other processes");
            NoAnswer::Unsent
        })?;
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = client
            .request(head.method.clone(), format!("{}{path}", process.url))
            .headers(passed_headers(&head.headers));
        if head.method == Method::POST {
            request = request.body(body.to_vec());
        }
        request.send().await.map_err(|error| {
            let url = &process.url;
            if is_refused(&error) {
                return NoAnswer::Unreached;
            }
            if error.is_connect() {
                tracing::warn!(%error, %url, "another process cannot be reached; is its --advertise right?");
                return NoAnswer::Unsent;
            }
            tracing::debug!(%error, %url, "another process gave no answer");
            NoAnswer::Unknown
        })
    }
}

/// Whether the connection was refused.
fn is_refused(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(found) = cause {
        let found_io = found.downcast_ref::<io::Error>();
        if found_io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = found.source();
    }
    false
}

/// The headers for the other process. Each request has its own connection: on an open connection, a process that just
/// ended looks like one that read the request.
fn passed_headers(headers: &HeaderMap) -> HeaderMap {
    let mut passed = HeaderMap::new();
    for (name, value) in headers {
        let is_read = [&ACCEPT, &AUTHORIZATION, &CONTENT_TYPE].contains(&name)
            || name.as_str() == LAST_EVENT
            || [trace_header::PARENT, trace_header::STATE].contains(&name.as_str())
            || name.as_str().starts_with(MCP);
        if is_read {
            passed.append(name, value.clone());
        }
    }
    passed.insert(FORWARDED, HeaderValue::from_static("1"));
    passed.insert(CONNECTION, HeaderValue::from_static("close"));
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_another_process_stays_inside() {
        for (status, challenge) in [(401_u16, Some("Bearer")), (403, None)] {
            let answer = http::Response::builder()
                .status(status)
                .header(
                    WWW_AUTHENTICATE,
                    "Bearer resource_metadata=\"http://10.0.0.7:8080/a\"",
                )
                .header(RETRY_AFTER, "1")
                .body("")
                .expect("a response");
            let passed = response(Route::McpMessage, answer.into());
            assert_eq!(passed.status(), status);
            assert_eq!(passed.headers()[RETRY_AFTER], "1");
            let passed = passed.headers().get(WWW_AUTHENTICATE);
            assert_eq!(passed.and_then(|value| value.to_str().ok()), challenge);
        }
    }
}
