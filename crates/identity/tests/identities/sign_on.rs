//! From claims to users: addresses, roles, teams, scopes and agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use identity::{
    ClaimGrant, ClaimRule, ExistingUsers, GrantRefusal, Identity, NewUsers, Permission, PermissionSet, Role,
    SignOn, SignOnRefusal, SignOnRules, TokenContext,
};
use serde_json::{Value, json};

use crate::people::{Person, grant, team, teams};

fn rule(claim: &str, value: &str, gives: ClaimGrant) -> ClaimRule {
    ClaimRule {
        claim: claim.to_owned(),
        value: value.to_owned(),
        gives,
    }
}

fn rules() -> SignOnRules {
    SignOnRules {
        user_claim: "email".to_owned(),
        new_users: NewUsers::Create,
        existing_users: ExistingUsers::Refuse,
        role: Role::Viewer,
        claims: vec![
            rule("groups", "admins", ClaimGrant::Role(Role::PlatformAdmin)),
            rule("groups", "devs", ClaimGrant::Role(Role::Developer)),
            rule("groups", "a", ClaimGrant::Member(team("team-a"), Role::Viewer)),
            rule(
                "groups",
                "leads",
                ClaimGrant::Member(team("team-a"), Role::TeamAdmin),
            ),
            rule(
                "realm.roles",
                "b",
                ClaimGrant::Member(team("team-b"), Role::Developer),
            ),
            rule(
                "https://a.example/roles",
                "c",
                ClaimGrant::Member(team("team-c"), Role::Developer),
            ),
        ],
        scopes: BTreeMap::new(),
        agents: None,
    }
}

fn decide(rules: &SignOnRules, more: Value) -> Result<SignOn, SignOnRefusal> {
    let mut claims = json!({
        "iss": "https://login.example", "sub": "7", "email": "Ann@Example.com", "iat": 10, "exp": 20,
    });
    for (name, value) in more.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    rules.decide(claims.as_object().expect("an object"))
}

#[test]
fn rules_give_roles_and_teams_by_values() {
    let check = |more: Value, role: Role, given: &[(&str, Role)]| {
        let decided = decide(&rules(), more.clone()).expect("a user");
        let none = ["team-a", "team-b", "team-c"].map(|id| (team(id), None));
        let mut expected = BTreeMap::from(none);
        expected.extend(given.iter().map(|(id, role)| (team(id), Some(*role))));
        assert_eq!((decided.role, decided.teams), (Some(role), expected), "{more}");
    };
    // An absent claim has no value: issuers leave empty lists out.
    check(json!({}), Role::Viewer, &[]);
    check(json!({"groups": []}), Role::Viewer, &[]);
    check(json!({"groups": ["devs", "admins"]}), Role::PlatformAdmin, &[]);
    check(
        json!({"groups": ["a", "leads"]}),
        Role::Viewer,
        &[("team-a", Role::TeamAdmin)],
    );
    check(json!({"groups": "devs"}), Role::Developer, &[]);
    check(json!({"groups": [1, {}, null, ["admins"]]}), Role::Viewer, &[]);
    check(
        json!({"realm": {"roles": ["b"]}}),
        Role::Viewer,
        &[("team-b", Role::Developer)],
    );
    check(json!({"realm": {"roles": {}}}), Role::Viewer, &[]);
    check(json!({"realm": "b"}), Role::Viewer, &[]);
    check(
        json!({"https://a.example/roles": ["c"]}),
        Role::Viewer,
        &[("team-c", Role::Developer)],
    );
}

#[test]
fn claims_that_are_elsewhere_decide_nothing() {
    for more in [
        json!({"hasgroups": true}),
        json!({"_claim_names": {"groups": "src1"}}),
    ] {
        let decided = decide(&rules(), more.clone()).expect("a user");
        let others = BTreeMap::from([(team("team-b"), None), (team("team-c"), None)]);
        assert_eq!((decided.role, decided.teams), (None, others), "{more}");
    }
}

#[test]
fn an_address_must_be_there_and_verified() {
    let check = |more: Value, expected: Result<&str, &str>| {
        let decided = decide(&rules(), more.clone()).map_err(|why| why.name());
        let decided = decided.as_ref().map(|decided| decided.email.as_str());
        assert_eq!(decided.map_err(|name| *name), expected, "{more}");
    };
    check(json!({}), Ok("ann@example.com"));
    check(json!({"email_verified": true}), Ok("ann@example.com"));
    check(json!({"email_verified": "true"}), Ok("ann@example.com"));
    check(json!({"email_verified": false}), Err("address_unverified"));
    check(json!({"email_verified": 0}), Err("address_unverified"));
    check(json!({"email": ""}), Err("claim_missing"));
    check(json!({"email": ["ann@example.com"]}), Err("claim_missing"));
    check(json!({"email": "ann"}), Err("address_invalid"));
    check(json!({"email": "ann@ex\u{e4}mple.com"}), Err("address_invalid"));
    check(json!({"sub": 7}), Err("claim_missing"));
}

