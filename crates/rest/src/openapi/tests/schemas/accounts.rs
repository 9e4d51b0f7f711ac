//! The schemas of tokens, users, teams and members match accepted bodies and real answers.

use identity::{
    ApiToken, Grant, Membership, PermissionSet, Role, Team, TokenId, TokenSecret, TokenTeams, User,
};
use serde_json::{Value, json};
use types::{Principal, TeamId, TenantId};

use super::{check, validator};
use crate::{
    CreatedToken, Deleted, LoginUse, LoginView, MemberPage, MemberView, RestError, TeamPage, TeamView,
    TokenPage, TokenView, UserPage, UserView, create_team, create_token, create_user, set_login, set_member,
    update_team, update_user,
};

fn ann() -> Principal {
    identity::user(&TenantId::new("acme"), "ann@example.com").expect("a user")
}

fn user() -> User {
    User {
        principal: ann(),
        role: Role::Developer,
        created_ms: 1,
        disabled_ms: Some(2),
    }
}

fn team() -> Team {
    Team {
        tenant: TenantId::new("acme"),
        id: TeamId::new("team-a"),
        name: "Team A".to_owned(),
        created_ms: 1,
    }
}

fn token(role: Role, scopes: Option<PermissionSet>) -> ApiToken {
    ApiToken {
        id: TokenId::new([1; 12]),
        grant: Grant {
            owner: ann(),
            name: scopes.map(|_| "CI".to_owned()),
            role,
            teams: TokenTeams::chosen(role, []),
            scopes,
            expires_ms: scopes.map(|_| 3),
        },
        created_ms: 1,
        made_by: scopes.map(|_| TokenId::new([2; 12])),
        revoked_ms: scopes.map(|_| 2),
        last_used_ms: scopes.map(|_| 2),
    }
}

#[test]
fn answers_are_described() {
    let tokens = [
        token(Role::PlatformAdmin, None),
        token(Role::Viewer, Some(PermissionSet::ALL)),
    ];
    for token in &tokens {
        check("TokenView", TokenView::of(token));
        check(
            "CreatedToken",
            CreatedToken::of(&TokenSecret::new([1; 32]), token),
        );
    }
    check("TokenPage", TokenPage::of(&tokens, 2));
    check("TokenPage", TokenPage::of(&tokens, 3));
    check("UserView", UserView::of(&user()));
    check("UserPage", UserPage::of(&[user()], 1));
    check("TeamView", TeamView::of(&team()));
    check("TeamPage", TeamPage::of(&[team()], Some(&team().id)));
    let member = Membership {
        user: ann(),
        team: team().id,
        role: Role::TeamAdmin,
        created_ms: 1,
    };
    check("MemberView", MemberView::of(&member));
    check("MemberPage", MemberPage::of(&[member], 1));
    for state in [LoginUse::Valid, LoginUse::NeedsLogin] {
        check("LoginView", LoginView::of("crm", "ann@example.com", state, 1));
    }
    check("Deleted", Deleted::login("crm", "ann@example.com"));
    check("Deleted", Deleted::user(&user()));
    check("Deleted", Deleted::team(&team().id));
    check("Deleted", Deleted::member(ann().user()));
}

/// Schema and reader agree about these bodies.
fn agree<T>(name: &str, read: impl Fn(&[u8]) -> Result<T, RestError>, right: &[Value], wrong: &[Value]) {
    for body in right {
        check(name, body);
        let read = read(body.to_string().as_bytes());
        assert!(read.is_ok(), "{name}: {body}");
    }
    for body in wrong {
        assert!(!validator(name).is_valid(body), "{name}: {body}");
        let read = read(body.to_string().as_bytes());
        assert!(matches!(read, Err(RestError::Invalid(_))), "{name}: {body}");
    }
}

#[test]
fn schema_and_reader_agree_about_bodies() {
    agree(
        "CreateToken",
        create_token,
        &[
            json!({"role": "viewer"}),
            json!({
                "role": "platform_admin", "user": null, "name": null, "teams": null, "scopes": null, "expires": null,
            }),
            json!({
                "role": "developer", "user": "ann@example.com", "name": "CI", "teams": ["team-a"],
                "scopes": ["servers.use"], "expires": "2096-10-02T07:06:40Z",
            }),
        ],
        &[
            json!({}),
            json!({"role": "root"}),
            json!({"role": null}),
            json!({"role": "viewer", "teams": ["Team A"]}),
            json!({"role": "viewer", "teams": "team-a"}),
            json!({"role": "viewer", "scopes": ["all"]}),
            json!({"role": "viewer", "name": ""}),
            json!({"role": "viewer", "expires": 7}),
        ],
    );
    agree(
        "CreateUser",
        create_user,
        &[json!({"user": "a@b", "role": "viewer"})],
        &[
            json!({"user": "a@b"}),
            json!({"role": "viewer"}),
            json!({"user": "", "role": "viewer"}),
        ],
    );
    agree(
        "UpdateUser",
        |body| update_user(body, &user()),
        &[json!({}), json!({"role": "viewer", "disabled": false})],
        &[
            json!({"disabled": null}),
            json!({"role": null}),
            json!({"disabled": "no"}),
        ],
    );
    agree(
        "CreateTeam",
        create_team,
        &[
            json!({"id": "team-a"}),
            json!({"id": "0.a_b", "name": "A"}),
            json!({"id": "a", "name": null}),
        ],
        &[
            json!({}),
            json!({"id": "-a"}),
            json!({"id": "a".repeat(65)}),
            json!({"id": "a", "name": ""}),
        ],
    );
    agree(
        "UpdateTeam",
        |body| update_team(body, &team()),
        &[json!({}), json!({"name": "A"}), json!({"id": "team-a"})],
        &[
            json!({"name": null}),
            json!({"name": ""}),
            json!({"name": "x".repeat(101)}),
        ],
    );
    // A platform role passes the reader; the store refuses it for teams.
    agree(
        "SetMember",
        set_member,
        &[json!({"role": "team_admin"})],
        &[json!({}), json!({"role": "admin"})],
    );
    assert!(!validator("SetMember").is_valid(&json!({"role": "platform_admin"})));
}

#[test]
fn schema_and_reader_agree_about_keys() {
    agree(
        "SetLogin",
        set_login,
        &[json!({"key": "k"}), json!({"key": "k".repeat(4096)})],
        &[
            json!({}),
            json!({"key": ""}),
            json!({"key": null}),
            json!({"key": "k".repeat(4097)}),
            json!({"key": "k", "user": "ann@example.com"}),
        ],
    );
}
