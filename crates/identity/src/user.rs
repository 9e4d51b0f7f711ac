//! Users, teams, and who is in which.

use types::{Principal, TeamId, TenantId};

use crate::Role;

/// A person or a program with an address of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Tenant and address.
    pub principal: Principal,
    /// What the user may do to everything they see, in teams and outside.
    pub role: Role,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// Since when no token of the user is valid, in milliseconds since 1970.
    pub disabled_ms: Option<i64>,
}

/// Users of one tenant who share objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Users of other tenants never see it.
    pub tenant: TenantId,
    /// Unique in the tenant.
    pub id: TeamId,
    /// For people.
    pub name: String,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
}

/// One user in one team of the same tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The member.
    pub user: Principal,
    /// The team.
    pub team: TeamId,
    /// Adds to the user's own role, for what the team shares.
    pub role: Role,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
}
