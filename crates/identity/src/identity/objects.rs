//! Decisions about one object: access, changes and visible records.

use types::{Principal, TeamId, TenantId, UserId, Visibility};

use crate::permission::Bond;
use crate::{Denied, Identity, Permission, PermissionSet, Role};

/// Ownership of an object: a virtual server, an upstream server, a tool or a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned<'a> {
    /// The object is invisible to other tenants.
    pub tenant: &'a TenantId,
    /// Unique within the tenant.
    pub owner: &'a UserId,
    /// Users that see the object.
    pub visibility: Visibility,
    /// The object's team, if any.
    pub team: Option<&'a TeamId>,
}

/// Why an act on an object is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OwnedRefusal {
    /// The caller must not learn that the object exists.
    #[error("not found")]
    Hidden,
    /// The caller sees the object and lacks the permission.
    #[error(transparent)]
    Denied(#[from] Denied),
}

// === impl Identity ===

impl Identity {
    /// S0-82: whether the identity sees the object. An unrestricted token sees all objects of the tenant. A token
    /// without teams sees public objects. Other tokens also see own objects and shared objects of their teams.
    pub fn may_see(&self, object: &Owned<'_>) -> bool {
        if self.principal.tenant() != object.tenant {
            return false;
        }
        let is_own = self.principal.user() == object.owner;
        let has_teams = !self.teams.is_empty();
        let is_seen = match object.visibility {
            Visibility::Public => true,
            Visibility::Team => has_teams && (is_own || self.role_for(object.team).is_some()),
            Visibility::Private => has_teams && is_own,
        };
        is_seen || self.is_unrestricted()
    }

    /// Whether the identity has this permission on the object.
    ///
    /// # Errors
    /// [`OwnedRefusal::Hidden`] if the identity must not learn that the object exists.
    pub fn decide(&self, permission: Permission, object: &Owned<'_>) -> Result<(), OwnedRefusal> {
        if !self.may_see(object) {
            return Err(OwnedRefusal::Hidden);
        }
        let is_own = self.principal.user() == object.owner;
        let is_bound = match permission.bond() {
            Bond::Visible => true,
            Bond::Owned => is_own || self.administers(object.team),
            Bond::Administered => self.administers(object.team),
        };
        match is_bound && self.permissions_in(object.team).contains(permission) {
            true => Ok(()),
            false => Err(Denied(permission).into()),
        }
    }

    /// Whether the identity has this permission on a team of this tenant or on its members.
    ///
    /// # Errors
    /// [`OwnedRefusal::Hidden`] unless the identity is a member, an unrestricted admin or a platform viewer.
    pub fn decide_team(
        &self,
        permission: Permission,
        tenant: &TenantId,
        team: &TeamId,
    ) -> Result<(), OwnedRefusal> {
        let own = self.role_for(Some(team));
        if self.principal.tenant() != tenant || !(self.sees_all_teams() || own.is_some()) {
            return Err(OwnedRefusal::Hidden);
        }
        let is_bound = match permission.bond() {
            Bond::Visible => true,
            Bond::Owned | Bond::Administered => self.administers(Some(team)),
        };
        match is_bound && self.permissions_in(Some(team)).contains(permission) {
            true => Ok(()),
            false => Err(Denied(permission).into()),
        }
    }

    /// Whether the identity sees every team of its tenant, with its members.
    pub fn sees_all_teams(&self) -> bool {
        matches!(self.role, Role::PlatformAdmin | Role::PlatformViewer)
    }

    /// S0-D13: whether the identity sees records of `user` on an object of this team: runs, sessions, security events
    /// and audit rows.
    pub fn may_see_record(&self, user: &Principal, team: Option<&TeamId>) -> bool {
        if self.principal.tenant() != user.tenant() {
            return false;
        }
        self.principal == *user || self.administers(team)
    }

    /// Whether the identity may list and revoke the tokens of this user.
    pub fn may_manage_tokens_of(&self, user: &Principal) -> bool {
        self.principal == *user || (self.is_unrestricted() && self.principal.tenant() == user.tenant())
    }

    /// Whether the identity sees the records of all users at a server of this team.
    pub fn may_see_all_records(&self, tenant: &TenantId, team: Option<&TeamId>) -> bool {
        self.principal.tenant() == tenant && self.administers(team)
    }

    /// The identity's role in a team.
    pub(super) fn role_for(&self, team: Option<&TeamId>) -> Option<Role> {
        self.teams.get(team?).copied()
    }

    fn administers(&self, team: Option<&TeamId>) -> bool {
        self.is_unrestricted() || self.role_for(team).is_some_and(Role::administers)
    }

    /// The union of the roles in the object's team and outside of teams. So leaving a team never adds a permission.
    fn permissions_in(&self, team: Option<&TeamId>) -> PermissionSet {
        let of_team = self.role_for(team).map_or(PermissionSet::NONE, Role::permissions);
        self.role.permissions().union(of_team).intersection(self.scopes)
    }
}
