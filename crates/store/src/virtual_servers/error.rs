//! Errors of virtual servers: the internal error and the callers' error.

use types::ServerId;

use crate::trouble::Trouble;
use crate::work::StoreFault;

/// Why nothing was read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VirtualServerError {
    /// Another server of the tenant has the name.
    #[error("name: a server '{0}' exists already; choose another name")]
    NameTaken(String),
    /// Another server of any tenant has the id.
    #[error("id: '{0}' is taken; choose another id, or leave it out")]
    IdTaken(ServerId),
    /// The tenant has no such server.
    #[error("unknown server '{0}'")]
    Unknown(ServerId),
    /// The server was changed after it was read.
    #[error("server '{0}' was changed meanwhile; read it again and repeat the change")]
    Changed(ServerId),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

pub(super) type ServerFault = StoreFault<VirtualServerError>;

impl From<VirtualServerError> for ServerFault {
    fn from(error: VirtualServerError) -> Self {
        ServerFault::Refused(Box::new(error))
    }
}
