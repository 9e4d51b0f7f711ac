//! The remote server as all exchanges see it: address, credentials, and state of the session.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::credentials::{Credentials, RequestCredentials};
use super::error::RemoteError;
use super::header_parameters::ANNOTATION;
use super::message::OutgoingMessage;
use crate::connector::ToolDefinitions;
use crate::definition::{Http, HttpKind};
use crate::http_client::{self, Scheme};
use crate::notifications::Notifications;
use crate::oauth::{AccessTokens, Logins};
use crate::pause::Pause;
use crate::transport::{HANDSHAKE_IDS, Incoming, Line, RequestFailure};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const ANSWERS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Per request.
const MAX_REDIRECTS: usize = 3;
/// Longest wait for a response's head. A call's caller has its own time limit instead.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Default)]
pub(super) struct Closed {
    pub(super) cause: String,
    pub(super) awaits_login: bool,
}

pub(super) struct EndpointConfig {
    pub(super) server: String,
    pub(super) url: Url,
    pub(super) http: Http,
    pub(super) logins: Option<Logins>,
    pub(super) tools: Arc<dyn ToolDefinitions>,
    pub(super) notifications: Arc<Notifications>,
    pub(super) pause: Pause,
    pub(super) inbox: mpsc::Sender<Incoming>,
    pub(super) end: watch::Sender<Option<Closed>>,
}

pub(super) struct Endpoint {
    server: String,
    client: Client,
    url: Url,
    pub(super) kind: HttpKind,
    pub(super) credentials: Credentials,
    tools: Arc<dyn ToolDefinitions>,
    pub(super) notifications: Arc<Notifications>,
    pub(super) pause: Pause,
    inbox: mpsc::Sender<Incoming>,
    session: Mutex<Session>,
    pub(super) end: watch::Sender<Option<Closed>>,
    pub(super) stop: CancellationToken,
}

#[derive(Debug, Clone, Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Address for messages in HTTP with SSE; one stream carries all answers.
    messages: Option<Url>,
}

impl Endpoint {
    pub(super) async fn new(
        config: EndpointConfig,
    ) -> Result<Endpoint, (watch::Sender<Option<Closed>>, String)> {
        let client = match http_client::build(Scheme::of(&config.url)).await {
            Ok(client) => client,
            Err(cause) => return Err((config.end, cause)),
        };
        let login = config.logins.as_ref().map(|logins| {
            let name = &config.server;
            let notifications = Arc::clone(&config.notifications);
            AccessTokens::new(logins, name, config.url.clone(), &config.http.url, notifications)
        });
        Ok(Endpoint {
            client,
            kind: config.http.kind,
            credentials: Credentials::new(&config.http, login),
            url: config.url,
            server: config.server,
            tools: config.tools,
            notifications: config.notifications,
            pause: config.pause,
            inbox: config.inbox,
            session: Mutex::default(),
            end: config.end,
            stop: CancellationToken::new(),
        })
    }

