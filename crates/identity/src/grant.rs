//! The settings of a token, and whether it is valid now.

use std::collections::BTreeSet;

use types::{Principal, TeamId};

use crate::{BadName, PermissionSet, Role, TokenId, check_name};

/// What a token is asked for with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Who acts with the token.
    pub owner: Principal,
    /// For people.
    pub name: Option<String>,
    /// Caps the owner's roles.
    pub role: Role,
    /// Caps the owner's teams.
    pub teams: TokenTeams,
    /// Caps what the roles allow; `None` leaves all of it.
    pub scopes: Option<PermissionSet>,
    /// First moment at which the token is not valid, in milliseconds since 1970; `None` if it never expires.
    pub expires_ms: Option<i64>,
}

/// The teams for which a token is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenTeams {
    /// Everything in the tenant, as long as the owner is a platform admin; after that, all of the owner's teams.
    Unrestricted,
    /// Those of these that are the owner's; without any, the token reaches only what is public.
    Only(BTreeSet<TeamId>),
}

/// A stored token, without its secret and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Names the token in lists and commands.
    pub id: TokenId,
    /// What it grants.
    pub grant: Grant,
    /// Milliseconds since 1970, in UTC.
    pub created_ms: i64,
    /// The token with which it was made; `None` for the command line.
    pub made_by: Option<TokenId>,
    /// Milliseconds since 1970, in UTC.
    pub revoked_ms: Option<i64>,
    /// Milliseconds since 1970, in UTC, exact to a minute.
    pub last_used_ms: Option<i64>,
}

/// Why a text admits nobody. The text for clients is the same for all; [`TokenRefusal::name`] is for records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the token is not valid; make one with `codeyard token create`")]
pub enum TokenRefusal {
    /// No token has this text here.
    Unknown,
    /// Its time is over.
    Expired,
    /// Somebody revoked it.
    Revoked,
    /// Its owner is disabled.
    UserDisabled,
}

// === impl Grant ===

impl Grant {
    /// Most teams of a token.
    pub const MAX_TEAMS: usize = 100;

    /// Checks what does not depend on who asks.
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
    /// Not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Too many teams.
    #[error("teams: {0} are named and {most} are allowed", most = Grant::MAX_TEAMS)]
    Teams(usize),
    /// Only platform admins are unrestricted.
    #[error("teams: role '{0}' needs a list; only 'platform_admin' is unrestricted")]
    Unrestricted(Role),
    /// A token without any permission.
    #[error("scopes: the list is empty; name a permission, or leave `scopes` out for all of the role's")]
    NoScope,
    /// It would never be valid.
    #[error("expires: the time is past; name a later one, or leave `expires` out")]
    Past,
}

// === impl TokenTeams ===

impl TokenTeams {
    /// The teams of a request that names these: without any, a platform admin is unrestricted and everyone else
    /// reaches only what is public.
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
    /// Why it is not.
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
    /// For records of refused attempts.
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
            "expires: the time is past; name a later one, or leave `expires` out",
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
