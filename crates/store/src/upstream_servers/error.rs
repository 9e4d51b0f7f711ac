//! Errors of upstream servers: the internal error and the callers' error.

use super::list::MOST_SERVERS;
use crate::trouble::Trouble;
use crate::work::StoreFault;

/// Why nothing was read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamServerError {
    /// Another server has the name, or a name with the same form in programs.
    #[error("name: an upstream server '{0}' exists already; choose another name")]
    NameTaken(String),
    /// The maximum number of servers is stored.
    #[error("a deployment has at most {MOST_SERVERS} upstream servers; remove one first")]
    TooMany,
    /// The tenant has no such server.
    #[error("unknown upstream server '{0}'")]
    Unknown(String),
    /// The server was changed after it was read.
    #[error("upstream server '{0}' was changed meanwhile; read it again and repeat the change")]
    Changed(String),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

pub(super) type ServerFault = StoreFault<UpstreamServerError>;

impl From<UpstreamServerError> for ServerFault {
    fn from(error: UpstreamServerError) -> Self {
        ServerFault::Refused(Box::new(error))
    }
}
