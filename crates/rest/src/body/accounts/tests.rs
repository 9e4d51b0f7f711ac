//! Bodies of tokens, users, teams and members: accepted requests and reported mistakes.

use identity::Permission;
use serde_json::json;
use types::{Principal, TenantId};

use super::*;

fn said<T: std::fmt::Debug>(read: Result<T, RestError>) -> String {
    read.map_or_else(|problem| problem.to_string(), |read| format!("{read:?}"))
}

fn user() -> User {
    User {
        principal: identity::user(&TenantId::new("acme"), "ann@example.com").expect("a user"),
        role: Role::Developer,
        created_ms: 1_000,
        disabled_ms: Some(2_000),
    }
}

#[test]
fn a_token_request_has_a_role_and_limits() {
    let least = create_token(br#"{"role": "viewer"}"#).expect("a token");
    let expected = TokenRequest {
        user: None,
        name: None,
        role: Role::Viewer,
        teams: None,
        scopes: None,
        expires_ms: None,
    };
    assert_eq!(least, expected);
    let null =
        r#"{"role": "viewer", "user": null, "name": null, "teams": null, "scopes": null, "expires": null}"#;
    assert_eq!(create_token(null.as_bytes()), Ok(expected));
    let all = json!({
        "user": "Ann@Example.com", "name": "CI", "role": "developer", "teams": ["team-a", "team-b"],
        "scopes": ["servers.read", "servers.use", "servers.read"], "expires": "2026-11-27T09:30:00+01:00",
    });
    let all = create_token(all.to_string().as_bytes()).expect("a token");
    assert_eq!(
        all.user.map(|user| user.to_string()).as_deref(),
        Some("ann@example.com")
    );
    assert_eq!(all.name.as_deref(), Some("CI"));
    assert_eq!(
        all.teams,
        Some(vec![TeamId::new("team-a"), TeamId::new("team-b")])
    );
    let scopes = PermissionSet::of(&[Permission::ServersRead, Permission::ServersUse]);
    assert_eq!(all.scopes, Some(scopes));
    assert_eq!(all.expires_ms, Some(1_795_768_200_000));
    let none = create_token(br#"{"role": "viewer", "teams": [], "scopes": []}"#).expect("a token");
    assert_eq!(
        (none.teams, none.scopes),
        (Some(Vec::new()), Some(PermissionSet::NONE))
    );
}

#[test]
fn every_mistake_of_a_token_is_reported_with_its_place() {
    let check = |body: serde_json::Value, expected: &str| {
        assert_eq!(
            said(create_token(body.to_string().as_bytes())),
            expected,
            "{body}"
        );
    };
    check(json!({}), "role: is required");
    check(
        json!([]),
        "body: expected an object, found an array; role: is required",
    );
    check(json!({"role": null}), "role: is required");
    check(
        json!({"role": "devloper"}),
        "role: unknown role 'devloper'; did you mean 'developer'?",
    );
    check(
        json!({
            "role": 1, "user": "ann", "name": " ", "teams": ["team-a", "A", 7], "scopes": ["servers.raed"],
            "expires": "tomorrow", "email": "x", "expires_at": "x", "rol": "viewer",
        }),
        "email: unknown key; did you mean `user`?; \
         expires_at: unknown key; did you mean `expires`?; \
         rol: unknown key; did you mean `role`?; \
         role: expected a string, found a number; \
         user: expected an address such as ann@example.com, of ASCII letters, digits and . _ % + - ', got 'ann'; \
         name: expected 1 to 100 visible characters, got ' '; \
         teams[1]: an id is 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit, not 'A'; \
         teams[2]: expected a string, found a number; \
         scopes[0]: unknown permission 'servers.raed'; did you mean 'servers.read'?; \
         expires: expected a time such as \"2026-11-27T09:30:00Z\", found \"tomorrow\"",
    );
    check(
        json!({"role": "viewer", "teams": "team-a", "scopes": vec!["x"; 101]}),
        "teams: expected an array of strings, found a string; scopes: has 101 items; 100 are the most",
    );
    assert_eq!(
        said(create_token(br#"{"role": "viewer", "role": "platform_admin"}"#)),
        "role: is given twice; write it once"
    );
    assert!(said(create_token(b"{")).starts_with("the body is not JSON"));
}

#[test]
fn users_are_made_and_changed() {
    let made = create_user(br#"{"user": "Bob@example.com", "role": "viewer"}"#).expect("a user");
    assert_eq!((made.user.as_str(), made.role), ("bob@example.com", Role::Viewer));
    assert_eq!(
        said(create_user(br#"{"disabled": true}"#)),
        "disabled: unknown key; known are `user`, `role`; user: is required; role: is required"
    );
    let check = |body: serde_json::Value, expected: Result<ChangedUser, &str>| {
        let read = update_user(body.to_string().as_bytes(), &user());
        let read = read.map_err(|problem| problem.to_string());
        assert_eq!(
            read.as_ref().map_err(String::as_str),
            expected.as_ref().map_err(|text| *text),
            "{body}"
        );
    };
    let change = |role, disabled| Ok(ChangedUser { role, disabled });
    check(json!({}), change(None, None));
    check(json!({"role": "viewer"}), change(Some(Role::Viewer), None));
    check(json!({"disabled": false}), change(None, Some(false)));
    let view = serde_json::to_value(UserView::of(&user())).expect("JSON");
    check(view, change(Some(Role::Developer), Some(true)));
    check(
        json!({"user": "bob@example.com", "createdAt": null, "disabledAt": "x", "role": null, "disabled": "yes"}),
        Err(
            "user: cannot be changed; leave it out; createdAt: cannot be changed; leave it out; \
             disabledAt: cannot be changed; leave it out; role: cannot be null; write a value, or leave it out; \
             disabled: expected true or false, found a string",
        ),
    );
    check(
        json!({"enabled": true}),
        Err("enabled: unknown key; did you mean `disabled`?"),
    );
}

#[test]
fn teams_and_members() {
    let named = create_team(br#"{"id": "team-a", "name": "Team A"}"#).expect("a team");
    assert_eq!((named.id.as_str(), named.name.as_str()), ("team-a", "Team A"));
    let plain = create_team(br#"{"id": "team-a"}"#).expect("a team");
    assert_eq!(plain.name, "team-a");
    assert_eq!(
        said(create_team(br#"{"id": "Team A", "name": "a\nb"}"#)),
        "id: an id is 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit, not 'Team A'; \
         name: expected 1 to 100 visible characters, got 'a\\nb'"
    );
    let team = Team {
        tenant: Principal::local().tenant().clone(),
        id: TeamId::new("team-a"),
        name: "Team A".to_owned(),
        created_ms: 0,
    };
    let view = serde_json::to_string(&TeamView::of(&team)).expect("JSON");
    assert_eq!(update_team(view.as_bytes(), &team).as_deref(), Ok("Team A"));
    assert_eq!(update_team(br#"{"name": "B"}"#, &team).as_deref(), Ok("B"));
    assert_eq!(
        said(update_team(br#"{"id": "team-b", "name": null}"#, &team)),
        "id: cannot be changed; leave it out; name: cannot be null; write a value, or leave it out"
    );
    assert_eq!(set_member(br#"{"role": "team_admin"}"#), Ok(Role::TeamAdmin));
    assert_eq!(said(set_member(b"{}")), "role: is required");
}
