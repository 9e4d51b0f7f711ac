//! The far end of a connection as all exchanges with it see it: where it is, what lets us in, and which session it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::End;
use super::client;
use super::credentials::{Credentials, Sent};
use super::outgoing::Outgoing;
use super::parameters::MARK;
use super::trouble::Trouble;
use crate::config::{Http, HttpKind};
use crate::link::Link;
use crate::oauth::Access;
use crate::transport::{Failure, HANDSHAKE_IDS, Incoming, Line, Traffic};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const ANSWERS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Redirects that one request follows.
const MAX_REDIRECTS: usize = 3;
/// How long the first byte of what is no answer to a call may take; a call has its caller's patience.
const HEADERS: Duration = Duration::from_secs(30);

/// What an endpoint is made of.
pub(super) struct Parts {
    pub(super) url: Url,
    pub(super) http: Http,
    pub(super) link: Arc<Link>,
    pub(super) traffic: Arc<Traffic>,
    pub(super) inbox: mpsc::Sender<Incoming>,
    pub(super) end: watch::Sender<Option<End>>,
}

pub(super) struct Endpoint {
    client: Client,
    url: Url,
    pub(super) kind: HttpKind,
    pub(super) credentials: Credentials,
    link: Arc<Link>,
    pub(super) traffic: Arc<Traffic>,
    inbox: mpsc::Sender<Incoming>,
    session: Mutex<Session>,
    pub(super) end: watch::Sender<Option<End>>,
    /// Ends everything that runs beside the dispatcher.
    pub(super) stop: CancellationToken,
}

/// What the server has said of how it wants to be spoken to.
#[derive(Debug, Clone, Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Where messages go if their answers come over one stream for all.
    messages: Option<Url>,
}

impl Endpoint {
    pub(super) async fn new(parts: Parts) -> Result<Endpoint, (watch::Sender<Option<End>>, String)> {
        let is_secure = parts.url.scheme() == "https";
        let built = tokio::task::spawn_blocking(move || client::build(is_secure)).await;
        let client = match built.unwrap_or_else(|panic| Err(panic.to_string())) {
            Ok(client) => client,
            Err(cause) => return Err((parts.end, cause)),
        };
        let login = parts.link.login_dir.as_deref().map(|directory| {
            let name = &parts.link.config.name;
            let traffic = Arc::clone(&parts.traffic);
            Access::new(directory, name, parts.url.clone(), &parts.http.url, traffic)
        });
        Ok(Endpoint {
            client,
            kind: parts.http.kind,
            credentials: Credentials::new(&parts.http, login),
            url: parts.url,
            link: parts.link,
            traffic: parts.traffic,
            inbox: parts.inbox,
            session: Mutex::default(),
            end: parts.end,
            stop: CancellationToken::new(),
        })
    }

    /// Does something beside everything else, until the connection ends.
    pub(super) fn beside<F>(self: &Arc<Self>, work: impl FnOnce(Arc<Endpoint>) -> F) -> AbortHandle
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

    /// Ends the connection, in these words.
    pub(super) fn finish(&self, cause: String) {
        self.end_with(End {
            cause,
            awaits_login: false,
        });
    }

    /// Ends the connection because of this.
    pub(super) fn finish_by(&self, trouble: &Trouble) {
        self.end_with(End {
            cause: trouble.cause(),
            awaits_login: matches!(trouble, Trouble::Login(_)),
        });
    }

    fn end_with(&self, first: End) {
        self.end.send_if_modified(|end| {
            let is_first = end.is_none();
            if is_first {
                *end = Some(first);
            }
            is_first
        });
    }

    /// Hands over what came from the server.
    pub(super) async fn deliver(&self, mut message: Vec<u8>) {
        // Between the tokens of JSON a line break is a blank, and within them there is none.
        for byte in message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        // Without a reader nobody waits for it.
        let _ = self.inbox.send(Incoming::Line(Line::Whole(message))).await;
    }

    /// A message was too long and left out; whoever it answers is told.
    pub(super) async fn left_out(&self, length: u64, id: Option<i64>) {
        match id {
            Some(id) => self.fail(id, Trouble::TooLong(length)).await,
            None => self.traffic.warn(format!("left out a message of {length} bytes")),
        }
    }

