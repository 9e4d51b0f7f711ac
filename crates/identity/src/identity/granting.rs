//! Tokens and roles that an identity may grant: at most its own rights.

use types::TeamId;

use crate::{Grant, Identity, PermissionSet, Role, TokenTeams};

/// Why a token or a role is not granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefusal {
    /// Another user, and the caller is not an unrestricted platform admin; also a user of another tenant.
    #[error("user: only an unrestricted platform admin acts for another user; leave `user` out")]
    OtherUser,
    /// The role exceeds the token in use.
    #[error("role: '{role}' allows {lacking}, which this token does not; name a smaller role")]
    Role {
        /// The requested role.
        role: Role,
        /// Permissions that the caller lacks.
        lacking: PermissionSet,
    },
    /// The scopes exceed the token in use.
    #[error("scopes: this token is limited to {has}; name some of these")]
    Scopes {
        /// Permissions that the caller has.
        has: PermissionSet,
    },
    /// A token for the whole tenant.
    #[error("teams: only an unrestricted platform admin makes unrestricted tokens; name teams, or `[]`")]
    Unrestricted,
    /// The team does not exist, or is not a team of the caller.
    #[error("teams: unknown team '{0}'; name a team of this token")]
    UnknownTeam(TeamId),
    /// The token would outlive the token in use, which expires at this time, in milliseconds since 1970.
    #[error("expires: the new token would outlive this one; name a time that is not after this token's end")]
    Expires(i64),
    /// A token would act later without naming the agent.
    #[error("an agent that acts for a user makes no tokens; the user makes them")]
    Agent,
    /// The role applies to a whole tenant, not to a team.
    #[error("role: '{0}' is not a role of a team; name 'team_admin', 'developer' or 'viewer'")]
    NotForTeams(Role),
}

// === impl Identity ===

impl Identity {
    /// Whether the identity may create this token. The new token has at most the rights and the lifetime of the token
    /// in use. The route checks the permission `tokens.create`.
    ///
    /// # Errors
    /// The first field that exceeds the token in use.
    pub fn may_grant(&self, grant: &Grant) -> Result<(), GrantRefusal> {
        if self.agent().is_some() {
            return Err(GrantRefusal::Agent);
        }
        if !self.may_manage_tokens_of(&grant.owner) {
            return Err(GrantRefusal::OtherUser);
        }
        let lacking = grant.role.permissions().without(self.granted.permissions());
        if !lacking.is_empty() {
            return Err(GrantRefusal::Role {
                role: grant.role,
                lacking,
            });
        }
        if !self.scopes.covers(grant.scopes.unwrap_or(PermissionSet::ALL)) {
            return Err(GrantRefusal::Scopes { has: self.scopes });
        }
        self.may_grant_teams(&grant.teams)?;
        // An issuer's token lives for minutes. What was made with it ends with the sign-on itself.
        let own_end = self.expires_ms.filter(|_| !self.is_signed_on());
        match (own_end, grant.expires_ms) {
            (Some(own), Some(new)) if new <= own => Ok(()),
            (Some(own), _) => Err(GrantRefusal::Expires(own)),
            (None, _) => Ok(()),
        }
    }

    /// Whether the identity may give a user this role: in a team, or outside of teams. The route checks
    /// `teams.update`, `users.create` or `users.update`.
    ///
    /// # Errors
    /// The field that exceeds the token in use. A team that the identity does not administer looks absent.
    pub fn may_appoint(&self, role: Role, team: Option<&TeamId>) -> Result<(), GrantRefusal> {
        let own = match team {
            None if self.is_unrestricted() => self.role,
            None => return Err(GrantRefusal::OtherUser),
            Some(_) if !role.is_for_teams() => return Err(GrantRefusal::NotForTeams(role)),
            Some(_) if self.is_unrestricted() => self.role,
            Some(team) => match self.role_for(Some(team)) {
                Some(own) if own.administers() => own,
                _ => return Err(GrantRefusal::UnknownTeam(team.clone())),
            },
        };
        let lacking = role
            .permissions()
            .without(own.permissions().intersection(self.scopes));
        match lacking.is_empty() {
            true => Ok(()),
            false => Err(GrantRefusal::Role { role, lacking }),
        }
    }

    fn may_grant_teams(&self, teams: &TokenTeams) -> Result<(), GrantRefusal> {
        match teams {
            _ if self.is_unrestricted() => Ok(()),
            TokenTeams::Unrestricted => Err(GrantRefusal::Unrestricted),
            TokenTeams::Only(teams) => match teams.iter().find(|team| !self.teams.contains_key(*team)) {
                Some(team) => Err(GrantRefusal::UnknownTeam(team.clone())),
                None => Ok(()),
            },
        }
    }
}
