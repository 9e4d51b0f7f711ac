//! Why users, teams and tokens are not changed: the internal error and the callers' error.

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
        /// What exists.
        kind: AccountKind,
        /// Its name.
        name: String,
    },
    /// There is none in this tenant.
    #[error("unknown {kind} '{name}'")]
    Unknown {
        /// What is missing.
        kind: AccountKind,
        /// The name asked for.
        name: String,
    },
    /// The name for people is not one.
    #[error(transparent)]
    Name(#[from] BadName),
    /// No token may grant this.
    #[error(transparent)]
    Grant(#[from] BadGrant),
    /// A role of the whole tenant, as the role in a team.
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
    /// The owner has as many valid tokens as are allowed.
    #[error("the user has {0} tokens and {0} are allowed; revoke one that is not needed")]
    TooMany(u32),
    /// The token with which the new one is made was revoked or removed meanwhile.
    #[error("the token in use is not valid any more; use another one")]
    MakerRevoked,
    /// Without this user, nobody could manage the tenant over REST.
    #[error("'{0}' is the last enabled platform admin; make another user a platform admin first")]
    LastAdmin(String),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    /// A user.
    User,
    /// A team.
    Team,
}

pub(super) type AccountFault = StoreFault<AccountError>;

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
