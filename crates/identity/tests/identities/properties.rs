//! Properties of all identities: a narrower token has no further rights, and no access crosses tenants.

use std::collections::BTreeSet;

use identity::{
    Grant, Identity, Membership, Owned, OwnedRefusal, Permission, PermissionSet, Role, Route, TokenTeams,
};
use proptest::prelude::*;
use types::{Principal, TeamId, TenantId, UserId, Visibility};

use crate::people::{NOW, Person, team, user};

const TEAMS: [&str; 3] = ["team-a", "team-b", "team-c"];
const USERS: [&str; 3] = ["ann", "ben", "eve"];

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL.to_vec())
}

fn some_teams() -> impl Strategy<Value = BTreeSet<TeamId>> {
    prop::sample::subsequence(TEAMS.to_vec(), 0..=TEAMS.len())
        .prop_map(|ids| ids.into_iter().map(team).collect())
}

fn permissions() -> impl Strategy<Value = PermissionSet> {
    prop::sample::subsequence(Permission::ALL.to_vec(), 0..=Permission::ALL.len())
        .prop_map(|some| some.into_iter().collect())
}

fn grant_of(owner: Principal) -> impl Strategy<Value = Grant> {
    let teams = prop_oneof![
        1 => Just(TokenTeams::Unrestricted),
        3 => some_teams().prop_map(TokenTeams::Only),
    ];
    let scopes = prop_oneof![2 => Just(None), 3 => permissions().prop_map(Some)];
    let expires = prop_oneof![Just(None), (NOW + 1..NOW + 5).prop_map(Some)];
    (role(), teams, scopes, expires).prop_map(move |(role, mut teams, scopes, expires_ms)| {
        if role != Role::PlatformAdmin && teams == TokenTeams::Unrestricted {
            teams = TokenTeams::Only(BTreeSet::new());
        }
        Grant {
            owner: owner.clone(),
            name: None,
            role,
            teams,
            scopes,
            expires_ms,
        }
    })
}

/// Any state of the user `ann`, with any token.
fn person() -> impl Strategy<Value = Person> {
    let members = prop::collection::vec((prop::sample::select(TEAMS.to_vec()), role()), 0..4);
    (role(), members, grant_of(user("ann"))).prop_map(|(role, members, grant)| {
        let mut person = Person::new("ann", role, &[]);
        person.memberships = members
            .into_iter()
            .map(|(id, role)| Membership {
                user: person.user.principal.clone(),
                team: team(id),
                role,
                created_ms: 0,
            })
            .collect();
        person.token.grant = grant;
        person
    })
}

/// A grant that another grant covers.
fn narrower(grant: &Grant) -> impl Strategy<Value = Grant> + use<> {
    let grant = grant.clone();
    (role(), some_teams(), permissions(), any::<[bool; 3]>()).prop_map(move |(role, teams, scopes, keep)| {
        let mut narrow = grant.clone();
        // A platform admin who is limited to teams is an admin of these teams.
        let acting = match (&grant.teams, grant.role) {
            (TokenTeams::Only(_), Role::PlatformAdmin) => Role::TeamAdmin,
            (_, role) => role,
        };
        if !keep[0] && acting.permissions().covers(role.permissions()) {
            narrow.role = role;
        }
        narrow.teams = match &grant.teams {
            TokenTeams::Unrestricted if narrow.role != Role::PlatformAdmin => TokenTeams::Only(teams),
            kept if keep[1] => kept.clone(),
            TokenTeams::Unrestricted => TokenTeams::Only(teams),
            TokenTeams::Only(own) => TokenTeams::Only(own.intersection(&teams).cloned().collect()),
        };
        if !keep[2] {
            narrow.scopes = Some(scopes.intersection(grant.scopes.unwrap_or(PermissionSet::ALL)));
        }
        narrow
    })
}

#[derive(Debug, Clone)]
struct Object {
    tenant: TenantId,
    owner: UserId,
    visibility: Visibility,
    team: Option<TeamId>,
}

/// Every object of these users and teams, in this tenant.
fn objects(tenant: &str) -> Vec<Object> {
    let mut all = Vec::new();
    for owner in USERS {
        for visibility in Visibility::ALL {
            for id in TEAMS.map(Some).into_iter().chain([None]) {
                all.push(Object {
                    tenant: TenantId::new(tenant),
                    owner: user(owner).user().clone(),
                    visibility,
                    team: id.map(team),
                });
            }
        }
    }
    all
}

