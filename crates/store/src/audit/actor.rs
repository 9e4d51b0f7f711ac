//! Actors, administrative changes and refused attempts.

use identity::{AuditAction, Identity};
use types::{Principal, TenantId};

/// The actor of changes by `codeyard token`, `user` and `team`. A user's address contains an `@`, so none is equal.
pub const COMMAND_LINE: &str = "command-line";

/// Between a user and the agent that acted for the user, in an actor's name.
pub(super) const BY_AGENT: &str = " by agent ";

/// The author of a change or of a refused attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditActor {
    pub(super) name: String,
    /// Empty for the command line.
    pub(super) token: String,
}

/// One administrative act on one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditedChange {
    pub(super) action: AuditAction,
    pub(super) tenant: TenantId,
    pub(super) object_id: String,
    pub(super) detail: String,
}

/// A refused attempt at an administrative act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedAct {
    pub(super) change: AuditedChange,
    pub(super) outcome: String,
}

// === impl AuditActor ===

impl AuditActor {
    /// The user behind a token, with the agent that acts for the user.
    pub fn user(identity: &Identity) -> AuditActor {
        let user = identity.principal().user();
        AuditActor {
            name: match identity.agent() {
                Some(agent) => format!("{user}{BY_AGENT}{agent}"),
                None => user.to_string(),
            },
            token: identity.token().to_string(),
        }
    }

    /// A user in a browser, without a token.
    pub fn in_browser(user: &Principal) -> AuditActor {
        AuditActor {
            name: user.user().to_string(),
            token: String::new(),
        }
    }

    /// An issuer that reports something about its users.
    pub fn issuer(url: &str) -> AuditActor {
        AuditActor {
            name: format!("issuer {url}"),
            token: String::new(),
        }
    }

    /// The person who runs commands on the machine.
    pub fn command_line() -> AuditActor {
        AuditActor {
            name: COMMAND_LINE.to_owned(),
            token: String::new(),
        }
    }
}

// === impl AuditedChange ===

impl AuditedChange {
    pub(crate) fn new(action: AuditAction, tenant: &TenantId, object_id: impl ToString) -> AuditedChange {
        AuditedChange {
            action,
            tenant: tenant.clone(),
            object_id: object_id.to_string(),
            detail: String::new(),
        }
    }

    /// Adds a short text for people. The text must not hold secrets.
    pub(crate) fn with(mut self, detail: impl Into<String>) -> AuditedChange {
        self.detail = detail.into();
        self
    }
}

// === impl RefusedAct ===

impl RefusedAct {
    /// A refusal with an HTTP status. `object_id` is empty if the request names no object.
    pub fn with_status(
        action: AuditAction,
        tenant: &TenantId,
        object_id: &str,
        (status, detail): (u16, &str),
    ) -> RefusedAct {
        RefusedAct {
            change: AuditedChange::new(action, tenant, object_id).with(detail),
            outcome: status.to_string(),
        }
    }

    /// A refusal by the command line.
    pub fn by_command(action: AuditAction, tenant: &TenantId, object_id: &str, detail: &str) -> RefusedAct {
        RefusedAct {
            change: AuditedChange::new(action, tenant, object_id).with(detail),
            outcome: "refused".to_owned(),
        }
    }
}
