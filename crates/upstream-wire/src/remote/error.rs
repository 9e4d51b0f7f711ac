//! Errors of exchanges with a remote server.

use std::time::Duration;

use serde_json::Value;

use crate::oauth::AccessError;

/// Errors by their consequences.
#[derive(Debug)]
pub(super) enum RemoteError {
    /// No connection: the server received nothing.
    Unreachable(String),
    /// The server refused our credentials or redirected us to another origin. Repeating the request does not
    /// help.
    Rejected(String),
    /// A person has to log in first.
    LoginRequired(String),
    SessionExpired,
    /// The server may speak the other transport over HTTP.
    WrongTransport(String),
    JsonRpc(Value),
    /// Bytes received or announced; the message is longer than a line may be.
    TooLarge(u64),
    /// No answer. The same request may succeed later.
    Transient(String),
    /// No answer. The same request may succeed after this pause.
    RetryAfter(String, Duration),
    InvalidResponse(String),
}

impl From<AccessError> for RemoteError {
    fn from(denied: AccessError) -> RemoteError {
        match denied {
            AccessError::Ended(cause) => RemoteError::LoginRequired(cause),
            AccessError::Transient(cause) => RemoteError::Transient(cause),
        }
    }
}

impl RemoteError {
    pub(super) fn cause(&self) -> String {
        match self {
            RemoteError::Unreachable(cause)
            | RemoteError::Rejected(cause)
            | RemoteError::LoginRequired(cause)
            | RemoteError::WrongTransport(cause)
            | RemoteError::Transient(cause)
            | RemoteError::RetryAfter(cause, _)
            | RemoteError::InvalidResponse(cause) => cause.clone(),
            RemoteError::SessionExpired => "ended the session".to_owned(),
            RemoteError::JsonRpc(error) => error["message"].as_str().unwrap_or("it refused").to_owned(),
            RemoteError::TooLarge(bytes) => format!("a message of {bytes} bytes"),
        }
    }
}
