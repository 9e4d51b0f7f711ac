//! Permissions to create, change, use and remove a server, and to see that it exists.

use serde_json::{Value, json};

use super::actors::{ADMIN, AL2, ALICE, ANA, Actor, BOB, PUB, VIC, alone};
use super::running::{Gateway, code};

/// A run over `/rpc`.
fn run(id: &str) -> Value {
    let params = json!({"server_id": id, "name": "shell_exec", "arguments": {"code": "print(1)", "language": "python"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// The statuses of reading, using, changing and removing a server.
async fn statuses(gateway: &Gateway, actor: &Actor, id: &str) -> [u16; 4] {
    let path = format!("/servers/{id}");
    let read = gateway
        .rest(actor, &format!("GET {path}"), Value::Null)
        .await
        .status;
    let used = gateway.rest(actor, "POST /rpc", run(id)).await.status;
    let changed = gateway
        .rest(actor, &format!("PUT {path}"), json!({"tags": [actor.email]}))
        .await
        .status;
    let removed = gateway
        .rest(actor, &format!("DELETE {path}"), Value::Null)
        .await
        .status;
    [read, used, changed, removed]
}

pub async fn s0_81(gateway: &Gateway) {
    for (actor, status) in [
        (ANA, 201),
        (ADMIN, 201),
        (ALICE, 201),
        (VIC, 403),
        (BOB, 422),
        (PUB, 422),
    ] {
        let mut body = code(&gateway.name("of"), &json!({}));
        body["team_id"] = json!("team-a");
        let made = gateway.rest(&actor, "POST /servers", body).await;
        assert_eq!(made.status, status, "{}: {}", actor.email, made.text());
        if status == 403 {
            assert_eq!(
                made.json()["detail"],
                "Insufficient permissions. Required: servers.create"
            );
        }
    }
    // A server of ALICE, which the admin of her team may also change and remove.
    for (actor, expected) in [
        (ADMIN, [200, 200, 200, 200]),
        (ANA, [200, 200, 200, 200]),
        (ALICE, [200, 200, 200, 200]),
        (AL2, [200, 200, 403, 403]),
        (VIC, [200, 403, 403, 403]),
        (BOB, [404, 404, 404, 404]),
        (PUB, [404, 404, 404, 404]),
    ] {
        let body = code(&gateway.name("alice"), &json!({"team_id": "team-a"}));
        let id = gateway.make(&ALICE, body).await;
        assert_eq!(statuses(gateway, &actor, &id).await, expected, "{}", actor.email);
    }
}

pub async fn s0_82(gateway: &Gateway) {
    for (visibility, actor, expected) in [
        ("public", BOB, [200, 200, 403, 403]),
        ("public", PUB, [200, 200, 403, 403]),
        ("public", VIC, [200, 403, 403, 403]),
        ("team", AL2, [200, 200, 403, 403]),
        ("team", PUB, [404, 404, 404, 404]),
        ("private", AL2, [404, 404, 404, 404]),
        ("private", ANA, [404, 404, 404, 404]),
        ("private", BOB, [404, 404, 404, 404]),
        ("private", ALICE, [200, 200, 200, 200]),
        ("private", ADMIN, [200, 200, 200, 200]),
    ] {
        let more = json!({"team_id": "team-a", "visibility": visibility});
        let id = gateway.make(&ALICE, code(&gateway.name(visibility), &more)).await;
        let listed = gateway.get(&actor, "/servers?limit=500").await.to_string();
        assert_eq!(
            listed.contains(&id),
            expected[0] == 200,
            "{visibility} {}",
            actor.email
        );
        assert_eq!(
            statuses(gateway, &actor, &id).await,
            expected,
            "{visibility} {}",
            actor.email
        );
    }
}

#[tokio::test]
async fn c168_s0_81_each_role_has_its_permissions() {
    s0_81(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_82_each_visibility_has_its_users() {
    s0_82(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_82_ids_of_other_teams_look_like_unknown_ones() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_b().await;
    let replace = |text: &str, id: &str| text.replace("{}", id);
    for (request, body) in [
        ("GET /servers/{}", Value::Null),
        ("PUT /servers/{}", json!({"name": 7})),
        ("PUT /servers/{}", json!({})),
        ("DELETE /servers/{}", Value::Null),
        ("GET /servers/{}/tools", Value::Null),
        ("GET /servers/{}/code/runs", Value::Null),
        ("GET /servers/{}/code/runs?limit=x", Value::Null),
        ("GET /servers/{}/code/sessions", Value::Null),
        ("GET /servers/{}/code/security-events", Value::Null),
        (
            "POST /servers/{}/mcp",
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        ),
        ("GET /servers/{}/mcp", Value::Null),
        ("DELETE /servers/{}/mcp", Value::Null),
        ("GET /servers/{}/sse", Value::Null),
        (
            "POST /servers/{}/message?session_id=x",
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        ),
    ] {
        let foreign = gateway.rest(&ALICE, &replace(request, &id), body.clone()).await;
        let unknown = gateway
            .rest(&ALICE, &replace(request, &"0".repeat(32)), body)
            .await;
        assert_eq!(
            (foreign.status, foreign.text()),
            (unknown.status, unknown.text()),
            "{request}"
        );
        assert_eq!(foreign.status, 404, "{request}");
    }
    let foreign = gateway.rest(&ALICE, "POST /rpc", run(&id)).await;
    let unknown = gateway.rest(&ALICE, "POST /rpc", run("none")).await;
    assert_eq!((foreign.status, foreign.text()), (unknown.status, unknown.text()));
    // A membership in another team is refused alike, whether it exists or not.
    let place = |team: &str| code("x", &json!({ "team_id": team }));
    for team in ["team-b", "team-none"] {
        let refused = (422, "name a team of your token");
        gateway
            .check_refused(&ALICE, "POST /servers", place(team), refused)
            .await;
    }
}

#[tokio::test]
async fn s0_82_users_always_see_their_own_servers() {
    let gateway = Gateway::with_stub().await;
    let teamless = alone(ALICE);
    let id = gateway
        .make(&ALICE, json!({"name": "mine", "visibility": "public"}))
        .await;
    let hidden = (422, "this token would not see the server");
    let change = format!("PUT /servers/{id}");
    gateway
        .check_refused(&teamless, &change, json!({"visibility": "private"}), hidden)
        .await;
    let private = json!({"name": "other", "visibility": "private"});
    gateway
        .check_refused(&teamless, "POST /servers", private, hidden)
        .await;
    let typo = json!({"name": "third", "team_id": "team-x"});
    let unknown = (422, "unknown team 'team-x'");
    gateway
        .check_refused(&ADMIN, "POST /servers", typo, unknown)
        .await;
}

#[tokio::test]
async fn s0_81_scopes_of_a_token_limit_it() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let token = gateway.new_token(&ANA, &["--scope", "servers.read"]).await;
    for (request, body, status) in [
        ("GET /servers".to_owned(), Value::Null, 200),
        (format!("GET /servers/{id}/tools"), Value::Null, 200),
        ("POST /servers".to_owned(), json!({"name": "x"}), 403),
        (format!("PUT /servers/{id}"), json!({}), 403),
        (format!("DELETE /servers/{id}"), Value::Null, 403),
        ("POST /rpc".to_owned(), run(&id), 403),
        (format!("GET /servers/{id}/mcp"), Value::Null, 403),
    ] {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let answer = gateway.rest_with(Some(&token), &request, &bytes).await;
        assert_eq!(answer.status, status, "{request}: {}", answer.text());
    }
}

#[tokio::test]
async fn s0_82_the_list_has_pages_and_filters() {
    let gateway = Gateway::with_stub().await;
    for number in 0..5 {
        let more = json!({"tags": [format!("t{}", number % 2)], "visibility": if number == 4 { "private" } else { "team" }});
        gateway.cs_a(&more).await;
    }
    gateway.cs_b().await;
    let page = gateway
        .get(&ALICE, "/servers?limit=3&include_pagination=true")
        .await;
    assert_eq!(page["servers"].as_array().unwrap().len(), 3);
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = gateway
        .get(
            &ALICE,
            &format!("/servers?limit=3&include_pagination=true&cursor={cursor}"),
        )
        .await;
    assert_eq!(
        (rest["servers"].as_array().unwrap().len(), &rest["nextCursor"]),
        (1, &Value::Null),
        "{rest}"
    );
    for (query, count) in [
        ("tags=t1", 2),
        ("tags=none", 0),
        ("team_id=team-a", 4),
        ("team_id=team-b", 0),
        ("visibility=private", 0),
    ] {
        let listed = gateway.get(&ALICE, &format!("/servers?{query}")).await;
        assert_eq!(listed.as_array().unwrap().len(), count, "{query}");
    }
}

#[tokio::test]
async fn s0_82_pages_continue_after_hidden_servers() {
    let gateway = Gateway::with_stub().await;
    let public = gateway.cs_p().await;
    for _ in 0..3 {
        let more = json!({"team_id": "team-a", "visibility": "private"});
        gateway.make(&ALICE, code(&gateway.name("hidden"), &more)).await;
    }
    // A token of the same user without a team.
    let alone = alone(ALICE);
    let token = gateway.new_token(&alone, &[]).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let request = format!("GET /servers?limit=2&include_pagination=true{cursor}");
        let page = gateway.rest_with(Some(&token), &request, b"").await.json();
        let servers = page["servers"].as_array().unwrap().iter();
        seen.extend(servers.map(|server| server["id"].as_str().unwrap().to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, [public]);
}
