//! Upstream servers over REST: defined, used, changed and removed.

use serde_json::{Value, json};
use test_support::{Codeyard, PostgresServer, RemoteServer, Way};

use super::actors::{ADMIN, ALICE, ANA, BOB};
use super::running::{Gateway, code, installation, until};
use super::upstream_rights::s0_82;

const SECRET: &str = "sekret-token-4711";

/// A server that requires [`SECRET`]. Also creates the teams.
pub async fn remote(gateway: &Gateway) -> RemoteServer {
    for actor in [&ALICE, &BOB] {
        gateway.token(actor).await;
    }
    let remote = RemoteServer::start(Way::Modern).await.unwrap();
    remote.require_token(SECRET);
    remote
}

/// The server's definition, with further members.
pub fn body(name: &str, remote: &RemoteServer, more: &Value) -> Value {
    let mut body = json!({
        "name": name,
        "url": remote.url(),
        "headers": {"Authorization": format!("Bearer {SECRET}")},
    });
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    body
}

pub fn add(server: &str) -> String {
    format!("print((await tools.{server}.add({{'a': 2, 'b': 3}}))['sum'])")
}

/// The life of a definition, with a virtual server in use all the time.
pub async fn lifecycle(gateway: &Gateway) {
    let remote = remote(gateway).await;
    let id = gateway
        .cs_a(&json!({"mount_rules": {"include_tags": ["geo"]}}))
        .await;
    let user = (&ALICE, id.as_str());
    let absent = "Tool 'far/add' is not mounted for this server";
    gateway.check_error(user, &add("far"), absent).await;

    let more = json!({"tags": ["geo"], "description": "maps", "maxCalls": 7});
    let made = gateway
        .ask(&ADMIN, "POST /upstreams", body("far", &remote, &more), 201)
        .await;
    let expected = json!({
        "name": "far", "source": "rest", "transport": "http", "visibility": "public", "tags": ["geo"],
        "description": "maps", "ownerEmail": ADMIN.email, "maxCalls": 7, "url": remote.url(),
        "headers": {"Authorization": "[hidden]"}, "disabled": false,
    });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(&made[member], value, "{member}");
    }
    gateway.check(user, &add("far"), "5\n").await;
    let read = gateway.get(&ADMIN, "/upstreams/far").await;
    let health = &read["health"];
    assert_eq!(
        (&health["state"], &health["protocol"]),
        (&json!("running"), &json!("modern")),
        "{read}"
    );
    assert!(
        health["tools"].as_u64() > Some(3) && health["checkedAt"].is_string(),
        "{read}"
    );
    let tried = gateway
        .ask(&ADMIN, "POST /upstreams/far/test", Value::Null, 200)
        .await;
    assert!(
        tried["works"] == true && tried["tools"].to_string().contains("\"add\""),
        "{tried}"
    );

    // A body that was read can be written back; changed tags move the mounts.
    let put = "PUT /upstreams/far";
    let mut again = read.clone();
    again["tags"] = json!(["other"]);
    gateway.ask(&ADMIN, put, again, 200).await;
    gateway.check_error(user, &add("far"), absent).await;
    gateway.ask(&ADMIN, put, json!({"tags": ["geo"]}), 200).await;
    gateway.check(user, &add("far"), "5\n").await;
    gateway
        .check_refused(&ADMIN, put, read, (409, "has changed since it was read"))
        .await;
    gateway.ask(&ADMIN, put, json!({"disabled": true}), 200).await;
    gateway.check_error(user, &add("far"), absent).await;
    let read = gateway.get(&ADMIN, "/upstreams/far").await;
    assert_eq!(read["health"]["state"], "disabled");
    let test = "POST /upstreams/far/test";
    gateway
        .check_refused(&ADMIN, test, Value::Null, (409, "is disabled"))
        .await;
    gateway.ask(&ADMIN, put, json!({"disabled": false}), 200).await;
    gateway.check(user, &add("far"), "5\n").await;

    gateway
        .ask(&ADMIN, "DELETE /upstreams/far", Value::Null, 200)
        .await;
    gateway.check_error(user, &add("far"), absent).await;
    let gone = (404, r#"{"detail":"Upstream server not found"}"#);
    for request in ["GET /upstreams/far", "DELETE /upstreams/far", test] {
        gateway.check_refused(&ADMIN, request, Value::Null, gone).await;
    }
    gateway.check_refused(&ADMIN, put, json!({}), gone).await;
}

