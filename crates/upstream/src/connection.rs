//! The connection to a running server: sends requests concurrently and turns failures into errors.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, CustomRequest, GetExtensions,
    NumberOrString, RequestId, RequestMetaObject, ServerCapabilities,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};
use upstream_wire::{ClientSlot, Era, MAX_LINE, Notifications, Reply, RequestFailure, Stderr};

use crate::error::UpstreamError;

/// How long a failed call waits for the description of the server's end.
const END_WAIT: Duration = Duration::from_secs(3);

/// One connection, shared by all callers.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) notifications: Arc<Notifications>,
    pub(crate) stderr: Arc<Stderr>,
    pub(crate) pid: Option<u32>,
    pub(crate) era: Era,
    pub(crate) is_remote: bool,
    pub(crate) capabilities: ServerCapabilities,
    /// A description of how the server ended; `None` while the server runs.
    pub(crate) end: watch::Sender<Option<String>>,
    /// Whether a call was answered. A server that ends before its first answer is not restarted at once.
    pub(crate) has_served: std::sync::atomic::AtomicBool,
}

#[derive(Debug)]
pub(crate) enum RequestError {
    NotSent(UpstreamError),
    /// The server did not receive the request, so a new connection may send the request again.
    Undelivered(UpstreamError),
    /// The server may have executed the request.
    Failed(UpstreamError),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimits {
    /// Longest time without a response or progress.
    pub(crate) idle: Duration,
    /// End of the request, regardless of progress.
    pub(crate) deadline: Instant,
}

/// Fields of `_meta`, and the channel that receives progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestMeta {
    pub(crate) fields: Map<String, Value>,
    pub(crate) progress: Option<mpsc::Sender<Value>>,
}

impl Connection {
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

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

    /// Sends the client's log level, if set, to a legacy server; a modern server receives it with each
    /// request. Does not wait for the answer.
    pub(crate) async fn set_log_level(&self, client: &ClientSlot) {
        const METHOD: &str = "logging/setLevel";
        let level = client.get().and_then(|client| client.log_level());
        let Some(level) = level.filter(|_| self.offers(METHOD)) else {
            return;
        };
        let request = CustomRequest::new(METHOD, Some(json!({"level": level})));
        let request = ClientRequest::CustomRequest(request);
        // If sending fails, the driver notices the end of the connection.
        let _ = self
            .peer
            .send_request_with_option(request, PeerRequestOptions::no_options())
            .await;
    }

    pub(crate) async fn ended(&self) {
        // `self` holds the sender, so waiting cannot fail.
        let _ = self.end.subscribe().wait_for(Option::is_some).await;
    }

