//! Visibility and changes of objects.

use identity::{Identity, Membership, Owned, OwnedRefusal, Permission, Role, TokenRefusal, TokenTeams};
use types::{TeamId, TenantId, UserId, Visibility};

use crate::people::{self, NOW, Person, admin, alice, ana, bob, pub_token, team, user, vic, watcher};

/// An object of Alice's.
struct Object {
    tenant: TenantId,
    owner: UserId,
    visibility: Visibility,
    team: Option<TeamId>,
}

impl Object {
    fn new(visibility: Visibility, id: Option<&str>) -> Object {
        Object {
            tenant: TenantId::new("acme"),
            owner: UserId::new("alice@example.com"),
            visibility,
            team: id.map(team),
        }
    }

    fn owned(&self) -> Owned<'_> {
        Owned {
            tenant: &self.tenant,
            owner: &self.owner,
            visibility: self.visibility,
            team: self.team.as_ref(),
        }
    }
}

fn everyone() -> [(&'static str, Identity); 8] {
    let narrowed = {
        let mut admin = admin();
        admin.token.grant.teams = people::teams(&["team-a"]);
        admin
    };
    [
        ("admin", admin()),
        ("narrowed", narrowed),
        ("ana", ana()),
        ("alice", alice()),
        ("vic", vic()),
        ("bob", bob()),
        ("pub", pub_token()),
        ("watcher", watcher()),
    ]
    .map(|(name, person)| (name, person.identity()))
}

fn who(may: impl Fn(&Identity) -> bool) -> String {
    let everyone = everyone();
    let names: Vec<&str> = everyone
        .iter()
        .filter(|(_, one)| may(one))
        .map(|(name, _)| *name)
        .collect();
    names.join(" ")
}

// S0-82
#[test]
fn s0_82_objects_are_seen_by_their_visibility() {
    let check = |visibility, id: Option<&str>, expected: &str| {
        let object = Object::new(visibility, id);
        assert_eq!(
            who(|one| one.may_see(&object.owned())),
            expected,
            "{visibility:?} {id:?}"
        );
    };
    let all = "admin narrowed ana alice vic bob pub watcher";
    check(Visibility::Public, None, all);
    check(Visibility::Public, Some("team-a"), all);
    check(Visibility::Team, Some("team-a"), "admin narrowed ana alice vic");
    check(Visibility::Team, Some("team-b"), "admin alice bob");
    check(Visibility::Team, Some("team-c"), "admin alice");
    check(Visibility::Team, None, "admin alice");
    check(Visibility::Private, None, "admin alice");
    check(Visibility::Private, Some("team-a"), "admin alice");
}

#[test]
fn objects_of_other_tenants_are_absent_for_everyone() {
    for visibility in Visibility::ALL {
        let object = Object {
            tenant: TenantId::new("other"),
            ..Object::new(visibility, Some("team-a"))
        };
        assert_eq!(who(|one| one.may_see(&object.owned())), "");
        for permission in Permission::ALL {
            let hidden =
                |one: &Identity| one.decide(*permission, &object.owned()) == Err(OwnedRefusal::Hidden);
            assert_eq!(who(|one| !hidden(one)), "", "{permission}");
        }
    }
}

#[test]
fn permissions_apply_to_the_right_objects() {
    use Permission as P;
    let check = |permission: Permission, visibility, id: Option<&str>, expected: &str| {
        let object = Object::new(visibility, id);
        let may = who(|one| one.decide(permission, &object.owned()).is_ok());
        assert_eq!(may, expected, "{permission} {visibility:?} {id:?}");
    };
    let (public, shared) = (Visibility::Public, Visibility::Team);
    check(
        P::ServersRead,
        shared,
        Some("team-a"),
        "admin narrowed ana alice vic",
    );
    check(P::ServersUse, shared, Some("team-a"), "admin narrowed ana alice");
    check(P::ServersUse, public, None, "admin narrowed ana alice bob pub");
    check(
        P::ServersUpdate,
        shared,
        Some("team-a"),
        "admin narrowed ana alice",
    );
    check(P::ServersUpdate, shared, Some("team-b"), "admin alice bob");
    check(P::ServersUpdate, public, Some("team-b"), "admin alice bob");
    check(P::ServersUpdate, public, None, "admin alice");
    check(P::ServersDelete, Visibility::Private, None, "admin alice");
    check(P::ServersDelete, public, None, "admin alice");
    // C168, S0-75
    check(
        P::SkillsRead,
        shared,
        Some("team-a"),
        "admin narrowed ana alice vic",
    );
    check(
        P::SkillsCreate,
        shared,
        Some("team-a"),
        "admin narrowed ana alice",
    );
    check(P::SkillsApprove, shared, Some("team-a"), "admin narrowed ana");
    check(P::SkillsRevoke, shared, Some("team-a"), "admin narrowed ana");
    check(P::SkillsApprove, public, None, "admin");
    check(P::SkillsRevoke, public, Some("team-b"), "admin bob");
    check(P::UpstreamsUpdate, public, None, "admin");
    // Ownership alone is not enough to manage an upstream server, because the team's programs send data there.
    for permission in [P::UpstreamsCreate, P::UpstreamsUpdate, P::UpstreamsDelete] {
        check(permission, shared, Some("team-a"), "admin narrowed ana");
        check(permission, public, Some("team-b"), "admin bob");
        check(permission, Visibility::Private, Some("team-a"), "admin");
    }
    check(
        P::UpstreamsRead,
        public,
        None,
        "admin narrowed ana alice vic bob pub watcher",
    );
}

// C168
#[test]
fn c168_refusals_name_the_missing_permission() {
    let check = |person: Person, permission: Permission, expected: &str| {
        let object = Object::new(Visibility::Team, Some("team-a"));
        let decided = person.identity().decide(permission, &object.owned());
        let told = decided.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
        assert_eq!(told, expected);
    };
    check(vic(), Permission::SkillsRead, "ok");
    check(
        vic(),
        Permission::SkillsCreate,
        "Insufficient permissions. Required: skills.create",
    );
    check(alice(), Permission::SkillsCreate, "ok");
    check(
        alice(),
        Permission::SkillsApprove,
        "Insufficient permissions. Required: skills.approve",
    );
    check(
        alice(),
        Permission::SkillsRevoke,
        "Insufficient permissions. Required: skills.revoke",
    );
    check(ana(), Permission::SkillsApprove, "ok");
    check(ana(), Permission::SkillsRevoke, "ok");
    check(bob(), Permission::SkillsApprove, "not found");
    check(
        vic(),
        Permission::ServersUse,
        "Insufficient permissions. Required: servers.use",
    );
    check(ana().scoped("skills.read"), Permission::SkillsRead, "ok");
    check(
        ana().scoped("skills.read"),
        Permission::SkillsApprove,
        "Insufficient permissions. Required: skills.approve",
    );
}

// C167, S0-D13
#[test]
fn c167_records_are_seen_by_their_user_and_the_admins_of_the_team() {
    let check = |of: &str, id: Option<&str>, expected: &str| {
        let id = id.map(team);
        assert_eq!(
            who(|one| one.may_see_record(&user(of), id.as_ref())),
            expected,
            "{of} {id:?}"
        );
    };
    check("alice", Some("team-a"), "admin narrowed ana alice");
    check("vic", Some("team-a"), "admin narrowed ana vic");
    check("alice", None, "admin alice");
    check("bob", Some("team-b"), "admin bob");
    check("pub", Some("team-a"), "admin narrowed ana pub");
    check("watcher", None, "admin watcher");
    let foreign = identity::user(&TenantId::new("other"), "alice@example.com").expect("a user");
    assert_eq!(who(|one| one.may_see_record(&foreign, Some(&team("team-a")))), "");
}

#[test]
fn teams_are_seen_by_their_members_and_changed_by_their_admins() {
    use Permission as P;
    let check = |permission: Permission, tenant: &str, id: &str, expected: &str| {
        let (tenant, id) = (TenantId::new(tenant), team(id));
        let may = who(|one| one.decide_team(permission, &tenant, &id).is_ok());
        assert_eq!(may, expected, "{permission} {tenant} {id}");
    };
    check(
        P::TeamsRead,
        "acme",
        "team-a",
        "admin narrowed ana alice vic watcher",
    );
    check(P::TeamsRead, "acme", "team-z", "admin watcher");
    check(P::TeamsUpdate, "acme", "team-a", "admin narrowed ana");
    check(P::TeamsUpdate, "acme", "team-b", "admin bob");
    check(P::TeamsDelete, "acme", "team-a", "admin");
    check(P::TeamsRead, "other", "team-a", "");
    let hidden = bob()
        .identity()
        .decide_team(P::TeamsUpdate, &TenantId::new("acme"), &team("team-a"));
    assert_eq!(hidden, Err(OwnedRefusal::Hidden));
}

// S0-D12
#[test]
fn s0_d12_platform_admins_are_distinct_users() {
    let (one, other) = (admin(), Person::new("admin2", Role::PlatformAdmin, &[]));
    let (one, other) = (one.identity(), other.identity());
    assert_ne!(one.principal(), other.principal());
    assert_eq!(one.principal().to_string(), "acme/admin@example.com");
    assert!(one.is_unrestricted() && other.is_unrestricted());
}

#[test]
fn a_token_is_refused_when_it_ends() {
    let check = |change: fn(&mut Person), expected: Option<TokenRefusal>| {
        let mut person = alice();
        change(&mut person);
        assert_eq!(person.identify().err(), expected);
    };
    check(|_| {}, None);
    check(|one| one.token.grant.expires_ms = Some(NOW + 1), None);
    check(
        |one| one.token.grant.expires_ms = Some(NOW),
        Some(TokenRefusal::Expired),
    );
    check(
        |one| one.token.grant.expires_ms = Some(i64::MIN),
        Some(TokenRefusal::Expired),
    );
    check(
        |one| one.token.revoked_ms = Some(NOW + 1),
        Some(TokenRefusal::Revoked),
    );
    check(
        |one| one.user.disabled_ms = Some(NOW + 1),
        Some(TokenRefusal::UserDisabled),
    );
    check(
        |one| one.user.principal = user("vic"),
        Some(TokenRefusal::Unknown),
    );
    let told = [
        TokenRefusal::Unknown,
        TokenRefusal::Expired,
        TokenRefusal::Revoked,
        TokenRefusal::UserDisabled,
    ]
    .map(|refusal| refusal.to_string());
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
}

#[test]
fn a_token_has_no_more_than_its_owner_has_now() {
    let check = |change: fn(&mut Person), role: Role, ids: &str, administered: &str| {
        let mut person = Person::new("ana", Role::TeamAdmin, &["team-a", "team-b"]);
        change(&mut person);
        let one = person.identity();
        let shown = |teams: Vec<&TeamId>| teams.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(" ");
        assert_eq!(one.role(), role);
        assert_eq!(shown(one.teams().collect()), ids);
        assert_eq!(shown(one.administered_teams().collect()), administered);
    };
    check(|_| {}, Role::TeamAdmin, "team-a team-b", "team-a team-b");
    check(
        |one| one.memberships.truncate(1),
        Role::TeamAdmin,
        "team-a",
        "team-a",
    );
    check(|one| one.memberships.clear(), Role::TeamAdmin, "", "");
    check(
        |one| one.memberships[0].role = Role::Viewer,
        Role::TeamAdmin,
        "team-a team-b",
        "team-b",
    );
    check(
        |one| one.user.role = Role::Viewer,
        Role::Viewer,
        "team-a team-b",
        "team-a team-b",
    );
    check(
        |one| one.token.grant.role = Role::Developer,
        Role::Developer,
        "team-a team-b",
        "",
    );
    check(
        |one| one.token.grant.teams = people::teams(&["team-b", "team-c"]),
        Role::TeamAdmin,
        "team-b",
        "team-b",
    );
    check(
        |one| one.token.grant.teams = TokenTeams::Unrestricted,
        Role::TeamAdmin,
        "team-a team-b",
        "team-a team-b",
    );
    check(
        |one| one.memberships[1].user = user("bob"),
        Role::TeamAdmin,
        "team-a",
        "team-a",
    );
}

#[test]
fn a_platform_admin_limited_to_teams_is_their_admin() {
    let mut person = admin();
    person.token.grant.teams = people::teams(&["team-a"]);
    let one = person.identity();
    assert!(!one.is_unrestricted());
    assert_eq!(one.role(), Role::TeamAdmin);
    assert_eq!(one.administered_teams().collect::<Vec<_>>(), [&team("team-a")]);
    assert!(one.may(Permission::UsersCreate).is_err());
    person.user.role = Role::Developer;
    person.token.grant.teams = TokenTeams::Unrestricted;
    let demoted = person.identity();
    assert!(
        !demoted.is_unrestricted() && demoted.role() == Role::Developer && demoted.teams().next().is_none()
    );
}

#[test]
fn a_role_in_a_team_applies_to_that_team_only() {
    let mut person = Person::new("ana", Role::Viewer, &["team-a", "team-b"]);
    person.token.grant.role = Role::TeamAdmin;
    person.memberships[0].role = Role::TeamAdmin;
    let one = person.identity();
    assert!(one.may(Permission::ServersUpdate).is_ok());
    let check = |permission, visibility, id: Option<&str>, expected: bool| {
        let object = Object::new(visibility, id);
        assert_eq!(
            one.decide(permission, &object.owned()).is_ok(),
            expected,
            "{permission} {id:?}"
        );
    };
    check(Permission::ServersUpdate, Visibility::Team, Some("team-a"), true);
    check(Permission::ServersUpdate, Visibility::Team, Some("team-b"), false);
    check(Permission::ServersUse, Visibility::Team, Some("team-b"), false);
    check(Permission::ServersUse, Visibility::Public, None, false);
    check(Permission::ServersUse, Visibility::Public, Some("team-a"), true);
    let member = Membership {
        role: Role::PlatformAdmin,
        ..person.memberships[0].clone()
    };
    person.memberships = vec![member];
    assert!(!person.identity().is_unrestricted());
}
