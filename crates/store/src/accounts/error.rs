//! Errors of users, teams and tokens: the internal error and the callers' error.

use std::fmt;

use identity::{BadGrant, BadName, Role};
use types::TeamId;

use crate::trouble::Trouble;
use crate::work::StoreFault;

/// Why nothing was read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// The name is taken.
    #[error("{kind} '{name}' exists already")]
    Exists {
        /// Kind of the existing object.
        kind: AccountKind,
        /// Its name.
        name: String,
    },
    /// The tenant has no such object.
    #[error("unknown {kind} '{name}'")]
    Unknown {
        /// Kind of the missing object.
        kind: AccountKind,
        /// The requested name.
        name: String,
    },
    /// The display name is invalid.
    #[error(transparent)]
    Name(#[from] BadName),
    /// No token may grant this.
    #[error(transparent)]
    Grant(#[from] BadGrant),
    /// The role applies to a whole tenant, not to a team.
    #[error("role: '{0}' is not a role of a team; name 'team_admin', 'developer' or 'viewer'")]
    NotForTeams(Role),
    /// The token would name a team that its owner is not in.
    #[error("teams: '{user}' is not a member of team '{team}'; make the user a member first")]
    NotMember {
        /// The owner's address.
        user: String,
        /// The team.
        team: TeamId,
    },
    /// The owner has the maximum number of valid tokens.
    #[error("the user has {0} tokens and {0} are allowed; revoke an unused token")]
    TooMany(u32),
    /// The token of this request was revoked or removed meanwhile.
    #[error("the token in use is no longer valid; use another token")]
    MakerRevoked,
    /// Without this user, the tenant could not be managed over REST.
    #[error("'{0}' is the last enabled platform admin; make another user a platform admin first")]
    LastAdmin(String),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// The kind of object in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    /// A user.
    User,
    /// A team.
    Team,
}

pub(crate) type AccountFault = StoreFault<AccountError>;

impl From<AccountError> for AccountFault {
    fn from(error: AccountError) -> Self {
        AccountFault::Refused(Box::new(error))
    }
}

impl fmt::Display for AccountKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccountKind::User => "user",
            AccountKind::Team => "team",
        })
    }
}

// === impl AccountError ===

impl AccountError {
    pub(super) fn unknown(kind: AccountKind, name: impl fmt::Display) -> AccountError {
        AccountError::Unknown {
            kind,
            name: name.to_string(),
        }
    }

    pub(super) fn exists(kind: AccountKind, name: impl fmt::Display) -> AccountError {
        AccountError::Exists {
            kind,
            name: name.to_string(),
        }
    }
}
