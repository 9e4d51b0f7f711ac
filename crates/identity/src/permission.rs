//! Permissions of roles, which a token's scopes may limit.

words! {
    /// S0-81: one kind of act on one kind of object.
    Permission: "permission" {
        /// Create virtual servers.
        ServersCreate = "servers.create",
        /// List virtual servers, their tools, runs, sessions and security events.
        ServersRead = "servers.read",
        /// Change a virtual server.
        ServersUpdate = "servers.update",
        /// Remove a virtual server with its runs and skills.
        ServersDelete = "servers.delete",
        /// Call a virtual server's tools, and replay a run.
        ServersUse = "servers.use",
        /// Define an upstream server.
        UpstreamsCreate = "upstreams.create",
        /// List upstream servers and their health.
        UpstreamsRead = "upstreams.read",
        /// Change the definition of an upstream server.
        UpstreamsUpdate = "upstreams.update",
        /// Remove an upstream server.
        UpstreamsDelete = "upstreams.delete",
        /// Save a skill.
        SkillsCreate = "skills.create",
        /// List skills.
        SkillsRead = "skills.read",
        /// List, approve and reject requests for approval.
        SkillsApprove = "skills.approve",
        /// Take an approved skill out of use.
        SkillsRevoke = "skills.revoke",
        /// Create API tokens with at most one's own rights.
        TokensCreate = "tokens.create",
        /// List one's own API tokens; a platform admin lists everyone's.
        TokensRead = "tokens.read",
        /// Revoke one's own API tokens; a platform admin revokes everyone's.
        TokensRevoke = "tokens.revoke",
        /// Create users.
        UsersCreate = "users.create",
        /// List users.
        UsersRead = "users.read",
        /// Change a user's role, and disable a user.
        UsersUpdate = "users.update",
        /// Remove a user with all tokens.
        UsersDelete = "users.delete",
        /// Create teams.
        TeamsCreate = "teams.create",
        /// List teams and their members.
        TeamsRead = "teams.read",
        /// Rename a team, and change its members.
        TeamsUpdate = "teams.update",
        /// Remove a team.
        TeamsDelete = "teams.delete",
        /// Read the audit table.
        AuditRead = "audit.read",
        /// Read `/metrics`.
        MetricsRead = "metrics.read",
    }
}

/// The relation between caller and object that a permission requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    /// The caller sees the object.
    Visible,
    /// The caller owns the object or administers its team.
    Owned,
    /// The caller administers the object's team. Ownership is not enough: owners must not approve their own objects,
    /// and former admins of a team must not decide where its programs send data.
    Administered,
}

// === impl Permission ===

impl Permission {
    pub(crate) fn bond(self) -> Bond {
        match self {
            Permission::ServersCreate
            | Permission::ServersRead
            | Permission::ServersUse
            | Permission::UpstreamsRead
            | Permission::SkillsCreate
            | Permission::SkillsRead
            | Permission::TokensCreate
            | Permission::TokensRead
            | Permission::UsersCreate
            | Permission::UsersRead
            | Permission::TeamsCreate
            | Permission::TeamsRead
            | Permission::AuditRead
            | Permission::MetricsRead => Bond::Visible,
            Permission::ServersUpdate
            | Permission::ServersDelete
            | Permission::TokensRevoke
            | Permission::UsersUpdate
            | Permission::UsersDelete => Bond::Owned,
            Permission::SkillsApprove
            | Permission::SkillsRevoke
            | Permission::UpstreamsCreate
            | Permission::UpstreamsUpdate
            | Permission::UpstreamsDelete
            | Permission::TeamsUpdate
            | Permission::TeamsDelete => Bond::Administered,
        }
    }
}
