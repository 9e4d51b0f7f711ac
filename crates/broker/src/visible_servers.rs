//! The upstream servers that a view shows.

use std::collections::BTreeSet;

use types::{Ownership, Principal, TenantId, Visibility};

/// S0-82: the upstream servers visible to some callers. Servers of the operator's files are visible to all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum VisibleServers {
    /// Every server.
    All,
    /// The public servers of a tenant, and some other servers.
    Public {
        /// Other tenants' servers are hidden.
        tenant: TenantId,
        /// Names with ownerships. A different server of the same name, or with another visibility, is hidden.
        others: BTreeSet<(String, Ownership)>,
    },
    /// What one user sees: servers at which each user has an own login list the tools that they list for this user.
    OfUser(Principal, Box<VisibleServers>),
}

// === impl VisibleServers ===

impl VisibleServers {
    /// Whether the view shows this user-defined server.
    pub(crate) fn shows(&self, name: &str, ownership: &Ownership) -> bool {
        match self {
            VisibleServers::All => true,
            VisibleServers::Public { tenant, others } => {
                let is_public = ownership.visibility == Visibility::Public && ownership.tenant == *tenant;
                is_public || others.contains(&(name.to_owned(), ownership.clone()))
            }
            VisibleServers::OfUser(_, seen) => seen.shows(name, ownership),
        }
    }

    /// The user, if the view is that of one user.
    pub(crate) fn user(&self) -> Option<&Principal> {
        match self {
            VisibleServers::OfUser(user, _) => Some(user),
            VisibleServers::All | VisibleServers::Public { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use types::{TeamId, UserId};

    use super::*;

    fn ownership(visibility: Visibility, team: &str) -> Ownership {
        Ownership {
            tenant: TenantId::new("acme"),
            owner: UserId::new("ann@example.com"),
            visibility,
            team: Some(TeamId::new(team)),
            created_ms: 1,
        }
    }

    #[test]
    fn s0_82_a_view_shows_what_its_callers_may_see() {
        let shared = ownership(Visibility::Team, "a");
        let visible = VisibleServers::Public {
            tenant: TenantId::new("acme"),
            others: [("crm".to_owned(), shared.clone())].into(),
        };
        let check = |name: &str, ownership: Ownership, expected: bool| {
            assert_eq!(visible.shows(name, &ownership), expected, "{name} {ownership:?}");
            assert!(VisibleServers::All.shows(name, &ownership));
        };
        check("open", ownership(Visibility::Public, "b"), true);
        check("crm", shared.clone(), true);
        check("other", shared.clone(), false);
        check("crm", ownership(Visibility::Team, "b"), false);
        check("crm", ownership(Visibility::Private, "a"), false);
        let later = Ownership {
            created_ms: 2,
            ..shared
        };
        check("crm", later, false);
        let foreign = Ownership {
            tenant: TenantId::new("other"),
            ..ownership(Visibility::Public, "a")
        };
        check("crm", foreign, false);
    }
}