impl Object {
    fn owned(&self) -> Owned<'_> {
        Owned {
            tenant: &self.tenant,
            owner: &self.owner,
            visibility: self.visibility,
            team: self.team.as_ref(),
        }
    }
}

/// Fails if `less` has a right that `more` lacks.
fn is_at_most(less: &Identity, more: &Identity, others: &[Grant]) -> Result<(), TestCaseError> {
    prop_assert!(more.permissions().covers(less.permissions()));
    prop_assert!(!less.is_unrestricted() || more.is_unrestricted());
    for route in Route::ALL {
        prop_assert!(
            route.admit(Some(less)).is_err() || route.admit(Some(more)).is_ok(),
            "{route}"
        );
    }
    for object in objects("acme") {
        let owned = object.owned();
        prop_assert!(!less.may_see(&owned) || more.may_see(&owned), "{object:?}");
        for permission in Permission::ALL {
            let (one, other) = (less.decide(*permission, &owned), more.decide(*permission, &owned));
            prop_assert!(
                one.is_err() || other.is_ok(),
                "{permission} {object:?}: {other:?}"
            );
        }
        if let Some(id) = &object.team {
            for permission in Permission::ALL {
                let [one, other] = [less, more].map(|one| one.decide_team(*permission, &object.tenant, id));
                prop_assert!(one.is_err() || other.is_ok(), "{permission} {id}");
            }
        }
        let by = user(object.owner.as_str().split('@').next().unwrap_or_default());
        let id = object.team.as_ref();
        prop_assert!(
            !less.may_see_record(&by, id) || more.may_see_record(&by, id),
            "{object:?}"
        );
        prop_assert!(!less.may_manage_tokens_of(&by) || more.may_manage_tokens_of(&by));
        for role in Role::ALL {
            prop_assert!(less.may_appoint(*role, id).is_err() || more.may_appoint(*role, id).is_ok());
        }
    }
    for grant in others {
        prop_assert!(
            less.may_grant(grant).is_err() || more.may_grant(grant).is_ok(),
            "{grant:?}"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn fewer_scopes_teams_or_roles_never_do_more(
        (person, narrow) in person().prop_flat_map(|person| {
            let narrow = narrower(&person.token.grant);
            (Just(person), narrow)
        }),
        others in prop::collection::vec(grant_of(user("ann")), 8),
    ) {
        is_at_most(&person.with(narrow), &person.identity(), &others)?;
    }

    #[test]
    fn a_granted_token_never_does_more_than_the_one_that_made_it(
        person in person(),
        grants in prop::collection::vec(grant_of(user("ann")), 16),
    ) {
        let maker = person.identity();
        for grant in grants.iter().filter(|grant| maker.may_grant(grant).is_ok()) {
            let made = person.with(grant.clone());
            is_at_most(&made, &maker, &grants)?;
            if let Some(end) = maker.expires_ms() {
                prop_assert!(made.expires_ms().is_some_and(|new| new <= end));
            }
        }
    }

    #[test]
    fn losing_a_membership_or_a_role_never_gives_anything(person in person(), lower in role(), lost in 0..4_usize) {
        let before = person.identity();
        let mut after = person.clone();
        if lost < after.memberships.len() {
            let gone = after.memberships[lost].team.clone();
            after.memberships.retain(|membership| membership.team != gone);
        }
        if person.user.role.permissions().covers(lower.permissions()) {
            after.user.role = lower;
        }
        is_at_most(&after.identity(), &before, &[])?;
    }

    #[test]
    fn nothing_crosses_tenants(person in person()) {
        let one = person.identity();
        for object in objects("other") {
            prop_assert!(!one.may_see(&object.owned()));
            for permission in Permission::ALL {
                prop_assert_eq!(one.decide(*permission, &object.owned()), Err(OwnedRefusal::Hidden));
            }
            let by = identity::user(&object.tenant, object.owner.as_str())
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(!one.may_see_record(&by, object.team.as_ref()) && !one.may_manage_tokens_of(&by));
        }
    }

    #[test]
    fn only_platform_admins_reach_what_is_of_nobody_they_know(person in person()) {
        let one = person.identity();
        let is_admin = person.user.role == Role::PlatformAdmin
            && person.token.grant.role == Role::PlatformAdmin
            && person.token.grant.teams == TokenTeams::Unrestricted;
        prop_assert_eq!(one.is_unrestricted(), is_admin);
        let tenant_wide = Role::PlatformAdmin.permissions()
            .without(Role::TeamAdmin.permissions())
            .without(Role::PlatformViewer.permissions());
        prop_assert!(is_admin || one.permissions().intersection(tenant_wide).is_empty());
    }
}
