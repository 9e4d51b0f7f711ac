//! Errors of the store as refusals of REST.

use std::fmt;
use std::time::Duration;

use identity::OwnedRefusal;
use policy::Mistake;
use rest::RestError;
use store::accounts::AccountError;
use store::virtual_servers::VirtualServerError;

/// `Retry-After` while the database does not answer.
const RETRY: Duration = Duration::from_secs(1);

/// The gateway could not answer. The log has the cause: clients learn nothing about the machine.
pub(super) fn unavailable(cause: &impl fmt::Display) -> RestError {
    tracing::warn!(%cause, "a request could not be answered");
    RestError::Unavailable {
        message: "the gateway could not answer; try again".to_owned(),
        retry_after: RETRY,
    }
}

pub(super) fn of_server(error: VirtualServerError) -> RestError {
    match error {
        VirtualServerError::NameTaken(name) => RestError::name_is_taken(&name),
        VirtualServerError::IdTaken(_) | VirtualServerError::Changed(_) => {
            RestError::Conflict(error.to_string())
        }
        VirtualServerError::Unknown(_) => RestError::no_server(),
        VirtualServerError::Store(trouble) => unavailable(&trouble),
    }
}

/// A refusal about a server: what the caller may not see does not exist.
pub(super) fn refused(refusal: OwnedRefusal) -> RestError {
    refused_as(refusal, RestError::no_server)
}

/// A refusal about an object whose absence is answered with `hidden`.
pub(super) fn refused_as(refusal: OwnedRefusal, hidden: fn() -> RestError) -> RestError {
    match refusal {
        OwnedRefusal::Hidden => hidden(),
        OwnedRefusal::Denied(denied) => RestError::Forbidden(denied.0.to_string()),
    }
}

/// Why users, teams and tokens are not changed.
pub(super) fn of_account(error: AccountError) -> RestError {
    match error {
        AccountError::Exists { .. } | AccountError::TooMany(_) | AccountError::LastAdmin(_) => {
            RestError::Conflict(error.to_string())
        }
        AccountError::Unknown { .. } => RestError::NotFound(error.to_string()),
        AccountError::Grant(bad) => mistake(&bad),
        AccountError::Name(_) | AccountError::NotForTeams(_) | AccountError::NotMember { .. } => {
            mistake(&error)
        }
        AccountError::MakerRevoked => RestError::Unauthenticated,
        AccountError::Store(trouble) => unavailable(&trouble),
    }
}

/// A text that begins with the field that is wrong.
pub(super) fn mistake(text: &impl fmt::Display) -> RestError {
    let text = text.to_string();
    let (field, message) = text.split_once(": ").unwrap_or(("body", &text));
    RestError::Invalid(vec![Mistake {
        field: field.to_owned(),
        message: message.to_owned(),
    }])
}
