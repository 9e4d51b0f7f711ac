//! The users of these tests, named as in the acceptance cases.

use std::collections::BTreeSet;

use identity::{
    ApiToken, Grant, Identity, Membership, PermissionSet, Role, TokenId, TokenRefusal, TokenTeams, User,
    team_id,
};
use types::{Principal, TeamId, TenantId};

pub const NOW: i64 = 1_000_000;

/// A user with a token.
#[derive(Debug, Clone)]
pub struct Person {
    pub user: User,
    pub memberships: Vec<Membership>,
    pub token: ApiToken,
}

pub fn user(name: &str) -> Principal {
    identity::user(&TenantId::new("acme"), &format!("{name}@example.com")).expect("a user")
}

pub fn team(id: &str) -> TeamId {
    team_id(id).expect("a team")
}

pub fn teams(ids: &[&str]) -> TokenTeams {
    TokenTeams::Only(ids.iter().map(|id| team(id)).collect())
}

pub fn scopes(names: &str) -> Option<PermissionSet> {
    Some(PermissionSet::read(names).expect("permissions"))
}

pub fn grant(owner: &Principal, role: Role, teams: TokenTeams) -> Grant {
    Grant {
        owner: owner.clone(),
        name: None,
        role,
        teams,
        scopes: None,
        expires_ms: None,
    }
}

impl Person {
    /// A member of the teams, with this role in the tenant, in each team and in the token.
    pub fn new(name: &str, role: Role, ids: &[&str]) -> Person {
        let principal = user(name);
        let member = |id: &&str| Membership {
            user: principal.clone(),
            team: team(id),
            role,
            created_ms: 0,
        };
        Person {
            user: User {
                principal: principal.clone(),
                role,
                created_ms: 0,
                disabled_ms: None,
            },
            memberships: ids.iter().map(member).collect(),
            token: ApiToken {
                id: TokenId::new([1; 12]),
                grant: grant(
                    &principal,
                    role,
                    TokenTeams::chosen(role, ids.iter().map(|id| team(id))),
                ),
                created_ms: 0,
                made_by: None,
                revoked_ms: None,
                last_used_ms: None,
            },
        }
    }

    pub fn scoped(mut self, names: &str) -> Person {
        self.token.grant.scopes = scopes(names);
        self
    }

    pub fn identify(&self) -> Result<Identity, TokenRefusal> {
        Identity::of(&self.token, &self.user, &self.memberships, NOW)
    }

    pub fn identity(&self) -> Identity {
        self.identify().expect("a valid token")
    }

    /// The identity of the same user with another token.
    pub fn with(&self, grant: Grant) -> Identity {
        let token = ApiToken {
            grant,
            ..self.token.clone()
        };
        Identity::of(&token, &self.user, &self.memberships, NOW).expect("a valid token")
    }
}

pub fn admin() -> Person {
    Person::new("admin", Role::PlatformAdmin, &[])
}

pub fn ana() -> Person {
    Person::new("ana", Role::TeamAdmin, &["team-a"])
}

pub fn alice() -> Person {
    Person::new("alice", Role::Developer, &["team-a"])
}

pub fn vic() -> Person {
    Person::new("vic", Role::Viewer, &["team-a"])
}

pub fn bob() -> Person {
    Person::new("bob", Role::TeamAdmin, &["team-b"])
}

/// A token with `teams: []`.
pub fn pub_token() -> Person {
    let mut person = Person::new("pub", Role::Developer, &["team-a"]);
    person.token.grant.teams = TokenTeams::Only(BTreeSet::new());
    person
}

pub fn watcher() -> Person {
    Person::new("watcher", Role::PlatformViewer, &[])
}
