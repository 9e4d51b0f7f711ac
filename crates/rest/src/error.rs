//! Refusals of requests, with HTTP statuses.

use std::time::Duration;

use policy::Mistake;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request is refused. Unknown ids and ids of other tenants cause the same error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestError {
    /// 400: the request cannot be read, or a switch forbids it.
    #[error("{0}")]
    BadRequest(String),
    /// 401: the token is missing or invalid.
    #[error("Not authenticated")]
    Unauthenticated,
    /// 401: an issuer's token proves nothing, or the rules admit nobody with it.
    #[error("Not authenticated: {0}")]
    InvalidToken(String),
    /// 403: the token or the role lacks this permission.
    #[error("Insufficient permissions. Required: {0}")]
    Forbidden(String),
    /// 404: the object does not exist, or the user may not see it.
    #[error("{0}")]
    NotFound(String),
    /// 409: the request conflicts with another object or change.
    #[error("{0}")]
    Conflict(String),
    /// 422: the mistakes, at least one.
    #[error("{}", joined(.0))]
    Invalid(Vec<Mistake>),
    /// 429: the limit allows the request again after this time.
    #[error("{message}")]
    TooManyRequests {
        /// Names the limit.
        message: String,
        /// Time until the request may be repeated.
        retry_after: Duration,
    },
    /// 503: the server is draining, or lacks what the request needs.
    #[error("{message}")]
    Unavailable {
        /// Names the cause.
        message: String,
        /// Time until the request may succeed.
        retry_after: Duration,
    },
}

/// The body of a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    /// The reason, for people.
    pub detail: String,
    /// Each mistake of the request, with status 422.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

/// One mistake of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldError {
    /// Such as `sandbox_policy.max_memory_mb` or `tags[2]`; `body` for the body as a whole.
    pub path: String,
    /// The mistake and the remedy.
    pub message: String,
}

impl RestError {
    /// S0-01: the operator has switched servers of the kind `code_execution` off.
    pub fn code_execution_is_off() -> RestError {
        let text = "code_execution servers are disabled (set CODE_EXECUTION_ENABLED=true to enable)";
        RestError::BadRequest(text.to_owned())
    }

    /// S0-01: the routes below `/code` of a server that runs no programs, or that this user may not see.
    pub fn no_code_server() -> RestError {
        RestError::NotFound("code_execution server not found".to_owned())
    }

    /// A server that does not exist, or that this user may not see.
    pub fn no_server() -> RestError {
        RestError::NotFound("Server not found".to_owned())
    }

    /// Another server of the tenant has the name.
    pub fn name_is_taken(name: &str) -> RestError {
        RestError::Conflict(format!("Server already exists with name: {name}"))
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            RestError::BadRequest(_) => 400,
            RestError::Unauthenticated | RestError::InvalidToken(_) => 401,
            RestError::Forbidden(_) => 403,
            RestError::NotFound(_) => 404,
            RestError::Conflict(_) => 409,
            RestError::Invalid(_) => 422,
            RestError::TooManyRequests { .. } => 429,
            RestError::Unavailable { .. } => 503,
        }
    }

    /// The header `Retry-After`, in whole seconds, at least 1.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            RestError::TooManyRequests { retry_after, .. } | RestError::Unavailable { retry_after, .. } => {
                let begun = u64::from(retry_after.subsec_nanos() > 0);
                Some((retry_after.as_secs().saturating_add(begun)).max(1))
            }
            _ => None,
        }
    }

    /// The body of the answer.
    pub fn body(&self) -> ErrorBody {
        let errors = match self {
            RestError::Invalid(mistakes) => mistakes.iter().map(FieldError::of).collect(),
            _ => Vec::new(),
        };
        ErrorBody {
            detail: self.to_string(),
            errors,
        }
    }
}

impl FieldError {
    fn of(mistake: &Mistake) -> Self {
        Self {
            path: mistake.field.clone(),
            message: mistake.message.clone(),
        }
    }
}

fn joined(mistakes: &[Mistake]) -> String {
    let texts: Vec<String> = mistakes
        .iter()
        .map(|mistake| format!("{}: {}", mistake.field, mistake.message))
        .collect();
    texts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(problem: RestError, status: u16, retry_after: Option<u64>, body: &str) {
        assert_eq!((problem.status(), problem.retry_after()), (status, retry_after));
        assert_eq!(serde_json::to_string(&problem.body()).expect("JSON"), body);
    }

    #[test]
    fn c002_c008_c014_each_problem_has_one_status_and_body() {
        let after = |ms| Duration::from_millis(ms);
        check(
            RestError::code_execution_is_off(),
            400,
            None,
            r#"{"detail":"code_execution servers are disabled (set CODE_EXECUTION_ENABLED=true to enable)"}"#,
        );
        check(
            RestError::Unauthenticated,
            401,
            None,
            r#"{"detail":"Not authenticated"}"#,
        );
        check(
            RestError::Forbidden("servers.use".to_owned()),
            403,
            None,
            r#"{"detail":"Insufficient permissions. Required: servers.use"}"#,
        );
        check(
            RestError::no_code_server(),
            404,
            None,
            r#"{"detail":"code_execution server not found"}"#,
        );
        check(
            RestError::no_server(),
            404,
            None,
            r#"{"detail":"Server not found"}"#,
        );
        check(
            RestError::name_is_taken("a"),
            409,
            None,
            r#"{"detail":"Server already exists with name: a"}"#,
        );
        let mistakes = ["a", "b"].map(|field| Mistake {
            field: field.to_owned(),
            message: "is wrong".to_owned(),
        });
        check(
            RestError::Invalid(mistakes.to_vec()),
            422,
            None,
            r#"{"detail":"a: is wrong; b: is wrong","errors":[{"path":"a","message":"is wrong"},{"path":"b","message":"is wrong"}]}"#,
        );
        let limited = |ms| RestError::TooManyRequests {
            message: "Rate limit exceeded: max 20 runs/minute".to_owned(),
            retry_after: after(ms),
        };
        for (ms, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
            let body = r#"{"detail":"Rate limit exceeded: max 20 runs/minute"}"#;
            check(limited(ms), 429, Some(seconds), body);
        }
        let draining = RestError::Unavailable {
            message: "the server is shutting down".to_owned(),
            retry_after: after(5000),
        };
        check(
            draining,
            503,
            Some(5),
            r#"{"detail":"the server is shutting down"}"#,
        );
    }
}
