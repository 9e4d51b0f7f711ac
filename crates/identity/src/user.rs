//! Users, teams and memberships.

use types::{Principal, TeamId, TenantId};

use crate::Role;

/// A person or a program with its own address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Tenant and address.
    pub principal: Principal,
    /// The user's role on all objects that the user sees, in teams and outside.
    pub role: Role,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// Time since which all of the user's tokens are invalid, in milliseconds since 1970.
    pub disabled_ms: Option<i64>,
}

/// Users of one tenant who share objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The team is invisible to other tenants.
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
    /// The user's role for the team's objects, in addition to the user's own role.
    pub role: Role,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
}
