//! One rate limit for each credential of upstream servers, across definitions, users and processes.

use serde_json::json;
use test_support::{PostgresServer, RemoteServer, Way};

use super::actors::{ADMIN, ALICE, ANA, Actor, BOB};
use super::running::{Gateway, installation, until};
use super::upstreams::{body, remote};

/// Calls a server this number of times; prints the errors.
fn calls(server: &str, times: usize) -> String {
    format!(
        "for _ in range({times}):\n    try:\n        await tools.{server}.add({{'a': 2, 'b': 3}})\n        \
         print('called')\n    except Exception as error:\n        print(error)"
    )
}

/// The printed lines of a run of [`calls`].
async fn ran(gateway: &Gateway, user: (&'static Actor, &str), code: &str) -> Vec<String> {
    let ran = gateway.sh(user.0, user.1, code).await;
    assert!(!ran.is_error(), "{ran:?}");
    ran.output().lines().map(str::to_owned).collect()
}

fn called(lines: &[String]) -> usize {
    lines.iter().filter(|line| *line == "called").count()
}

fn is_limit(line: &str, server: &str) -> bool {
    let begins = format!("server '{server}' and the other servers with its credential take 3 calls a minute");
    line.starts_with(&begins) && line.contains("was not sent; try again in")
}

/// Two definitions of one credential; one has a limit.
async fn define(gateway: &Gateway, remote: &RemoteServer) {
    let limited = body(
        "far",
        remote,
        &json!({"maxCallsPerMinute": 3, "visibility": "public"}),
    );
    let made = gateway.ask(&ADMIN, "POST /upstreams", limited, 201).await;
    assert_eq!(made["maxCallsPerMinute"], 3, "{made}");
    let other = body("also", remote, &json!({"team_id": "team-b"}));
    gateway.ask(&ADMIN, "POST /upstreams", other, 201).await;
}

/// Two teams call, each through a gateway, or both through one.
async fn tenants_share(one: &Gateway, other: &Gateway, remote: &RemoteServer) {
    let (of_a, of_b) = (one.cs_a(&json!({})).await, other.cs_b().await);
    let lines = ran(one, (&ALICE, &of_a), &calls("far", 2)).await;
    assert_eq!(called(&lines), 2, "{lines:?}");
    let lines = ran(other, (&BOB, &of_b), &calls("also", 2)).await;
    assert!(
        lines.len() == 2 && lines[0] == "called" && is_limit(&lines[1], "also"),
        "{lines:?}"
    );
    let lines = ran(one, (&ALICE, &of_a), &calls("far", 1)).await;
    assert!(is_limit(&lines[0], "far"), "{lines:?}");
    assert_eq!(remote.seen_of("tools/call").len(), 3);
}

#[tokio::test]
async fn definitions_of_one_credential_share_its_limit() {
    let gateway = Gateway::with_stub().await;
    let remote = remote(&gateway).await;
    define(&gateway, &remote).await;
    tenants_share(&gateway, &gateway, &remote).await;
    // A restart does not reset the limit.
    let gateway = gateway.restart().await;
    let of_b = gateway.cs_b().await;
    let lines = ran(&gateway, (&BOB, &of_b), &calls("also", 1)).await;
    assert!(is_limit(&lines[0], "also"), "{lines:?}");
    // Another credential of the same server has a separate limit.
    remote.require_token("another");
    let headers = json!({"headers": {"Authorization": "Bearer another"}});
    gateway.ask(&ADMIN, "PUT /upstreams/also", headers, 200).await;
    let lines = ran(&gateway, (&BOB, &of_b), &calls("also", 4)).await;
    assert_eq!(called(&lines), 4, "{lines:?}");
}

#[tokio::test]
async fn processes_on_one_postgres_share_the_limit() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let start = || Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url));
    let (one, other) = (start().await, start().await);
    let remote = remote(&one).await;
    define(&one, &remote).await;
    other.token(&BOB).await;
    until("the other process sees both", async || {
        let listed = other.get(&ADMIN, "/upstreams").await;
        let known = listed["upstreams"].as_array()?.iter();
        (known.filter(|server| server["source"] == "rest").count() == 2).then_some(())
    })
    .await;
    tenants_share(&one, &other, &remote).await;
}

#[tokio::test]
async fn a_requested_pause_stops_all_definitions_of_the_server() {
    let gateway = Gateway::with_stub().await;
    let remote = remote(&gateway).await;
    for (name, team) in [("far", "team-a"), ("also", "team-b")] {
        let of_team = body(name, &remote, &json!({"team_id": team}));
        gateway.ask(&ADMIN, "POST /upstreams", of_team, 201).await;
    }
    let (of_a, of_b) = (gateway.cs_a(&json!({})).await, gateway.cs_b().await);
    for (user, id, name) in [(&ALICE, &of_a, "far"), (&BOB, &of_b, "also")] {
        let lines = ran(&gateway, (user, id), &calls(name, 1)).await;
        assert_eq!(called(&lines), 1, "{lines:?}");
    }
    remote.set_busy(1, "1");
    let lines = ran(&gateway, (&ALICE, &of_a), &calls("far", 1)).await;
    assert!(lines[0].contains("HTTP 429"), "{lines:?}");
    // Calls wait for the end of a short pause.
    let lines = ran(&gateway, (&BOB, &of_b), &calls("also", 2)).await;
    assert_eq!(called(&lines), 2, "{lines:?}");
    remote.set_busy(1, "3600");
    ran(&gateway, (&ALICE, &of_a), &calls("far", 1)).await;
    let before = remote.seen_of("tools/call").len();
    let lines = ran(&gateway, (&BOB, &of_b), &calls("also", 1)).await;
    let begins =
        "server 'also' asked codeyard to wait (HTTP 429 or `Retry-After`); the call of 'add' was not sent";
    assert!(lines[0].starts_with(begins), "{lines:?}");
    assert_eq!(remote.seen_of("tools/call").len(), before);
}

/// No other test file uses this token.
const TOKEN: &str = "sekret-token-of-the-file";

/// The operator's file and a definition over REST use the same credential.
#[tokio::test]
async fn the_operator_s_file_and_rest_share_a_limit() {
    let remote = RemoteServer::start(Way::Modern).await.unwrap();
    remote.require_token(TOKEN);
    let far = json!({
        "url": remote.url(), "headers": {"Authorization": format!("Bearer {TOKEN}")}, "maxCallsPerMinute": 3,
    });
    let gateway = Gateway::start(installation().server_json("far", far)).await;
    gateway.token(&ANA).await;
    gateway.token(&BOB).await;
    let also =
        json!({"name": "also", "url": remote.url(), "headers": {"Authorization": format!("Bearer {TOKEN}")}});
    gateway.ask(&ADMIN, "POST /upstreams", also, 201).await;
    tenants_share(&gateway, &gateway, &remote).await;
    let shown = gateway.get(&ADMIN, "/upstreams").await;
    assert!(!shown.to_string().contains(TOKEN), "{shown}");
}
