//! Roles: named sets of permissions.

use crate::{Permission, PermissionSet};

words! {
    /// S0-81. A user has one role in the tenant and one in each team. A token's role limits both.
    Role: "role" {
        /// All permissions on all objects of the tenant.
        PlatformAdmin = "platform_admin",
        /// All permissions in the own teams.
        TeamAdmin = "team_admin",
        /// Creates, uses and changes virtual servers, and saves skills.
        Developer = "developer",
        /// Reads.
        Viewer = "viewer",
        /// Reads, including users, the audit table and metrics.
        PlatformViewer = "platform_viewer",
    }
}

const VIEWER: PermissionSet = PermissionSet::of(&[
    Permission::ServersRead,
    Permission::UpstreamsRead,
    Permission::SkillsRead,
    Permission::TeamsRead,
    Permission::TokensRead,
    // Every user can revoke a leaked token of their own.
    Permission::TokensRevoke,
]);

const PLATFORM_VIEWER: PermissionSet = VIEWER.union(PermissionSet::of(&[
    Permission::UsersRead,
    Permission::AuditRead,
    Permission::MetricsRead,
]));

const DEVELOPER: PermissionSet = VIEWER.union(PermissionSet::of(&[
    Permission::ServersCreate,
    Permission::ServersUpdate,
    Permission::ServersDelete,
    Permission::ServersUse,
    Permission::SkillsCreate,
    Permission::TokensCreate,
]));

const TEAM_ADMIN: PermissionSet = DEVELOPER.union(PermissionSet::of(&[
    Permission::UpstreamsCreate,
    Permission::UpstreamsUpdate,
    Permission::UpstreamsDelete,
    Permission::SkillsApprove,
    Permission::SkillsRevoke,
    Permission::TeamsUpdate,
]));

// === impl Role ===

impl Role {
    /// The role's permissions, before scopes.
    pub const fn permissions(self) -> PermissionSet {
        match self {
            Role::PlatformAdmin => PermissionSet::ALL,
            Role::TeamAdmin => TEAM_ADMIN,
            Role::Developer => DEVELOPER,
            Role::Viewer => VIEWER,
            Role::PlatformViewer => PLATFORM_VIEWER,
        }
    }

    /// Whether a member of a team may have the role there. Other roles apply to the whole tenant.
    pub const fn is_for_teams(self) -> bool {
        matches!(self, Role::TeamAdmin | Role::Developer | Role::Viewer)
    }

    /// Whether the role in a team allows changes to objects of other owners.
    pub(crate) const fn administers(self) -> bool {
        matches!(self, Role::PlatformAdmin | Role::TeamAdmin)
    }

    /// The role of a token that is limited to teams. A platform admin becomes an admin of these teams.
    pub(crate) const fn within_teams(self) -> Role {
        match self {
            Role::PlatformAdmin => Role::TeamAdmin,
            role => role,
        }
    }

    /// A role that allows only what both roles allow.
    #[must_use]
    pub(crate) const fn capped(self, cap: Role) -> Role {
        if cap.permissions().covers(self.permissions()) {
            self
        } else if self.permissions().covers(cap.permissions()) {
            cap
        } else {
            Role::Viewer
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capped_role_allows_what_both_allow() {
        for one in Role::ALL {
            for other in Role::ALL {
                let both = one.permissions().intersection(other.permissions());
                assert_eq!(one.capped(*other).permissions(), both, "{one} {other}");
            }
        }
    }

    // S0-81
    #[test]
    fn roles_have_the_skills_permissions_of_the_original() {
        let check = |role: Role, expected: &str| {
            let skills = role
                .permissions()
                .iter()
                .filter(|one| one.name().starts_with("skills."));
            assert_eq!(skills.collect::<PermissionSet>().to_string(), expected, "{role}");
        };
        let all = "skills.create skills.read skills.approve skills.revoke";
        check(Role::PlatformAdmin, all);
        check(Role::TeamAdmin, all);
        check(Role::Developer, "skills.create skills.read");
        check(Role::Viewer, "skills.read");
        check(Role::PlatformViewer, "skills.read");
    }

    #[test]
    fn words_are_read_exactly() {
        let check = |text: &str, expected: &str| {
            let read = text
                .parse::<Role>()
                .map_or_else(|error| error.to_string(), |role| role.to_string());
            assert_eq!(read, expected);
        };
        for role in Role::ALL {
            check(role.name(), role.name());
        }
        check("Viewer", "unknown role 'Viewer'; did you mean 'viewer'?");
        check("devloper", "unknown role 'devloper'; did you mean 'developer'?");
        let known = "known are platform_admin, team_admin, developer, viewer, platform_viewer";
        check("", &format!("unknown role ''; {known}"));
        check("x\u{202e}\n", &format!("unknown role 'x\\u{{202e}}\\n'; {known}"));
        check(
            &"r".repeat(100_000),
            &format!("unknown role '{}'; {known}", "r".repeat(64)),
        );
    }
}
