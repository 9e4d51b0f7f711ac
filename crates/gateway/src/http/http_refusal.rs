//! Answers to MCP's requests as JSON, and refusals with a status.

use std::fmt;

use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};

use super::conversation::TellError;
use crate::reply;

/// A request that is refused.
#[derive(Debug)]
pub(super) struct HttpRefusal {
    status: StatusCode,
    error: Box<ErrorData>,
    id: Option<RequestId>,
}

pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

// === impl HttpRefusal ===

impl HttpRefusal {
    pub(super) fn new(status: StatusCode, error: ErrorData, id: Option<RequestId>) -> HttpRefusal {
        HttpRefusal {
            status,
            error: Box::new(error),
            id,
        }
    }

    pub(super) fn bad(why: String, id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::invalid_request(format!("Invalid request: {why}"), None);
        HttpRefusal::new(StatusCode::BAD_REQUEST, error, id)
    }

    /// The session id is unknown, or the session has ended.
    pub(super) fn no_session(id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::new(
            ErrorCode(-32001),
            "the session is unknown or has ended; `initialize` opens one",
            None,
        );
        HttpRefusal::new(StatusCode::NOT_FOUND, error, id)
    }

    /// A limit was reached; a later attempt may succeed.
    pub(super) fn too_many(full: impl fmt::Display, id: Option<RequestId>) -> HttpRefusal {
        let error = ErrorData::new(ErrorCode(-32000), full.to_string(), None);
        HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, error, id)
    }

    pub(super) fn into_response(self) -> Response {
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

impl From<TellError> for HttpRefusal {
    fn from(error: TellError) -> HttpRefusal {
        match error {
            TellError::Repeated(twice) => HttpRefusal::bad(twice.to_string(), None),
            TellError::Ended(_) => HttpRefusal::no_session(None),
        }
    }
}
