//! Why an upstream server is not stored or changed: the internal error and the callers' error.

use super::list::MOST_SERVERS;
use crate::trouble::Trouble;
use crate::work::WorkFault;

/// Why nothing was read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamServerError {
    /// Another server has the name, or one that programs write alike.
    #[error("name: an upstream server '{0}' exists already; choose another name")]
    NameTaken(String),
    /// No further server can be stored.
    #[error("there are {MOST_SERVERS} upstream servers, the most that one deployment has; remove one first")]
    TooMany,
    /// The tenant has no such server.
    #[error("unknown upstream server '{0}'")]
    Unknown(String),
    /// Somebody changed the server after it was read.
    #[error("upstream server '{0}' was changed meanwhile; read it again and repeat the change")]
    Changed(String),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

#[derive(Debug)]
pub(super) enum ServerFault {
    Refused(UpstreamServerError),
    Database(sqlx::Error),
}

impl From<sqlx::Error> for ServerFault {
    fn from(error: sqlx::Error) -> Self {
        ServerFault::Database(error)
    }
}

impl From<UpstreamServerError> for ServerFault {
    fn from(error: UpstreamServerError) -> Self {
        ServerFault::Refused(error)
    }
}

impl WorkFault for ServerFault {
    type Error = UpstreamServerError;

    fn refusal(self) -> Result<UpstreamServerError, sqlx::Error> {
        match self {
            ServerFault::Refused(error) => Ok(error),
            ServerFault::Database(error) => Err(error),
        }
    }

    fn is_refusal(&self) -> bool {
        matches!(self, ServerFault::Refused(_))
    }
}
