//! Refusals and answers of the gateway as responses of HTTP.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, StatusCode};
use identity::{Route, RouteRefusal};
use rest::{ErrorBody, RestError};

use crate::http::api::{ApiReply, ReplyBody};
use crate::http::body::BodyError;
use crate::http::guard::Refusal;

const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiRefusal {
    #[error(transparent)]
    Guard(#[from] Refusal),
    #[error(transparent)]
    Rest(#[from] RestError),
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The path has only these rows.
    #[error("the path takes {}", methods(.0))]
    Method(Arc<[Route]>),
}

impl From<RouteRefusal> for ApiRefusal {
    fn from(refusal: RouteRefusal) -> ApiRefusal {
        ApiRefusal::Rest(match refusal {
            RouteRefusal::NoToken => RestError::Unauthenticated,
            RouteRefusal::Denied(denied) => RestError::Forbidden(denied.0.name().to_owned()),
        })
    }
}

impl ApiRefusal {
    pub(super) fn status(&self) -> u16 {
        match self {
            ApiRefusal::Rest(problem) => problem.status(),
            ApiRefusal::Guard(refusal) => refusal.status().as_u16(),
            ApiRefusal::Body(broken) => broken.status().as_u16(),
            ApiRefusal::Method(_) => StatusCode::METHOD_NOT_ALLOWED.as_u16(),
        }
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = match &self {
            ApiRefusal::Rest(problem) => error(status(problem.status()), &problem.body()),
            _ => self.plain(status(self.status())),
        };
        let headers = response.headers_mut();
        match &self {
            ApiRefusal::Rest(RestError::Unauthenticated) => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            ApiRefusal::Rest(problem) => {
                if let Some(seconds) = problem.retry_after() {
                    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
            }
            ApiRefusal::Method(rows) => {
                if let Ok(allowed) = HeaderValue::from_str(&methods(rows)) {
                    headers.insert(ALLOW, allowed);
                }
            }
            ApiRefusal::Guard(_) | ApiRefusal::Body(_) => {}
        }
        response
    }

    fn plain(&self, status: StatusCode) -> Response {
        let body = ErrorBody {
            detail: self.to_string(),
            errors: Vec::new(),
        };
        error(status, &body)
    }
}

fn methods(rows: &[Route]) -> String {
    let names: Vec<&str> = rows.iter().map(|route| route.method().name()).collect();
    names.join(", ")
}

fn error(status: StatusCode, body: &ErrorBody) -> Response {
    // Plain data can always be written.
    let body = serde_json::to_vec(body).unwrap_or_default();
    reply(ApiReply::json(status.as_u16(), body))
}

/// Answers contain data for their caller only, so intermediaries must not store them.
pub(super) fn reply(reply: ApiReply) -> Response {
    let body = match reply.body {
        ReplyBody::Whole(body) => Body::from(body),
        ReplyBody::Parts(parts) => Body::from_stream(parts),
    };
    let mut response = (status(reply.status), body).into_response();
    let headers = response.headers_mut();
    let mut add = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    add(CACHE_CONTROL, "no-store");
    add(X_CONTENT_TYPE_OPTIONS, "nosniff");
    // A cursor is URL-safe Base64.
    let cursor = reply
        .next_cursor
        .and_then(|cursor| HeaderValue::from_str(&cursor).ok());
    if let Some(cursor) = cursor {
        headers.insert(NEXT_CURSOR, cursor);
    }
    let mut add = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    if let Some(content_type) = reply.content_type {
        add(CONTENT_TYPE, content_type);
        if content_type.starts_with("text/html") {
            add(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'");
        }
    }
    response
}

fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
