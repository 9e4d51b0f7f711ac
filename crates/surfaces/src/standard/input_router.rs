//! Routes servers' questions to open requests of a modern client; only the response to such a request can carry a
//! question.
//!
//! A modern client accepts no requests. A server's request for input reaches the client in the response to the
//! client's own request (`input_required`). The client replies with its next request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use upstream_wire::JsonRpcError;

/// Limit on pending questions of one server, so that no server floods the client's window.
pub(super) const MAX_INPUT_REQUESTS: usize = 16;

/// A server's question, and the channel for the answer.
#[derive(Debug)]
pub(super) struct InputRequest {
    pub(super) method: String,
    pub(super) params: Option<Value>,
    pub(super) reply: oneshot::Sender<Value>,
}

/// Why a server gets no input. The server receives it as a [`JsonRpcError`].
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    #[error("Method not found: {0}")]
    UnknownMethod(String),
    #[error("{0}: no client has asked anything yet")]
    NoClient(String),
    #[error("{method}: the client did not declare the capability '{capability}'")]
    NotDeclared {
        method: String,
        capability: &'static str,
    },
    #[error("{method}: no call is under way whose client declared the capability '{capability}'")]
    NoOpenRequest {
        method: String,
        capability: &'static str,
    },
    #[error("{0}: {MAX_INPUT_REQUESTS} questions of this server wait for the client already")]
    TooMany(String),
    #[error("the client did not answer before its call was over")]
    Unanswered,
    #[error("{}", .0.message)]
    Declined(ErrorData),
    #[error("the client could not be asked: {0}")]
    Unreachable(ServiceError),
}

impl From<InputError> for JsonRpcError {
    fn from(error: InputError) -> Self {
        let (code, message) = (error.code().0, error.to_string());
        let data = match error {
            InputError::Declined(error) => error.data,
            _ => None,
        };
        JsonRpcError { code, message, data }
    }
}

impl InputError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Declined(error) => error.code,
            Self::Unanswered | Self::Unreachable(_) => ErrorCode::INTERNAL_ERROR,
            _ => ErrorCode::METHOD_NOT_FOUND,
        }
    }
}

/// What a request declares about its client.
#[derive(Debug, Default)]
pub(super) struct ClientTerms {
    /// What the response may request from the client.
    pub(super) capabilities: Map<String, Value>,
    /// Whether the client wants the server's log messages.
    pub(super) wants_logs: bool,
}

/// The open requests of one client.
#[derive(Debug, Default)]
pub(super) struct InputRouter {
    requests: Mutex<OpenRequests>,
}

#[derive(Debug, Default)]
struct OpenRequests {
    count: u64,
    /// Oldest first.
    by_number: BTreeMap<u64, OpenRequest>,
}

#[derive(Debug)]
struct OpenRequest {
    server: String,
    terms: ClientTerms,
    /// Whether the client received a request for input and has not yet replied.
    is_suspended: bool,
    input: mpsc::Sender<InputRequest>,
}

/// Keeps one request open.
#[derive(Debug)]
pub(super) struct OpenRequestGuard {
    router: Arc<InputRouter>,
    number: u64,
}

impl InputRouter {
    /// Opens a request to that server. The receiver yields the server's questions while the request is open.
    pub(super) fn open(
        self: &Arc<Self>,
        server: &str,
        terms: ClientTerms,
    ) -> (OpenRequestGuard, mpsc::Receiver<InputRequest>) {
        let (input, receiver) = mpsc::channel(MAX_INPUT_REQUESTS);
        let mut requests = self.lock();
        requests.count += 1;
        let number = requests.count;
        requests.by_number.insert(
            number,
            OpenRequest {
                server: server.to_owned(),
                terms,
                is_suspended: false,
                input,
            },
        );
        let router = Arc::clone(self);
        (OpenRequestGuard { router, number }, receiver)
    }

    /// Whether any open request to that server wants its log messages.
    pub(super) fn wants_logs(&self, server: &str) -> bool {
        let requests = self.lock();
        let mut requests = requests.by_number.values();
        requests.any(|request| request.server == server && request.terms.wants_logs)
    }

    /// Sends the question in the response to an open request to that server: a request that is not suspended, else the
    /// latest. The protocol does not say which request a question belongs to; all belong to the same client.
    pub(super) async fn ask(
        &self,
        server: &str,
        capability: &'static str,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, InputError> {
        let carrier = {
            let requests = self.lock();
            let requests = requests.by_number.values();
            requests
                .filter(|request| {
                    request.server == server && request.terms.capabilities.contains_key(capability)
                })
                .max_by_key(|request| !request.is_suspended)
                .map(|request| request.input.clone())
        };
        let Some(carrier) = carrier else {
            return Err(InputError::NoOpenRequest { method, capability });
        };
        let (reply, answer) = oneshot::channel();
        // If sending fails, `reply` is dropped, and the line below detects the drop.
        let _ = carrier.try_send(InputRequest {
            method,
            params,
            reply,
        });
        answer.await.map_err(|_| InputError::Unanswered)
    }

    fn lock(&self) -> MutexGuard<'_, OpenRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenRequestGuard {
    pub(super) fn suspend(&self) {
        self.change(|request| request.is_suspended = true);
    }

    /// Marks that the client has replied with its input.
    pub(super) fn resume(&self) {
        self.change(|request| request.is_suspended = false);
    }

    fn change(&self, change: impl FnOnce(&mut OpenRequest)) {
        self.router.lock().by_number.get_mut(&self.number).map(change);
    }
}

impl Drop for OpenRequestGuard {
    fn drop(&mut self) {
        self.router.lock().by_number.remove(&self.number);
    }
}
