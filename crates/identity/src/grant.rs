//! The settings and the validity of a token.

use std::collections::BTreeSet;

use types::{Principal, TeamId};

use crate::{BadName, PermissionSet, Role, TokenId, check_name};

/// The settings of a requested or stored token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The token's user.
    pub owner: Principal,
    /// For people.
    pub name: Option<String>,
    /// Limits the owner's roles.
    pub role: Role,
    /// Limits the owner's teams.
    pub teams: TokenTeams,
    /// Limits the roles' permissions; `None` for all of them.
    pub scopes: Option<PermissionSet>,
    /// Time of expiry, in milliseconds since 1970; `None` for a token without expiry.
    pub expires_ms: Option<i64>,
}

/// The teams for which a token is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenTeams {
    /// Everything in the tenant while the owner is a platform admin; otherwise all of the owner's teams.
    Unrestricted,
    /// These teams, as far as they are the owner's. Without any, the token reaches public objects only.
    Only(BTreeSet<TeamId>),
}

/// A stored token, without its secret and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Identifies the token in lists and commands.
    pub id: TokenId,
    /// The token's grant.
    pub grant: Grant,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// The token that created this token; `None` for the command line.
    pub made_by: Option<TokenId>,
    /// Milliseconds since 1970, in UTC.
    pub revoked_ms: Option<i64>,
    /// Milliseconds since 1970, in UTC, exact to a minute.
    pub last_used_ms: Option<i64>,
}

/// Why a token is refused. Clients receive the same text for every reason; records have [`TokenRefusal::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the token is not valid; make one with `codeyard token create`")]
pub enum TokenRefusal {
    /// No token has this text.
    Unknown,
    /// The token has expired.
    Expired,
    /// The token was revoked.
    Revoked,
    /// The owner is disabled.
    UserDisabled,
}

// === impl Grant ===

impl Grant {
    /// Maximum teams of a token.
    pub const MAX_TEAMS: usize = 100;

    /// Checks everything that does not depend on the caller.
    ///
    /// # Errors
    /// The first mistake.
    pub fn check(&self, now_ms: i64) -> Result<(), BadGrant> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        if let TokenTeams::Only(teams) = &self.teams
            && teams.len() > Grant::MAX_TEAMS
        {
            return Err(BadGrant::Teams(teams.len()));
        }
        if self.teams == TokenTeams::Unrestricted && self.role != Role::PlatformAdmin {
            return Err(BadGrant::Unrestricted(self.role));
        }
        if self.scopes.is_some_and(PermissionSet::is_empty) {
            return Err(BadGrant::NoScope);
        }
        if self.expires_ms.is_some_and(|expires| expires <= now_ms) {
            return Err(BadGrant::Past);
        }
        Ok(())
    }
}

/// A grant that no token may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGrant {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Too many teams.
    #[error("teams: {0} are named and {most} are allowed", most = Grant::MAX_TEAMS)]
    Teams(usize),
    /// Only platform admins may have unrestricted tokens.
    #[error("teams: role '{0}' needs a list; only 'platform_admin' is unrestricted")]
    Unrestricted(Role),
    /// The token would have no permission.
    #[error("scopes: the list is empty; name a permission, or leave `scopes` out for all of the role's")]
    NoScope,
    /// The token would never be valid.
    #[error("expires: the time is past; name a later time, or leave `expires` out")]
    Past,
}

// === impl TokenTeams ===

impl TokenTeams {
    /// The teams of a request that names these teams. Without any, a platform admin's token is unrestricted, and every
    /// other token reaches public objects only.
    pub fn chosen(role: Role, teams: impl IntoIterator<Item = TeamId>) -> TokenTeams {
        let teams: BTreeSet<TeamId> = teams.into_iter().collect();
        match role {
            Role::PlatformAdmin if teams.is_empty() => TokenTeams::Unrestricted,
            _ => TokenTeams::Only(teams),
        }
    }
}

// === impl ApiToken ===

impl ApiToken {
    /// Whether the token is valid at this moment.
    ///
    /// # Errors
    /// Why the token is not valid.
    pub fn valid_at(&self, now_ms: i64) -> Result<(), TokenRefusal> {
        if self.revoked_ms.is_some() {
            Err(TokenRefusal::Revoked)
        } else if self.grant.expires_ms.is_some_and(|expires| expires <= now_ms) {
            Err(TokenRefusal::Expired)
        } else {
            Ok(())
        }
    }
}

// === impl TokenRefusal ===

impl TokenRefusal {
    /// The word in records of refused attempts.
    pub fn name(self) -> &'static str {
        match self {
            TokenRefusal::Unknown => "token_unknown",
            TokenRefusal::Expired => "token_expired",
            TokenRefusal::Revoked => "token_revoked",
            TokenRefusal::UserDisabled => "user_disabled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(role: Role) -> Grant {
        Grant {
            owner: Principal::local(),
            name: None,
            role,
            teams: TokenTeams::Only(BTreeSet::new()),
            scopes: None,
            expires_ms: None,
        }
    }

    #[test]
    fn without_teams_only_a_platform_admin_is_unrestricted() {
        for role in Role::ALL {
            let expected = match role {
                Role::PlatformAdmin => TokenTeams::Unrestricted,
                _ => TokenTeams::Only(BTreeSet::new()),
            };
            assert_eq!(TokenTeams::chosen(*role, []), expected, "{role}");
            let one = TokenTeams::chosen(*role, [TeamId::new("a")]);
            assert_eq!(one, TokenTeams::Only([TeamId::new("a")].into()), "{role}");
        }
    }

    #[test]
    fn mistakes_of_grants_name_the_field_and_the_remedy() {
        let check = |change: fn(&mut Grant), expected: &str| {
            let mut grant = grant(Role::Developer);
            change(&mut grant);
            let checked = grant.check(1000).map_err(|error| error.to_string());
            assert_eq!(checked.err().unwrap_or_default(), expected);
        };
        check(|_| {}, "");
        check(|grant| grant.expires_ms = Some(1001), "");
        check(|grant| grant.name = Some("CI".to_owned()), "");
        check(
            |grant| grant.expires_ms = Some(1000),
            "expires: the time is past; name a later time, or leave `expires` out",
        );
        check(
            |grant| grant.name = Some("a\u{202e}".to_owned()),
            "name: expected 1 to 100 visible characters, got 'a\\u{202e}'",
        );
        check(
            |grant| grant.teams = TokenTeams::Unrestricted,
            "teams: role 'developer' needs a list; only 'platform_admin' is unrestricted",
        );
        check(
            |grant| grant.teams = TokenTeams::Only((0..101).map(|n| TeamId::new(n.to_string())).collect()),
            "teams: 101 are named and 100 are allowed",
        );
        check(
            |grant| grant.scopes = Some(PermissionSet::NONE),
            "scopes: the list is empty; name a permission, or leave `scopes` out for all of the role's",
        );
    }
}
