//! The identity of a caller with a token, and the caller's current permissions.

mod granting;
mod objects;
mod signed_on;

use std::collections::BTreeMap;
use std::fmt;

use types::{Principal, TeamId};

use crate::token_context::SignedOn;
use crate::{ApiToken, Membership, Permission, PermissionSet, Role, TokenId, TokenRefusal, TokenTeams, User};

pub use granting::GrantRefusal;
pub use objects::{Owned, OwnedRefusal};

/// The rights of one valid token: the intersection of its grant with its owner's roles and teams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    principal: Principal,
    token: TokenId,
    /// The role of the token's grant. A new token of the same owner may have this role.
    granted: Role,
    /// The role outside of teams. [`Role::PlatformAdmin`] only if the token is unrestricted.
    role: Role,
    /// The role in each team that token and owner share.
    teams: BTreeMap<TeamId, Role>,
    scopes: PermissionSet,
    expires_ms: Option<i64>,
    /// `None` for an API token.
    signed_on: Option<SignedOn>,
}

/// A permission that the caller lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Insufficient permissions. Required: {0}")]
pub struct Denied(pub Permission);

// === impl Identity ===

impl Identity {
    /// The identity of a token's owner, from the current rows.
    ///
    /// # Errors
    /// If the token is not valid, or its owner is disabled.
    pub fn of(
        token: &ApiToken,
        user: &User,
        memberships: &[Membership],
        now_ms: i64,
    ) -> Result<Identity, TokenRefusal> {
        token.valid_at(now_ms)?;
        if user.principal != token.grant.owner {
            return Err(TokenRefusal::Unknown);
        }
        if user.disabled_ms.is_some() {
            return Err(TokenRefusal::UserDisabled);
        }
        let granted = match token.grant.teams {
            TokenTeams::Unrestricted => token.grant.role,
            TokenTeams::Only(_) => token.grant.role.within_teams(),
        };
        let role = granted.capped(user.role);
        let teams = match &token.grant.teams {
            TokenTeams::Unrestricted if role == Role::PlatformAdmin => BTreeMap::new(),
            // The owner was a platform admin before.
            TokenTeams::Unrestricted => own_teams(user, memberships),
            TokenTeams::Only(teams) if user.role == Role::PlatformAdmin => {
                teams.iter().map(|team| (team.clone(), Role::TeamAdmin)).collect()
            }
            TokenTeams::Only(teams) => {
                let mut own = own_teams(user, memberships);
                own.retain(|team, _| teams.contains(team));
                own
            }
        };
        let teams = teams.into_iter().map(|(team, own)| (team, granted.capped(own)));
        Ok(Identity {
            principal: user.principal.clone(),
            token: token.id.clone(),
            granted,
            role,
            teams: teams.collect(),
            scopes: token.grant.scopes.unwrap_or(PermissionSet::ALL),
            expires_ms: token.grant.expires_ms,
            signed_on: None,
        })
    }

    /// The owner of the token's sessions, files and records. Every user has their own, even platform admins.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The token, for records.
    pub fn token(&self) -> &TokenId {
        &self.token
    }

    /// The role outside of teams.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Time of expiry, in milliseconds since 1970. Open streams end at this time.
    pub fn expires_ms(&self) -> Option<i64> {
        self.expires_ms
    }

    /// Whether the identity sees every object of its tenant.
    pub fn is_unrestricted(&self) -> bool {
        self.role == Role::PlatformAdmin
    }

    /// The teams whose objects the identity sees, sorted; empty if it is unrestricted.
    pub fn teams(&self) -> impl Iterator<Item = &TeamId> {
        self.teams.keys()
    }

    /// The teams whose members' records the identity sees, sorted; empty if it is unrestricted.
    pub fn administered_teams(&self) -> impl Iterator<Item = &TeamId> {
        self.teams
            .iter()
            .filter(|(_, role)| role.administers())
            .map(|(team, _)| team)
    }

    /// The union of the permissions on all objects.
    pub fn permissions(&self) -> PermissionSet {
        let roles = self.teams.values().chain([&self.role]);
        let together = roles.fold(PermissionSet::NONE, |set, role| set.union(role.permissions()));
        together.intersection(self.scopes)
    }

    /// Whether the identity has this permission on any object. [`Identity::decide`] checks one object.
    ///
    /// # Errors
    /// The missing permission, in the text for clients.
    pub fn may(&self, permission: Permission) -> Result<(), Denied> {
        match self.permissions().contains(permission) {
            true => Ok(()),
            false => Err(Denied(permission)),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.principal, self.role)
    }
}

/// The user's role in each of their teams, without roles of the whole tenant.
fn own_teams(user: &User, memberships: &[Membership]) -> BTreeMap<TeamId, Role> {
    let own = memberships
        .iter()
        .filter(|membership| membership.user == user.principal);
    own.map(|membership| (membership.team.clone(), membership.role.capped(Role::TeamAdmin)))
        .collect()
}
