//! Errors of the store as refusals of REST.

use std::fmt;
use std::time::Duration;

use identity::{BadGrant, GrantRefusal, OwnedRefusal};
use policy::Mistake;
use rest::RestError;
use store::accounts::AccountError;
use store::virtual_servers::VirtualServerError;

/// Until a request may find the database in order again.
const RETRY: Duration = Duration::from_secs(1);

/// The database does not answer. The log has the cause: clients learn nothing about the machine.
pub(super) fn unavailable(cause: &impl fmt::Display) -> RestError {
    tracing::warn!(%cause, "a request could not be answered");
    RestError::Unavailable {
        message: "the database does not answer; try again".to_owned(),
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
    match refusal {
        OwnedRefusal::Hidden => RestError::no_server(),
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
        AccountError::Grant(bad) => of_bad_grant(&bad),
        AccountError::Name(_) | AccountError::NotForTeams(_) | AccountError::NotMember { .. } => {
            mistake(&error)
        }
        AccountError::MakerRevoked => RestError::Unauthenticated,
        AccountError::Store(trouble) => unavailable(&trouble),
    }
}

/// What no token may grant.
pub(super) fn of_bad_grant(bad: &BadGrant) -> RestError {
    mistake(bad)
}

/// What the caller may not give.
pub(super) fn of_grant(refusal: &GrantRefusal) -> RestError {
    mistake(refusal)
}

/// A text that begins with the field that is wrong.
fn mistake(text: &impl fmt::Display) -> RestError {
    let text = text.to_string();
    let (field, message) = text.split_once(": ").unwrap_or(("body", &text));
    RestError::Invalid(vec![Mistake {
        field: field.to_owned(),
        message: message.to_owned(),
    }])
}