#[test]
fn an_agent_is_named_by_the_outermost_act() {
    let mut rules = rules();
    let check = |rules: &SignOnRules, act: Value, expected: Result<Option<&str>, &str>| {
        let decided = decide(rules, json!({"act": act})).map_err(|why| why.name());
        let decided = decided.as_ref().map(|decided| decided.agent.as_deref());
        assert_eq!(decided.map_err(|name| *name), expected, "{act}");
    };
    check(&rules, json!({"sub": "a", "act": {"sub": "b"}}), Ok(Some("a")));
    for wrong in [
        json!({}),
        json!("a"),
        json!({"sub": ""}),
        json!({"sub": "a\u{202e}"}),
        json!({"sub": "a".repeat(300)}),
    ] {
        check(&rules, wrong, Err("agent_invalid"));
    }
    rules.agents = Some(["b".to_owned()].into());
    check(&rules, json!({"sub": "b"}), Ok(Some("b")));
    check(
        &rules,
        json!({"sub": "a", "act": {"sub": "b"}}),
        Err("agent_refused"),
    );
    assert_eq!(decide(&rules, json!({})).map(|decided| decided.agent), Ok(None));
}

#[test]
fn a_sign_on_keeps_its_id_over_its_tokens() {
    let id = |more: Value| decide(&rules(), more).expect("a user").id();
    let first = id(json!({"sid": "s", "azp": "c"}));
    assert_eq!(
        first,
        id(json!({"sid": "s", "azp": "c", "iat": 99, "email": "new@example.com"}))
    );
    for other in [
        json!({"sid": "t", "azp": "c"}),
        json!({"sid": "s", "azp": "d"}),
        json!({"sid": "s", "azp": "c", "sub": "8"}),
        json!({"sid": "s", "azp": "c", "act": {"sub": "agent"}}),
        json!({"sid": "sc", "azp": ""}),
    ] {
        assert_ne!(first, id(other.clone()), "{other}");
    }
}

fn signed_on(person: &Person, scopes: &[(&str, &str)], more: Value, paths: Option<&[&str]>) -> Identity {
    let read = |names: &str| PermissionSet::read(names).expect("permissions");
    let scopes: BTreeMap<_, _> = scopes
        .iter()
        .map(|(scope, names)| ((*scope).to_owned(), read(names)))
        .collect();
    let rules = SignOnRules {
        scopes: scopes.clone(),
        ..rules()
    };
    let sign_on = decide(&rules, more).expect("a user");
    let context = TokenContext {
        scopes: Arc::new(scopes),
        paths: paths.map(|paths| paths.iter().map(|&path| path.to_owned()).collect()),
    };
    Identity::signed_on(&sign_on, context, &person.user, &person.memberships).expect("an enabled user")
}

#[test]
fn scopes_limit_the_role_and_the_smallest_missing_one_is_named() {
    let scopes = [
        ("all", "servers.use servers.read users.read"),
        ("read", "servers.read"),
        ("use", "servers.use"),
    ];
    let alice = Person::new("alice", Role::Developer, &["team-a"]);
    let check = |more: Value, permission: Permission, may: bool, needed: Option<&str>| {
        let identity = signed_on(&alice, &scopes, more.clone(), None);
        let found = (
            identity.may(permission).is_ok(),
            identity.needed_scopes(permission),
        );
        assert_eq!(found, (may, needed.map(str::to_owned)), "{more} {permission}");
    };
    check(
        json!({"scope": "read other"}),
        Permission::ServersRead,
        true,
        None,
    );
    check(
        json!({"scope": "read"}),
        Permission::ServersUse,
        false,
        Some("read use"),
    );
    check(
        json!({"scp": ["read", "use"]}),
        Permission::ServersUse,
        true,
        None,
    );
    check(json!({"scp": "all"}), Permission::ServersUse, true, None);
    check(json!({}), Permission::ServersUse, false, Some("use"));
    // The role lacks it.
    check(json!({"scope": "read"}), Permission::UsersRead, false, None);
    let unlimited = signed_on(&alice, &[], json!({}), None);
    assert!(unlimited.may(Permission::ServersUse).is_ok());
}

#[test]
fn a_token_for_a_place_is_for_what_is_beneath_it() {
    let alice = Person::new("alice", Role::Developer, &[]);
    let check = |paths: &[&str], asked: &str, expected: bool| {
        let identity = signed_on(&alice, &[], json!({}), Some(paths));
        assert_eq!(identity.is_for_path(asked), expected, "{paths:?} {asked}");
    };
    assert!(signed_on(&alice, &[], json!({}), None).is_for_path("/servers"));
    check(&["/servers/a/mcp", "/servers/b/mcp"], "/servers/b/mcp", true);
    check(&["/servers/a/mcp", "/servers/b/mcp"], "/servers/c/mcp", false);
    check(&[], "/servers/a/mcp", false);
    check(&["/servers/a/mcp"], "/servers/a/mcp", true);
    check(&["/servers/a/mcp"], "/servers/a/mcp/x", true);
    check(&["/servers/a/mcp"], "/servers/a/mcpx", false);
    check(&["/servers/a/mcp"], "/servers/b/mcp", false);
    check(&["/servers/a"], "/servers/a/message", true);
    check(&["/servers/a"], "/servers", false);
    check(&["/servers/a/sse"], "/servers/a/message", true);
    check(&["/servers/a/sse"], "/servers/b/message", false);
}

#[test]
fn what_is_made_with_a_sign_on_may_outlive_its_token() {
    let alice = Person::new("alice", Role::Developer, &["team-a"]);
    let identity = signed_on(&alice, &[], json!({}), None);
    let asked = grant(identity.principal(), Role::Developer, teams(&["team-a"]));
    assert_eq!(identity.may_grant(&asked), Ok(()));
    let admin = grant(identity.principal(), Role::PlatformAdmin, teams(&["team-a"]));
    assert!(identity.may_grant(&admin).is_err());
    let agent = signed_on(&alice, &[], json!({"act": {"sub": "agent-7"}}), None);
    assert_eq!(agent.may_grant(&asked), Err(GrantRefusal::Agent));
}