    /// The task ends with the connection.
    pub(super) fn spawn<F>(self: &Arc<Self>, work: impl FnOnce(Arc<Endpoint>) -> F) -> AbortHandle
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = self.stop.clone();
        let work = work(Arc::clone(self));
        let task = tokio::spawn(async move {
            stop.run_until_cancelled(work).await;
        });
        task.abort_handle()
    }

    pub(super) fn finish(&self, cause: String) {
        self.end_with(Closed {
            cause,
            awaits_login: false,
        });
    }

    pub(super) fn fail_connection(&self, error: &RemoteError) {
        self.end_with(Closed {
            cause: error.cause(),
            awaits_login: matches!(error, RemoteError::LoginRequired(_)),
        });
    }

    fn end_with(&self, first: Closed) {
        self.end.send_if_modified(|end| {
            let is_first = end.is_none();
            if is_first {
                *end = Some(first);
            }
            is_first
        });
    }

    pub(super) async fn deliver(&self, mut message: Vec<u8>) {
        // In JSON, line breaks are white space between tokens and never part of one.
        for byte in message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        // Without a transport, nobody waits for the message.
        let _ = self.inbox.send(Incoming::Line(Line::Whole(message))).await;
    }

    pub(super) async fn report_too_large(&self, length: u64, id: Option<i64>) {
        match id {
            Some(id) => self.fail(id, RemoteError::TooLarge(length)).await,
            None => self
                .notifications
                .warn(format!("left out a message of {length} bytes")),
        }
    }

    pub(super) async fn fail(&self, id: i64, error: RemoteError) {
        let is_handshake = HANDSHAKE_IDS.contains(&id);
        let again_in = match &error {
            RemoteError::Transient(_) => Some(Duration::ZERO),
            RemoteError::RetryAfter(_, pause) => Some(*pause),
            _ => None,
        };
        let cause = error.cause();
        let incoming = match error {
            RemoteError::Unreachable(_) | RemoteError::Rejected(_) | RemoteError::LoginRequired(_)
                if is_handshake =>
            {
                return self.fail_connection(&error);
            }
            RemoteError::JsonRpc(error) => {
                let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error});
                Incoming::Line(Line::Whole(answer.to_string().into_bytes()))
            }
            RemoteError::TooLarge(length) => Incoming::Line(Line::TooLong { length, id: Some(id) }),
            RemoteError::Unreachable(_) | RemoteError::SessionExpired => {
                let failure = RequestFailure::Undelivered;
                let _ = self.inbox.send(Incoming::Failed { id, failure }).await;
                return self.finish(cause);
            }
            _ => {
                let failure = RequestFailure::Unanswered { cause, again_in };
                Incoming::Failed { id, failure }
            }
        };
        let _ = self.inbox.send(incoming).await;
    }

    /// Returns the response, whatever its status, with its body unread.
    pub(super) async fn post(&self, message: &OutgoingMessage) -> Result<Response, RemoteError> {
        let session = self.session();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, ANSWERS);
        headers.insert(CONTENT_TYPE, JSON);
        if message.is_modern() {
            headers.extend(message.version.clone().map(|version| (VERSION, version)));
            headers.extend(message.header_copies(|tool| self.schema(tool)));
        } else if message.method != "initialize" {
            headers.extend(session.id.map(|id| (SESSION, id)));
            headers.extend(session.version.map(|version| (VERSION, version)));
        }
        let url = session.messages.unwrap_or_else(|| self.url.clone());
        headers.extend(message.trace.clone());
        self.send(Method::POST, url, headers, message.body.clone()).await
    }

    /// Requests an event stream that begins after the event `last_id`.
    pub(super) async fn get(&self, last_id: Option<&str>) -> Result<Response, RemoteError> {
        let session = self.session();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, EVENTS);
        headers.extend(session.id.map(|id| (SESSION, id)));
        headers.extend(session.version.map(|version| (VERSION, version)));
        let last_id = last_id.and_then(|id| HeaderValue::from_str(id).ok());
        headers.extend(last_id.map(|id| (LAST_EVENT, id)));
        let sent = self.send(Method::GET, self.url.clone(), headers, Vec::new());
        with_head_timeout(sent).await
    }

    /// Deletes the session at the server, if there is one.
    pub(super) async fn delete_session(&self) {
        let session = self.session();
        let Some(id) = session.id else {
            return;
        };
        let mut headers = HeaderMap::from_iter([(SESSION, id)]);
        headers.extend(session.version.map(|version| (VERSION, version)));
        // Some servers refuse this and let the session expire.
        let _ = self
            .send(Method::DELETE, self.url.clone(), headers, Vec::new())
            .await;
    }

    /// If the server refuses the credentials and there are others, sends the request again.
    async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, RemoteError> {
        let credentials = self
            .credentials
            .current()
            .await
            .map_err(|error| self.with_login_command(error))?;
        let with = |credentials: &RequestCredentials| {
            let mut all = credentials.headers.clone();
            all.extend(headers.clone());
            all
        };
        let response = self
            .follow(&method, url.clone(), with(&credentials), &body)
            .await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let renewed = self.credentials.renewed(&credentials).await;
        match renewed.map_err(|error| self.with_login_command(error))? {
            Some(renewed) => {
                let response = self.follow(&method, url, with(&renewed), &body).await?;
                if response.status() == StatusCode::UNAUTHORIZED {
                    self.credentials.end(&renewed).await?;
                }
                Ok(response)
            }
            None => Ok(response),
        }
    }

    /// The command that logs a person in, with additional scopes.
    pub(super) fn login_command(&self, scopes: Option<&str>) -> String {
        login_command(&self.server, scopes)
    }

    fn with_login_command(&self, error: RemoteError) -> RemoteError {
        match error {
            RemoteError::LoginRequired(cause) if !self.credentials.are_of_user() => {
                RemoteError::LoginRequired(format!(
                    "{cause}; log in again with `{}`",
                    self.login_command(None)
                ))
            }
            other => other,
        }
    }

    /// Follows redirects within the server's origin.
    async fn follow(
        &self,
        method: &Method,
        mut url: Url,
        headers: HeaderMap,
        body: &[u8],
    ) -> Result<Response, RemoteError> {
        for value in headers.values().filter(|value| value.is_sensitive()) {
            // The server may echo the value.
            let secret = String::from_utf8_lossy(value.as_bytes());
            self.notifications.secrets.learn(&secret);
        }
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self
                .client
                .request(method.clone(), url.clone())
                .headers(headers.clone());
            if *method == Method::POST {
                request = request.body(body.to_vec());
            }
            let response = request.send().await.map_err(|error| send_error(&error))?;
            if let Some(encoding) = response.headers().get(CONTENT_ENCODING)
                && encoding != "identity"
            {
                let cause =
                    "it compressed its answer, which codeyard did not ask for and cannot read".to_owned();
                return Err(RemoteError::Rejected(cause));
            }
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            url = redirected(method, &url, &response)?;
        }
        let cause = format!("it redirected more than {MAX_REDIRECTS} times");
        Err(RemoteError::Rejected(cause))
    }

    /// The input schema of a tool, if it asks for arguments in headers.
    fn schema(&self, tool: &str) -> Option<Value> {
        let tool = self.tools.tool(tool)?;
        let definition = tool.definition().get();
        if !definition.contains(ANNOTATION) {
            return None;
        }
        let mut definition: Value = serde_json::from_str(definition).ok()?;
        Some(definition["inputSchema"].take())
    }

    fn session(&self) -> Session {
        self.session.lock().clone()
    }

    fn change(&self, change: impl FnOnce(&mut Session)) {
        change(&mut self.session.lock());
    }

    /// Whether the server was initialized, and so keeps a session.
    pub(super) fn is_stateful(&self) -> bool {
        self.session().version.is_some() || self.uses_sse()
    }

    pub(super) fn has_session(&self) -> bool {
        self.session().id.is_some()
    }

    /// Whether the server speaks HTTP with SSE, where one stream carries all answers.
    pub(super) fn uses_sse(&self) -> bool {
        self.session().messages.is_some()
    }

    pub(super) fn set_messages(&self, url: Url) {
        self.change(|session| session.messages = Some(url));
    }

    pub(super) fn set_version(&self, version: &str) {
        let version = HeaderValue::from_str(version).ok();
        self.change(|session| session.version = version);
    }

    pub(super) fn set_session(&self, response: &Response) {
        if let Some(id) = response.headers().get(SESSION) {
            let mut id = id.clone();
            id.set_sensitive(true);
            self.change(|session| session.id = Some(id));
        }
    }

    /// The address must belong to the server's origin.
    pub(super) fn same_origin(&self, reference: &str) -> Result<Url, RemoteError> {
        let url = self.url.join(reference).ok();
        url.filter(|url| url.origin() == self.url.origin())
            .ok_or_else(|| RemoteError::Rejected("it sends its messages to another server".to_owned()))
    }
}

