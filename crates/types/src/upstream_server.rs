//! Upstream servers that users of the gateway define.

use std::fmt;

use crate::{TeamId, TenantId, UserId, Visibility};

/// To whom an upstream server belongs, and who may see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ownership {
    /// Users of other tenants never see it.
    pub tenant: TenantId,
    /// The user who created it.
    pub owner: UserId,
    /// Who may see it.
    pub visibility: Visibility,
    /// Whose admins manage it; without a team, the platform admins do.
    pub team: Option<TeamId>,
    /// Milliseconds since 1970, in UTC. Tells apart two servers that had one name one after the other.
    pub created_ms: i64,
}

/// An upstream server in the database of the gateway.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamServer {
    /// Unique in the deployment.
    pub name: String,
    /// The name as programs write it, also unique.
    pub alias: String,
    /// Whose it is.
    pub ownership: Ownership,
    /// Milliseconds since 1970, in UTC. Larger after each change.
    pub updated_ms: i64,
    /// A JSON object with the fields of an entry of `mcpServers`. May hold secrets.
    pub definition: String,
}

impl fmt::Debug for UpstreamServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamServer")
            .field("name", &self.name)
            .field("alias", &self.alias)
            .field("ownership", &self.ownership)
            .field("updated_ms", &self.updated_ms)
            .finish_non_exhaustive()
    }
}
