//! Refusals and answers of the gateway as responses of HTTP.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, StatusCode};
use identity::{Identity, Permission, Route, RouteRefusal};
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
    /// A token with these scopes would be admitted.
    #[error("{0}")]
    Scope(RestError, String),
    /// The path has only these rows.
    #[error("the path takes {}", methods(.0))]
    Method(Arc<[Route]>),
}

/// Why an issuer's token was refused, for the challenge of the response.
#[derive(Debug, Clone)]
pub(super) struct RefusedToken(pub(super) String);

/// The scopes to ask for, for the challenge of the response.
#[derive(Debug, Clone)]
pub(super) struct NeededScopes(pub(super) String);

impl From<RouteRefusal> for ApiRefusal {
    fn from(refusal: RouteRefusal) -> ApiRefusal {
        ApiRefusal::Rest(match refusal {
            RouteRefusal::NoToken => RestError::Unauthenticated,
            RouteRefusal::Denied(denied) => RestError::Forbidden(denied.0.name().to_owned()),
        })
    }
}

impl ApiRefusal {
    /// The refusal, with the scopes that would change it.
    pub(super) fn with_scopes(self, identity: &Identity) -> ApiRefusal {
        match self {
            ApiRefusal::Rest(RestError::Forbidden(permission)) => {
                let needed = permission.parse::<Permission>().ok();
                match needed.and_then(|permission| identity.needed_scopes(permission)) {
                    Some(scopes) => ApiRefusal::Scope(RestError::Forbidden(permission), scopes),
                    None => RestError::Forbidden(permission).into(),
                }
            }
            other => other,
        }
    }

    pub(super) fn status(&self) -> u16 {
        match self {
            ApiRefusal::Rest(problem) | ApiRefusal::Scope(problem, _) => problem.status(),
            ApiRefusal::Guard(refusal) => refusal.status().as_u16(),
            ApiRefusal::Body(broken) => broken.status().as_u16(),
            ApiRefusal::Method(_) => StatusCode::METHOD_NOT_ALLOWED.as_u16(),
        }
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = match &self {
            ApiRefusal::Rest(problem) | ApiRefusal::Scope(problem, _) => {
                error(status(problem.status()), &problem.body())
            }
            _ => self.plain(status(self.status())),
        };
        let headers = response.headers_mut();
        match &self {
            ApiRefusal::Rest(RestError::Unauthenticated) => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            ApiRefusal::Rest(RestError::InvalidToken(why)) => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                response.extensions_mut().insert(RefusedToken(why.clone()));
            }
            ApiRefusal::Scope(_, scopes) => {
                response.extensions_mut().insert(NeededScopes(scopes.clone()));
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