    /// Tells whoever waits for the answer to this request that there will be none.
    pub(super) async fn fail(&self, id: i64, trouble: Trouble) {
        let is_greeting = HANDSHAKE_IDS.contains(&id);
        let again_in = match &trouble {
            Trouble::Transient(_) => Some(Duration::ZERO),
            Trouble::Later(_, pause) => Some(*pause),
            _ => None,
        };
        let cause = trouble.cause();
        let incoming = match trouble {
            Trouble::Unreachable(_) | Trouble::Barred(_) | Trouble::Login(_) if is_greeting => {
                return self.finish_by(&trouble);
            }
            Trouble::Refused(error) => {
                let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error});
                Incoming::Line(Line::Whole(answer.to_string().into_bytes()))
            }
            Trouble::TooLong(length) => Incoming::Line(Line::TooLong { length, id: Some(id) }),
            Trouble::Unreachable(_) | Trouble::Forgotten => {
                let failure = Failure::Undelivered;
                let _ = self.inbox.send(Incoming::Failed { id, failure }).await;
                return self.finish(cause);
            }
            _ => {
                let failure = Failure::Unanswered { cause, again_in };
                Incoming::Failed { id, failure }
            }
        };
        let _ = self.inbox.send(incoming).await;
    }

    /// Sends one message; gives the answer's beginning, whatever its status.
    pub(super) async fn post(&self, message: &Outgoing) -> Result<Response, Trouble> {
        let session = self.session();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, ANSWERS);
        headers.insert(CONTENT_TYPE, JSON);
        if message.is_modern() {
            headers.extend(message.version.clone().map(|version| (VERSION, version)));
            headers.extend(message.repeated(|tool| self.schema(tool)));
        } else if message.method != "initialize" {
            headers.extend(session.id.map(|id| (SESSION, id)));
            headers.extend(session.version.map(|version| (VERSION, version)));
        }
        let url = session.messages.unwrap_or_else(|| self.url.clone());
        self.send(Method::POST, url, headers, message.body.clone()).await
    }

    /// Asks for a stream of events, from the one after that number on.
    pub(super) async fn get(&self, last_id: Option<&str>) -> Result<Response, Trouble> {
        let session = self.session();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, EVENTS);
        headers.extend(session.id.map(|id| (SESSION, id)));
        headers.extend(session.version.map(|version| (VERSION, version)));
        let last_id = last_id.and_then(|id| HeaderValue::from_str(id).ok());
        headers.extend(last_id.map(|id| (LAST_EVENT, id)));
        let sent = self.send(Method::GET, self.url.clone(), headers, Vec::new());
        begun(sent).await
    }

    /// Takes leave of the session, if there is one.
    pub(super) async fn leave(&self) {
        let session = self.session();
        let Some(id) = session.id else {
            return;
        };
        let mut headers = HeaderMap::from_iter([(SESSION, id)]);
        headers.extend(session.version.map(|version| (VERSION, version)));
        // Some servers do not allow it, and forget the session by themselves.
        let _ = self
            .send(Method::DELETE, self.url.clone(), headers, Vec::new())
            .await;
    }

    /// Sends a request with what lets us in; once more if the server refuses that and there is something better.
    async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, Trouble> {
        let credentials = self
            .credentials
            .current()
            .await
            .map_err(|trouble| self.advised(trouble))?;
        let with = |credentials: &Sent| {
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
        let better = self.credentials.better(&credentials).await;
        match better.map_err(|trouble| self.advised(trouble))? {
            Some(better) => self.follow(&method, url, with(&better), &body).await,
            None => Ok(response),
        }
    }

    /// The command by which a person logs in, also for more than now.
    pub(super) fn login_command(&self, scopes: Option<&str>) -> String {
        login_command(&self.link.config.name, scopes)
    }

    /// The same trouble with what to do about it.
    fn advised(&self, trouble: Trouble) -> Trouble {
        match trouble {
            Trouble::Login(cause) => Trouble::Login(format!(
                "{cause}; log in again with `{}`",
                self.login_command(None)
            )),
            other => other,
        }
    }

    /// Sends a request and follows where the server sends us, as long as that is the server.
    async fn follow(
        &self,
        method: &Method,
        mut url: Url,
        headers: HeaderMap,
        body: &[u8],
    ) -> Result<Response, Trouble> {
        for value in headers.values().filter(|value| value.is_sensitive()) {
            // The server may say it again in what it answers.
            let secret = String::from_utf8_lossy(value.as_bytes());
            self.traffic.secrets.learn(&secret);
        }
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self
                .client
                .request(method.clone(), url.clone())
                .headers(headers.clone());
            if *method == Method::POST {
                request = request.body(body.to_vec());
            }
            let response = request.send().await.map_err(|error| unsent(&error))?;
            if let Some(encoding) = response.headers().get(CONTENT_ENCODING)
                && encoding != "identity"
            {
                let cause = "it compressed its answer, which was not asked for and is not read".to_owned();
                return Err(Trouble::Barred(cause));
            }
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            url = redirected(method, &url, &response)?;
        }
        let cause = format!("it redirected more than {MAX_REDIRECTS} times");
        Err(Trouble::Barred(cause))
    }

    /// The schema of a tool's arguments, if it wants to see some of them in headers.
    fn schema(&self, tool: &str) -> Option<Value> {
        let tool = self.link.tool(tool)?;
        let definition = tool.definition().get();
        if !definition.contains(MARK) {
            return None;
        }
        let mut definition: Value = serde_json::from_str(definition).ok()?;
        Some(definition["inputSchema"].take())
    }

    // === what is known of the session ===

    fn session(&self) -> Session {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn change(&self, change: impl FnOnce(&mut Session)) {
        change(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether the server keeps track of us: it has been initialized.
    pub(super) fn is_stateful(&self) -> bool {
        self.session().version.is_some() || self.is_two_way()
    }

    pub(super) fn has_session(&self) -> bool {
        self.session().id.is_some()
    }

    /// Whether all answers come over one stream.
    pub(super) fn is_two_way(&self) -> bool {
        self.session().messages.is_some()
    }

    pub(super) fn set_messages(&self, url: Url) {
        self.change(|session| session.messages = Some(url));
    }

    pub(super) fn set_version(&self, version: &str) {
        let version = HeaderValue::from_str(version).ok();
        self.change(|session| session.version = version);
    }

    /// Takes note of the session that an answer to `initialize` names.
    pub(super) fn note_session(&self, response: &Response) {
        if let Some(id) = response.headers().get(SESSION) {
            let mut id = id.clone();
            id.set_sensitive(true);
            self.change(|session| session.id = Some(id));
        }
    }

    /// An address that the server names, if it is its own.
    pub(super) fn own_address(&self, reference: &str) -> Result<Url, Trouble> {
        let url = self.url.join(reference).ok();
        url.filter(|url| url.origin() == self.url.origin())
            .ok_or_else(|| Trouble::Barred("it sends its messages to another server".to_owned()))
    }
}

/// The beginning of a stream that nobody waits for as for an answer.
pub(super) async fn begun(
    sent: impl Future<Output = Result<Response, Trouble>>,
) -> Result<Response, Trouble> {
    timeout(HEADERS, sent).await.unwrap_or_else(|_elapsed| {
        let cause = format!("nothing came within {} s", HEADERS.as_secs());
        Err(Trouble::Transient(cause))
    })
}

/// Where a redirect leads, if it stays with the server.
fn redirected(method: &Method, url: &Url, response: &Response) -> Result<Url, Trouble> {
    let status = response.status();
    let target = response
        .headers()
        .get(LOCATION)
        .and_then(|location| location.to_str().ok())
        .and_then(|location| url.join(location).ok());
    let Some(target) = target else {
        return Err(Trouble::Barred(format!("it redirects to nowhere ({status})")));
    };
    let mut shown = target.clone();
    shown.set_query(None);
    if target.origin() != url.origin() {
        let cause = format!("it redirects to {shown}, another server; if that is right, write it in `url`");
        return Err(Trouble::Barred(cause));
    }
    // The others turn a POST into a GET.
    let keeps_method = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    if method == Method::POST && !keeps_method {
        let cause = format!("it redirects to {shown} ({status}); write that in `url`");
        return Err(Trouble::Barred(cause));
    }
    Ok(target)
}

fn login_command(server: &str, scopes: Option<&str>) -> String {
    let mut command = format!("codeyard login {}", quoted(server));
    // A server's words go into a shell here: only what is harmless there.
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

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn unsent(error: &reqwest::Error) -> Trouble {
    let cause = client::describe(error);
    if error.is_connect() {
        Trouble::Unreachable(format!("it cannot be reached: {cause}"))
    } else {
        Trouble::Transient(format!("the connection broke: {cause}"))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_has_thirty_seconds_to_begin() {
        let start = Instant::now();
        let trouble = begun(std::future::pending()).await.expect_err("nothing came");
        assert_eq!(start.elapsed(), Duration::from_secs(30));
        assert!(
            matches!(&trouble, Trouble::Transient(cause) if cause == "nothing came within 30 s"),
            "{trouble:?}"
        );
    }
}
