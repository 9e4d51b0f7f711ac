//! Each role against each route of tokens, users and teams.

use identity::Role;
use serde_json::{Value, json};

use crate::gateway::{Gateway, grant};

/// The statuses of a request for platform_admin, team_admin, developer, viewer and platform_viewer. `{token}` is a
/// token of Zoe, a viewer outside of all teams.
const TABLE: [(&str, &str, [u16; 5]); 22] = [
    ("GET /tokens", "", [200, 200, 200, 200, 200]),
    ("POST /tokens", r#"{"role": "viewer"}"#, [201, 201, 201, 403, 403]),
    ("DELETE /tokens/{token}", "", [200, 404, 404, 404, 404]),
    ("GET /users", "", [200, 403, 403, 403, 200]),
    (
        "POST /users",
        r#"{"user": "new@example.com", "role": "viewer"}"#,
        [201, 403, 403, 403, 403],
    ),
    ("GET /users/zoe@example.com", "", [200, 403, 403, 403, 200]),
    ("GET /users/nobody@example.com", "", [404, 403, 403, 403, 404]),
    (
        "PUT /users/zoe@example.com",
        r#"{"role": "developer"}"#,
        [200, 403, 403, 403, 403],
    ),
    ("GET /teams", "", [200, 200, 200, 200, 200]),
    ("POST /teams", r#"{"id": "team-c"}"#, [201, 403, 403, 403, 403]),
    ("GET /teams/team-a", "", [200, 200, 200, 200, 200]),
    ("GET /teams/team-b", "", [200, 404, 404, 404, 200]),
    ("GET /teams/none", "", [404, 404, 404, 404, 404]),
    ("PUT /teams/team-a", r#"{"name": "A"}"#, [200, 200, 403, 403, 403]),
    ("PUT /teams/team-b", r#"{"name": "B"}"#, [200, 404, 403, 403, 403]),
    ("GET /teams/team-a/members", "", [200, 200, 200, 200, 200]),
    ("GET /teams/team-b/members", "", [200, 404, 404, 404, 200]),
    (
        "PUT /teams/team-a/members/zoe@example.com",
        r#"{"role": "viewer"}"#,
        [200, 200, 403, 403, 403],
    ),
    (
        "PUT /teams/team-b/members/zoe@example.com",
        r#"{"role": "viewer"}"#,
        [200, 404, 403, 403, 403],
    ),
    (
        "DELETE /teams/team-a/members/bob@example.com",
        "",
        [200, 200, 403, 403, 403],
    ),
    ("DELETE /teams/team-b", "", [200, 403, 403, 403, 403]),
    ("DELETE /users/zoe@example.com", "", [200, 403, 403, 403, 403]),
];

// C168, S0-81
#[tokio::test]
async fn c168_every_role_gets_what_its_permissions_and_its_teams_give() {
    for (column, role) in Role::ALL.iter().enumerate() {
        let gateway = Gateway::new().await;
        gateway.person("bob", Role::Viewer, &["team-a"]).await;
        gateway.person("zoe", Role::Viewer, &[]).await;
        let (_, of_zoe) = gateway.token(&grant("zoe", Role::Viewer, &[])).await;
        let teams: &[&str] = if role.is_for_teams() { &["team-a"] } else { &[] };
        let token = gateway.person("ann", *role, teams).await;
        for (asked, body, expected) in TABLE {
            let asked = asked.replace("{token}", &of_zoe);
            let body = serde_json::from_str(body).unwrap_or(Value::Null);
            let answer = gateway.ask(&token, &asked, body).await;
            assert_eq!(answer.status, expected[column], "{asked} as {role}: {answer:?}");
        }
    }
}

// C014
#[tokio::test]
async fn c014_nobody_asks_without_a_valid_token() {
    let gateway = Gateway::new().await;
    gateway.person("zoe", Role::Viewer, &[]).await;
    for (asked, body, _) in TABLE {
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        for token in ["", "x", &format!("cyd_{}", "0".repeat(64))] {
            let answer = gateway.ask(token, asked, body.clone()).await;
            assert_eq!(answer.told(), (401, "Not authenticated"), "{asked}");
        }
    }
}

#[tokio::test]
async fn the_document_of_the_routes_is_an_object() {
    let gateway = Gateway::new().await;
    let token = gateway.person("zoe", Role::Viewer, &[]).await;
    let document = gateway.get(&token, "GET /openapi.json").await;
    assert_eq!(
        (document.status, &document.body["openapi"]),
        (200, &json!("3.1.0"))
    );
    assert!(document.body["paths"]["/tokens"]["post"].is_object());
}

#[tokio::test]
async fn metrics_are_shown_to_platform_roles_only() {
    let gateway = Gateway::new().await;
    for role in Role::ALL {
        let token = gateway.person(role.name(), *role, &[]).await;
        let (status, text) = gateway.text(&token, "GET /metrics").await;
        match role {
            Role::PlatformAdmin | Role::PlatformViewer => {
                assert_eq!(status, 200, "{role}");
                for line in ["codeyard_sessions_open 0", "# EOF"] {
                    assert!(text.lines().any(|found| found == line), "{line}: {text}");
                }
            }
            _ => assert_eq!(status, 403, "{role}"),
        }
    }
}