pub(super) async fn with_head_timeout(
    sent: impl Future<Output = Result<Response, RemoteError>>,
) -> Result<Response, RemoteError> {
    timeout(HEAD_TIMEOUT, sent).await.unwrap_or_else(|_elapsed| {
        let cause = format!("nothing came within {} s", HEAD_TIMEOUT.as_secs());
        Err(RemoteError::Transient(cause))
    })
}

/// The target must have the same origin.
fn redirected(method: &Method, url: &Url, response: &Response) -> Result<Url, RemoteError> {
    let status = response.status();
    let target = response
        .headers()
        .get(LOCATION)
        .and_then(|location| location.to_str().ok())
        .and_then(|location| url.join(location).ok());
    let Some(target) = target else {
        return Err(RemoteError::Rejected(format!(
            "it redirects without an address ({status})"
        )));
    };
    let mut shown = target.clone();
    shown.set_query(None);
    if target.origin() != url.origin() {
        let cause = format!("it redirects to {shown}, another server; if that is right, write it in `url`");
        return Err(RemoteError::Rejected(cause));
    }
    // Other redirects turn a POST into a GET.
    let keeps_method = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    if method == Method::POST && !keeps_method {
        let cause = format!("it redirects to {shown} ({status}); write that in `url`");
        return Err(RemoteError::Rejected(cause));
    }
    Ok(target)
}

fn login_command(server: &str, scopes: Option<&str>) -> String {
    let mut command = format!("codeyard login {}", quoted(server));
    // The server chooses the scopes, and the command goes into a shell: allow only harmless characters.
    let is_plain = |scope: &&str| {
        scope
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:/+=@ ".contains(c))
    };
    if let Some(scopes) = scopes.filter(is_plain) {
        command.push_str(&format!(" --scope {}", quoted(scopes)));
    }
    command
}

/// Quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn send_error(error: &reqwest::Error) -> RemoteError {
    let cause = http_client::describe(error);
    if error.is_connect() {
        RemoteError::Unreachable(format!("it cannot be reached: {cause}"))
    } else {
        RemoteError::Transient(format!("the connection broke: {cause}"))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_has_thirty_seconds_to_begin() {
        let start = Instant::now();
        let error = with_head_timeout(std::future::pending())
            .await
            .expect_err("nothing came");
        assert_eq!(start.elapsed(), Duration::from_secs(30));
        assert!(
            matches!(&error, RemoteError::Transient(cause) if cause == "nothing came within 30 s"),
            "{error:?}"
        );
    }
}
