//! A server that has been greeted: sends it requests, side by side, and says in full why one failed.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, CustomRequest, NumberOrString,
    RequestId, ServerCapabilities,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::client::ClientSlot;
use crate::error::UpstreamError;
use crate::hub::Era;
use crate::question::Along;
use crate::stderr::Stderr;
use crate::transport::{Failure, MAX_LINE, Reply, Traffic};

/// How long a failed call waits to learn how its server ended.
const OBITUARY: Duration = Duration::from_secs(3);

/// One life of a server, shared by all its callers.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) stderr: Arc<Stderr>,
    pub(crate) pid: Option<u32>,
    pub(crate) era: Era,
    /// Whether it is reached over HTTP.
    pub(crate) is_remote: bool,
    pub(crate) capabilities: ServerCapabilities,
    /// How the server ended, once it has.
    pub(crate) end: watch::Sender<Option<String>>,
    /// Raised by the first call that was answered: a server that ends before it is held back for a while.
    pub(crate) has_served: std::sync::atomic::AtomicBool,
}

/// Why a request came to nothing.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// It was not sent at all.
    Unasked(UpstreamError),
    /// The server cannot have seen it, so that another life of it may be asked.
    Undelivered(UpstreamError),
    /// The server may have acted on it.
    Failed(UpstreamError),
}

/// How long a request may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Without an answer or progress.
    pub(crate) idle: Duration,
    /// In all.
    pub(crate) deadline: Instant,
}

impl Connection {
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Whether the server has said that it knows requests of this kind.
    pub(crate) fn offers(&self, method: &str) -> bool {
        let capabilities = &self.capabilities;
        let is_legacy = self.era == Era::Legacy;
        match method {
            "resources/subscribe" | "resources/unsubscribe" => is_legacy && capabilities.resources.is_some(),
            "logging/setLevel" => is_legacy && capabilities.logging.is_some(),
            _ if method.starts_with("resources/") => capabilities.resources.is_some(),
            _ if method.starts_with("prompts/") => capabilities.prompts.is_some(),
            _ => true,
        }
    }