    /// Returns the text of the result. Dropping the future cancels the request.
    pub(crate) async fn request(
        &self,
        mut request: ClientRequest,
        name: &str,
        limits: TimeLimits,
    ) -> Result<String, RequestError> {
        let meta = RequestMeta::take(&mut request);
        let mut options = PeerRequestOptions::no_options();
        options.meta = meta.object();
        let sent = self.peer.send_request_with_option(request, options);
        let start = Instant::now();
        let mut handle = match tokio::time::timeout_at(limits.deadline, sent).await {
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
        let progress = self.notifications.watch_progress(token, meta.progress);
        let mut idle = start + limits.idle;
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => break answer,
                () = progress.progress() => idle = Instant::now() + limits.idle,
                () = sleep_until(idle.min(limits.deadline)) => {
                    return Err(RequestError::Failed(self.timeout(name, start.elapsed())));
                }
            }
        };
        cancel.id = None;
        match answer {
            Ok(Ok(result)) => self.read(Reply::from_result(result), name).await,
            // No complete line was sent.
            Ok(Err(ServiceError::TransportSend(_))) => Err(RequestError::Undelivered(self.gone(name).await)),
            Ok(Err(error)) => Err(RequestError::Failed(self.service_error(error, name).await)),
            Err(_closed) => Err(RequestError::Failed(self.gone(name).await)),
        }
    }

    async fn read(&self, reply: Reply, name: &str) -> Result<String, RequestError> {
        let error = match reply {
            Reply::Raw(raw) => return Ok(raw),
            Reply::Failed(RequestFailure::Undelivered) => {
                return Err(RequestError::Undelivered(self.gone(name).await));
            }
            Reply::Failed(RequestFailure::Unanswered { cause, again_in }) => UpstreamError::Unanswered {
                server: self.server.clone(),
                request: name.to_owned(),
                cause: self.notifications.secrets.hide(&cause),
                again_in,
            },
            Reply::TooLarge(bytes) => UpstreamError::TooLarge {
                server: self.server.clone(),
                request: name.to_owned(),
                bytes,
                limit: MAX_LINE.try_into().unwrap_or(u64::MAX),
            },
            Reply::Broken(cause) => self.bad_answer(name, cause),
        };
        Err(RequestError::Failed(error))
    }

    /// Checks that a result is an object and returns its text.
    pub(crate) fn raw_object(&self, raw: String, name: &str) -> Result<Box<RawValue>, UpstreamError> {
        if !raw.starts_with('{') {
            return Err(self.bad_answer(name, "the result is not an object".to_owned()));
        }
        let raw = self.without_secrets(raw);
        RawValue::from_string(raw).map_err(|error| self.bad_answer(name, error.to_string()))
    }

    /// Redacts secrets in a tool's error result, because errors become messages. Other results stay unchanged.
    fn without_secrets(&self, raw: String) -> String {
        const IS_ERROR: &str = "isError";
        #[derive(serde::Deserialize)]
        struct ErrorFlag {
            #[serde(default, rename = "isError")]
            is_error: bool,
        }
        // Most results are long and not errors: search the text first, and parse only if the field occurs.
        let is_error = raw.contains(IS_ERROR)
            && serde_json::from_str::<ErrorFlag>(&raw).is_ok_and(|fields| fields.is_error);
        let result = is_error.then(|| serde_json::from_str(&raw));
        match result {
            Some(Ok(result)) => self.notifications.secrets.hide_value(result).to_string(),
            _ => raw,
        }
    }

    pub(crate) fn bad_answer(&self, name: &str, cause: String) -> UpstreamError {
        UpstreamError::BadAnswer {
            server: self.server.clone(),
            request: name.to_owned(),
            cause: self
                .notifications
                .secrets
                .hide(&format!("{cause}{}", self.notifications.last_warning())),
            stderr: self.stderr.tail(),
        }
    }

    fn timeout(&self, name: &str, after: Duration) -> UpstreamError {
        UpstreamError::Timeout {
            server: self.server.clone(),
            request: name.to_owned(),
            after,
            seen: self.notifications.last_warning(),
        }
    }

    async fn service_error(&self, error: ServiceError, name: &str) -> UpstreamError {
        match error {
            ServiceError::McpError(error) => UpstreamError::Refused {
                server: self.server.clone(),
                request: name.to_owned(),
                code: i64::from(error.code.0),
                message: self.notifications.secrets.hide(&error.message),
                data: error
                    .data
                    .map(|data| Box::new(self.notifications.secrets.hide_value(data))),
            },
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => self.gone(name).await,
            other => self.bad_answer(name, other.to_string()),
        }
    }

    pub(crate) async fn gone(&self, name: &str) -> UpstreamError {
        let mut end = self.end.subscribe();
        let cause = match timeout(END_WAIT, end.wait_for(Option::is_some)).await {
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

impl RequestMeta {
    /// Removes the additions from a request.
    fn take(request: &mut ClientRequest) -> RequestMeta {
        request
            .extensions_mut()
            .remove::<RequestMeta>()
            .unwrap_or_default()
    }

    /// The `_meta` fields that take precedence over the library's.
    fn object(&self) -> Option<RequestMetaObject> {
        let set_by_library = ["protocolVersion", "clientInfo"];
        let mut fields = self.fields.clone();
        fields.retain(|key, _| {
            let name = key.strip_prefix("io.modelcontextprotocol/");
            key != "progressToken" && !name.is_some_and(|name| set_by_library.contains(&name))
        });
        let object = (!fields.is_empty()).then(|| serde_json::from_value(Value::Object(fields)));
        object.and_then(Result::ok)
    }
}

impl From<RequestError> for UpstreamError {
    fn from(error: RequestError) -> UpstreamError {
        match error {
            RequestError::NotSent(error) | RequestError::Undelivered(error) | RequestError::Failed(error) => {
                error
            }
        }
    }
}

/// Cancels the request at the server on drop, unless the response has arrived.
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
            // If sending fails, the server has ended.
            let _ = peer
                .send_notification(CancelledNotification::new(params).into())
                .await;
        });
    }
}
