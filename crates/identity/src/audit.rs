//! Administrative acts: their words in the audit table, and the routes that perform them.

use crate::Route;

words! {
    /// An administrative act, done or refused. The part before the dot is the kind of the object.
    AuditAction: "action" {
        /// A virtual server was created.
        ServerCreate = "server.create",
        /// The settings of a virtual server were changed.
        ServerUpdate = "server.update",
        /// A virtual server was removed.
        ServerDelete = "server.delete",
        /// An upstream server was defined.
        UpstreamCreate = "upstream.create",
        /// An upstream server was changed.
        UpstreamUpdate = "upstream.update",
        /// An upstream server was removed.
        UpstreamDelete = "upstream.delete",
        /// An API token was created.
        TokenCreate = "token.create",
        /// An API token was revoked.
        TokenRevoke = "token.revoke",
        /// A user was created.
        UserCreate = "user.create",
        /// A user's role was changed, or the user was disabled or enabled.
        UserUpdate = "user.update",
        /// A user was removed.
        UserDelete = "user.delete",
        /// A team was created.
        TeamCreate = "team.create",
        /// A team was renamed.
        TeamUpdate = "team.update",
        /// A team was removed.
        TeamDelete = "team.delete",
        /// A user became a member of a team, or a member's role was changed.
        MemberSet = "member.set",
        /// A membership was ended.
        MemberRemove = "member.remove",
        /// A user logged in at an upstream server, or stored a key for it.
        LoginCreate = "login.create",
        /// A user's login to an upstream server was revoked.
        LoginRevoke = "login.revoke",
        /// An issuer reported that a user has signed out.
        SignOnEnd = "sign_on.end",
    }
}

// === impl AuditAction ===

impl AuditAction {
    /// The kind of the object: `server`, `upstream`, `token`, `user`, `team`, `member`, `login` or `sign_on`.
    pub fn object(self) -> &'static str {
        let name = self.name();
        name.split_once('.').map_or(name, |(object, _)| object)
    }
}

// === impl Route ===

impl Route {
    /// The administrative act of the route; `None` for a route that only reads or runs programs. The match names every
    /// route, so a new route does not compile without a decision.
    pub const fn audited(self) -> Option<AuditAction> {
        match self {
            Route::CreateServer => Some(AuditAction::ServerCreate),
            Route::UpdateServer => Some(AuditAction::ServerUpdate),
            Route::DeleteServer => Some(AuditAction::ServerDelete),
            Route::CreateUpstream => Some(AuditAction::UpstreamCreate),
            Route::UpdateUpstream => Some(AuditAction::UpstreamUpdate),
            Route::DeleteUpstream => Some(AuditAction::UpstreamDelete),
            Route::CreateToken => Some(AuditAction::TokenCreate),
            Route::RevokeToken => Some(AuditAction::TokenRevoke),
            Route::CreateUser => Some(AuditAction::UserCreate),
            Route::UpdateUser => Some(AuditAction::UserUpdate),
            Route::DeleteUser => Some(AuditAction::UserDelete),
            Route::CreateTeam => Some(AuditAction::TeamCreate),
            Route::UpdateTeam => Some(AuditAction::TeamUpdate),
            Route::DeleteTeam => Some(AuditAction::TeamDelete),
            Route::SetMember => Some(AuditAction::MemberSet),
            Route::RemoveMember => Some(AuditAction::MemberRemove),
            Route::SetLogin => Some(AuditAction::LoginCreate),
            Route::RevokeLogin => Some(AuditAction::LoginRevoke),
            Route::BackChannelLogout => Some(AuditAction::SignOnEnd),
            Route::Health
            | Route::Ready
            | Route::Docs
            | Route::ResourceMetadata
            | Route::McpResourceMetadata
            | Route::SseResourceMetadata
            | Route::ListLogins
            | Route::LoginLink
            | Route::LoginStart
            | Route::LoginCallback
            | Route::OpenApi
            | Route::Metrics
            | Route::ListServers
            | Route::ReadServer
            | Route::ListServerTools
            | Route::ListUpstreams
            | Route::ReadUpstream
            | Route::TestUpstream
            | Route::ListRuns
            | Route::ReplayRun
            | Route::ListSessions
            | Route::ListSecurityEvents
            | Route::Rpc
            | Route::McpMessage
            | Route::McpStream
            | Route::McpEnd
            | Route::SseStream
            | Route::SseMessage
            | Route::ListTokens
            | Route::ListUsers
            | Route::ReadUser
            | Route::ListTeams
            | Route::ReadTeam
            | Route::ListMembers
            | Route::ListAudit => None,
        }
    }
}