    /// Tells a server of the legacy era how much the client wants to hear of what it logs, if it has said so; one of the
    /// modern era hears that with each request. The answer is not waited for.
    pub(crate) async fn tell_log_level(&self, client: &ClientSlot) {
        const METHOD: &str = "logging/setLevel";
        let level = client.get().and_then(|client| client.log_level());
        let Some(level) = level.filter(|_| self.offers(METHOD)) else {
            return;
        };
        let request = CustomRequest::new(METHOD, Some(json!({"level": level})));
        let request = ClientRequest::CustomRequest(request);
        // A server that cannot be told is about to be found out.
        let _ = self
            .peer
            .send_request_with_option(request, PeerRequestOptions::no_options())
            .await;
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(&self) {
        // The sender lives in `self`, so that waiting cannot fail.
        let _ = self.end.subscribe().wait_for(Option::is_some).await;
    }

    /// Sends a request and gives the text of its result. Dropping the future cancels the request.
    pub(crate) async fn request(
        &self,
        mut request: ClientRequest,
        name: &str,
        patience: Patience,
    ) -> Result<String, RequestError> {
        let along = Along::take(&mut request);
        let mut options = PeerRequestOptions::no_options();
        options.meta = along.meta();
        let sent = self.peer.send_request_with_option(request, options);
        let start = Instant::now();
        let mut handle = match tokio::time::timeout_at(patience.deadline, sent).await {
            Ok(Ok(handle)) => handle,
            Ok(Err(_closed)) => return Err(RequestError::Undelivered(self.gone(name).await)),
            Err(_elapsed) => return Err(RequestError::Failed(self.timeout(name, start.elapsed()))),
        };
        let mut cancel = CancelOnDrop {
            peer: &self.peer,
            id: Some(handle.id.clone()),
        };
        let token = match &handle.progress_token.0 {
            NumberOrString::Number(token) => *token,
            NumberOrString::String(_) => i64::MIN,
        };
        let progress = self.traffic.watch_progress(token, along.progress);
        let mut idle = start + patience.idle;
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => break answer,
                () = progress.progress() => idle = Instant::now() + patience.idle,
                () = sleep_until(idle.min(patience.deadline)) => {
                    return Err(RequestError::Failed(self.timeout(name, start.elapsed())));
                }
            }
        };
        cancel.id = None;
        match answer {
            Ok(Ok(result)) => match Reply::from_result(result) {
                Reply::Failed(Failure::Undelivered) => Err(RequestError::Undelivered(self.gone(name).await)),
                reply => self.read(reply, name).map_err(RequestError::Failed),
            },
            // Not even a whole line of it went out.
            Ok(Err(ServiceError::TransportSend(_))) => Err(RequestError::Undelivered(self.gone(name).await)),
            Ok(Err(error)) => Err(RequestError::Failed(self.failure(error, name).await)),
            Err(_closed) => Err(RequestError::Failed(self.gone(name).await)),
        }
    }

    fn read(&self, reply: Reply, name: &str) -> Result<String, UpstreamError> {
        match reply {
            Reply::Raw(raw) => Ok(raw),
            Reply::TooLarge(bytes) => Err(UpstreamError::TooLarge {
                server: self.server.clone(),
                request: name.to_owned(),
                bytes,
                limit: MAX_LINE.try_into().unwrap_or(u64::MAX),
            }),
            Reply::Broken(cause) => Err(self.bad_answer(name, cause)),
            Reply::Failed(failure) => {
                let (cause, again_in) = match failure {
                    Failure::Undelivered => ("the connection was lost".to_owned(), Some(Duration::ZERO)),
                    Failure::Unanswered { cause, again_in } => (cause, again_in),
                };
                Err(UpstreamError::Unanswered {
                    server: self.server.clone(),
                    request: name.to_owned(),
                    cause: self.traffic.secrets.hide(&cause),
                    again_in,
                })
            }
        }
    }

    /// The text of a result, which is an object.
    pub(crate) fn raw_object(&self, raw: String, name: &str) -> Result<Box<RawValue>, UpstreamError> {
        if !raw.starts_with('{') {
            return Err(self.bad_answer(name, "the result is no object".to_owned()));
        }
        let raw = self.without_secrets(raw);
        RawValue::from_string(raw).map_err(|error| self.bad_answer(name, error.to_string()))
    }

    /// The text of a tool's result; one that is an error is a message, and shows no secret. Other answers are passed on as they are.
    fn without_secrets(&self, raw: String) -> String {
        const MARK: &str = "isError";
        #[derive(serde::Deserialize)]
        struct Fields {
            #[serde(default, rename = "isError")]
            is_error: bool,
        }
        // The mark is looked for first: most answers are long and no errors.
        let is_error =
            raw.contains(MARK) && serde_json::from_str::<Fields>(&raw).is_ok_and(|fields| fields.is_error);
        let result = is_error.then(|| serde_json::from_str(&raw));
        match result {
            Some(Ok(result)) => self.traffic.secrets.hide_value(result).to_string(),
            _ => raw,
        }
    }

    pub(crate) fn bad_answer(&self, name: &str, cause: String) -> UpstreamError {
        UpstreamError::BadAnswer {
            server: self.server.clone(),
            request: name.to_owned(),
            cause: self
                .traffic
                .secrets
                .hide(&format!("{cause}{}", self.traffic.seen())),
            stderr: self.stderr.tail(),
        }
    }

    fn timeout(&self, name: &str, after: Duration) -> UpstreamError {
        UpstreamError::Timeout {
            server: self.server.clone(),
            request: name.to_owned(),
            after,
            seen: self.traffic.seen(),
        }
    }

    /// What a failure of the library means here.
    async fn failure(&self, error: ServiceError, name: &str) -> UpstreamError {
        match error {
            ServiceError::McpError(error) => UpstreamError::Refused {
                server: self.server.clone(),
                request: name.to_owned(),
                code: i64::from(error.code.0),
                message: self.traffic.secrets.hide(&error.message),
                data: error
                    .data
                    .map(|data| Box::new(self.traffic.secrets.hide_value(data))),
            },
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => self.gone(name).await,
            other => self.bad_answer(name, other.to_string()),
        }
    }

    pub(crate) async fn gone(&self, name: &str) -> UpstreamError {
        let mut end = self.end.subscribe();
        let cause = match timeout(OBITUARY, end.wait_for(Option::is_some)).await {
            Ok(Ok(cause)) => cause.clone().unwrap_or_default(),
            _ => "it closed its pipes".to_owned(),
        };
        UpstreamError::Gone {
            server: self.server.clone(),
            request: name.to_owned(),
            cause,
            stderr: self.stderr.tail(),
        }
    }
}

impl From<RequestError> for UpstreamError {
    fn from(error: RequestError) -> UpstreamError {
        match error {
            RequestError::Unasked(error) | RequestError::Undelivered(error) | RequestError::Failed(error) => {
                error
            }
        }
    }
}

/// Tells the server that nobody waits any more, unless an answer has come.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        let params = CancelledNotificationParam::new(Some(id), Some("the caller no longer waits".to_owned()));
        runtime.spawn(async move {
            // A server that is gone needs no cancellation.
            let _ = peer
                .send_notification(CancelledNotification::new(params).into())
                .await;
        });
    }
}
