//! Errors of the store as refusals of REST.

use std::fmt;
use std::time::Duration;

use identity::OwnedRefusal;
use rest::RestError;
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
