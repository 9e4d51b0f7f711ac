//! What an identity may give to others: nobody gives what they do not have.

use types::TeamId;

use crate::{Grant, Identity, PermissionSet, Role, TokenTeams};

/// Why a token is not made, or a role not given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefusal {
    /// Users of other tenants look like absent ones, and so do all others to everyone but platform admins.
    #[error("user: only an unrestricted platform admin acts for another user; leave `user` out")]
    OtherUser,
    /// More than the token in use.
    #[error("role: '{role}' allows {lacking}, which this token does not; name a smaller role")]
    Role {
        /// The role asked for.
        role: Role,
        /// What the caller lacks.
        lacking: PermissionSet,
    },
    /// More than the token in use.
    #[error("scopes: this token is limited to {has}; name some of these")]
    Scopes {
        /// What the caller has.
        has: PermissionSet,
    },
    /// A token for the whole tenant.
    #[error("teams: only an unrestricted platform admin makes unrestricted tokens; name teams, or `[]`")]
    Unrestricted,
    /// Absent, or not a team of the caller.
    #[error("teams: unknown team '{0}'; name a team of this token")]
    UnknownTeam(TeamId),
    /// It would outlive the token in use, which ends at this time, in milliseconds since 1970.
    #[error("expires: the new token would outlive this one; name a time that is not after this token's end")]
    Expires(i64),
    /// A role of the whole tenant, as the role in a team.
    #[error("role: '{0}' is not a role of a team; name 'team_admin', 'developer' or 'viewer'")]
    NotForTeams(Role),
}

// === impl Identity ===

impl Identity {
    /// Whether the identity may make this token. The new token is never more powerful and never lives longer than
    /// the one in use. The caller also needs `tokens.create`, which the route demands.
    ///
    /// # Errors
    /// The first field that asks for too much.
    pub fn may_grant(&self, grant: &Grant) -> Result<(), GrantRefusal> {
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
        match (self.expires_ms, grant.expires_ms) {
            (Some(own), Some(new)) if new <= own => Ok(()),
            (Some(own), _) => Err(GrantRefusal::Expires(own)),
            (None, _) => Ok(()),
        }
    }

    /// Whether the identity may give a user this role: in a team, or outside of teams. The caller also needs
    /// `teams.update` or `users.create`, `users.update`.
    ///
    /// # Errors
    /// The field that asks for too much. A team that the identity does not administer looks absent.
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