#[tokio::test]
async fn an_upstream_server_is_used_changed_and_removed() {
    lifecycle(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn bad_bodies_are_refused_with_every_field() {
    let gateway = Gateway::with_stub().await;
    let many = json!({
        "name": "a b", "urll": "x", "timeout": -1, "tags": 7, "visibility": "all", "headers": {"Host": "x"},
        "url": "ftp://x", "maxCalls": "many", "serverUrl": "x", "deny": ["["], "args": [1],
    });
    let refused = gateway.ask(&ADMIN, "POST /upstreams", many, 422).await;
    for field in [
        "name",
        "urll",
        "timeout",
        "tags",
        "visibility",
        "headers.Host",
        "url",
        "maxCalls",
        "serverUrl",
        "deny[0]",
    ] {
        let errors = refused["errors"].as_array().unwrap();
        assert!(
            errors.iter().any(|error| error["path"] == field),
            "{field}: {refused}"
        );
    }
    assert!(refused.to_string().contains("did you mean `url`?"), "{refused}");
    for (body, status) in [(json!([]), 422), (json!({}), 422), (json!(7), 422)] {
        gateway.ask(&ADMIN, "POST /upstreams", body, status).await;
    }
    let token = gateway.token(&ADMIN).await;
    for body in [b"".as_slice(), b"{", b"{\"name\":\"\xff\"}"] {
        let answer = gateway.rest_with(Some(&token), "POST /upstreams", body).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    let left = gateway.get(&ADMIN, "/upstreams").await;
    assert_eq!(left["upstreams"].as_array().unwrap().len(), 1, "{left}");
}

#[tokio::test]
async fn answers_contain_no_secret() {
    let gateway = Gateway::start(installation().env("FAR_TOKEN", SECRET)).await;
    let remote = remote(&gateway).await;
    let headers = json!({"team_id": "team-a", "headers": {"Authorization": "Bearer ${FAR_TOKEN}"}});
    let mut answers = Vec::new();
    answers.push(
        gateway
            .ask(&ADMIN, "POST /upstreams", body("far", &remote, &headers), 201)
            .await,
    );
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), &add("far"), "5\n").await;
    // An admin of the team changes tags; the platform admin's header stays.
    let put = "PUT /upstreams/far";
    answers.push(gateway.ask(&ANA, put, json!({"tags": ["x"]}), 200).await);
    gateway.check((&ALICE, &id), &add("far"), "5\n").await;
    let moved = json!({"url": "https://mcp.example.com/mcp"});
    answers.push(gateway.ask(&ANA, put, moved, 422).await);
    assert!(
        answers[2].to_string().contains("headers.Authorization"),
        "{}",
        answers[2]
    );
    // A server that refuses the token and repeats it in the answer.
    remote.require_token("another");
    answers.push(gateway.ask(&ADMIN, put, json!({"tags": ["y"]}), 200).await);
    answers.push(
        gateway
            .ask(&ANA, "POST /upstreams/far/test", Value::Null, 200)
            .await,
    );
    assert_eq!(answers[4]["works"], false, "{}", answers[4]);
    for actor in [&ADMIN, &ANA, &ALICE] {
        answers.push(gateway.get(actor, "/upstreams").await);
        answers.push(gateway.get(actor, "/upstreams/far").await);
    }
    let failed = answers.last().unwrap();
    assert_eq!(
        (&failed["health"]["state"], &failed["health"]["lastError"]),
        (&json!("failed"), &Value::Null)
    );
    let ran = gateway.sh(&ALICE, &id, &add("far")).await;
    assert!(ran.is_error());
    answers.push(ran.0);
    for answer in answers {
        let text = answer.to_string();
        assert!(!text.contains(SECRET) && !text.contains("FAR_TOKEN"), "{text}");
    }
    let unset = body("unset", &remote, &json!({"headers": {"A": "${NO_SUCH_THING}"}}));
    let why = (422, "headers.A: the variable NO_SUCH_THING is not set");
    gateway.check_refused(&ADMIN, "POST /upstreams", unset, why).await;
}

fn with_commands(codeyard: Codeyard) -> Codeyard {
    codeyard.settings("[gateway]\ncommand_upstreams = true\n")
}

#[tokio::test]
async fn commands_need_the_operator_s_consent() {
    let gateway = Gateway::start(with_commands(installation())).await;
    let program = test_support::codeyard_binary();
    let command =
        json!({"name": "crm", "command": program, "args": ["demo-server", "crm"], "env": {"X": SECRET}});
    let mut of_team = command.clone();
    of_team["team_id"] = json!("team-a");
    let refused = (422, "only an unrestricted platform admin defines one");
    gateway
        .check_refused(&ANA, "POST /upstreams", of_team, refused)
        .await;
    let made = gateway.ask(&ADMIN, "POST /upstreams", command, 201).await;
    assert_eq!(
        (&made["transport"], &made["env"]),
        (&json!("stdio"), &json!({"X": "[hidden]"}))
    );
    let id = gateway.cs_p().await;
    let find = "print((await tools.crm.get_customer(customer_id='C-0042'))['name'])";
    gateway.check((&ALICE, &id), find, "Falcon Dairy\n").await;
    assert_eq!(
        gateway.get(&ALICE, "/upstreams/crm").await["command"],
        Value::Null
    );
    // A team that manages the server cannot change its command.
    let team = json!({"team_id": "team-a"});
    gateway.ask(&ADMIN, "PUT /upstreams/crm", team, 200).await;
    gateway
        .check_refused(
            &ANA,
            "PUT /upstreams/crm",
            json!({"tags": ["x"]}),
            (403, "unrestricted"),
        )
        .await;
    let gateway = gateway.restart().await;
    gateway.check((&ALICE, &id), find, "Falcon Dairy\n").await;
    // Without the consent, the stored command no longer runs.
    let gateway = gateway.restart_with("XDG_CONFIG_HOME", "/nowhere").await;
    let read = gateway.get(&ADMIN, "/upstreams/crm").await;
    assert_eq!(read["health"]["state"], "failed", "{read}");
    assert!(
        read["health"]["lastError"]
            .to_string()
            .contains("command_upstreams"),
        "{read}"
    );
    let ran = gateway.sh(&ALICE, &id, find).await;
    assert!(ran.is_error(), "{ran:?}");
}

#[tokio::test]
async fn the_cases_of_upstream_servers_hold_on_postgres() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let start = || Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url));
    let one = start().await;
    lifecycle(&one).await;
    s0_82(&one).await;
    // A second process follows the changes of the first.
    let other = start().await;
    let token = one.token(&ADMIN).await;
    let remote = remote(&one).await;
    one.ask(
        &ADMIN,
        "POST /upstreams",
        body("far", &remote, &json!({"tags": ["geo"]})),
        201,
    )
    .await;
    let there = other.rest_with(Some(&token), "GET /upstreams/far", b"").await;
    assert_eq!(there.status, 200, "{}", there.text());
    let often = json!({"sandbox_policy": {"max_runs_per_minute": 1000}});
    let id = one.make(&ADMIN, code("often", &often)).await;
    other.check((&ALICE, &id), &add("far"), "5\n").await;
    one.ask(&ADMIN, "DELETE /upstreams/far", Value::Null, 200).await;
    let ended = until("the tool is gone", async || {
        let ran = other.sh(&ALICE, &id, &add("far")).await;
        ran.is_error().then_some(ran)
    })
    .await;
    assert!(ended.error().contains("is not mounted"), "{ended:?}");
}
