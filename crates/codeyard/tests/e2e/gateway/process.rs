//! The process, its data and its tokens.

use serde_json::{Value, json};
use test_support::run;

use super::actors::{ADMIN, ALICE, ANA};
use super::running::{Gateway, installation};

#[tokio::test]
async fn a_restart_keeps_servers_tokens_runs_and_files() {
    let gateway = Gateway::with_stub().await;
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 2}}))
        .await;
    gateway.check((&ALICE, &id), "write_file('kept', 'x')", "").await;
    let servers = gateway.get(&ALICE, "/servers").await;
    let gateway = gateway.restart().await;
    assert_eq!(gateway.get(&ALICE, "/servers").await, servers);
    let runs = gateway.get(&ALICE, &format!("/servers/{id}/code/runs")).await;
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    gateway
        .check((&ALICE, &id), "print(read_file('kept'))", "x\n")
        .await;
    // The count of runs continues.
    gateway
        .check_error(
            (&ALICE, &id),
            "print(1)",
            "Rate limit exceeded: max 2 runs/minute",
        )
        .await;
}

#[tokio::test]
async fn a_second_gateway_on_the_data_is_refused() {
    let gateway = Gateway::with_stub().await;
    let refused = gateway.command(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(refused.code > 0, "{refused:?}");
    let holder = format!("process {} serves", gateway.pid());
    assert!(
        refused.err.contains(&holder) && refused.err.contains("--data"),
        "{refused:?}"
    );
    gateway.get(&ADMIN, "/servers").await;
    let taken = gateway.address.clone();
    let other = installation();
    let refused = run(&other, &["serve", "--listen", &taken], "").await;
    assert!(
        refused.code > 0 && refused.err.contains("choose another port"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn c014_revoked_expired_and_disabled_tokens_are_refused() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    let status = async |token: &str| {
        gateway
            .rest_with(Some(token), &format!("GET /servers/{id}"), b"")
            .await
            .status
    };
    let token = gateway.new_token(&ALICE, &["--name", "short"]).await;
    assert_eq!(status(&token).await, 200);
    let tokens = gateway.command(&["token", "list", "--json"]).await.json();
    let mut tokens = tokens["tokens"].as_array().unwrap().iter();
    let short = tokens.find(|token| token["name"] == "short").unwrap();
    let revoked = gateway
        .command(&["token", "revoke", short["id"].as_str().unwrap()])
        .await;
    assert_eq!(revoked.code, 0, "{revoked:?}");
    assert_eq!(status(&token).await, 401);

    let token = gateway.new_token(&ALICE, &["--expires", "3s"]).await;
    assert_eq!(status(&token).await, 200);
    while status(&token).await == 200 {}
    assert_eq!(status(&token).await, 401);

    let token = gateway.new_token(&ALICE, &[]).await;
    for (change, expected) in [("disable", 401), ("enable", 200), ("delete", 401)] {
        let changed = gateway.command(&["user", change, ALICE.email]).await;
        assert_eq!(changed.code, 0, "{changed:?}");
        assert_eq!(status(&token).await, expected, "{change}");
    }
}

#[tokio::test]
async fn s0_82_a_user_who_leaves_a_team_loses_its_servers() {
    let gateway = Gateway::with_stub().await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print(1)", "1\n").await;
    let left = gateway.command(&["team", "remove", "team-a", ALICE.email]).await;
    assert_eq!(left.code, 0, "{left:?}");
    let request = format!("GET /servers/{id}");
    gateway
        .check_refused(&ALICE, &request, Value::Null, (404, "Server not found"))
        .await;
    gateway.get(&ANA, &format!("/servers/{id}")).await;
}

#[tokio::test]
async fn open_pages_need_no_token_and_reveal_nothing() {
    let gateway = Gateway::with_stub().await;
    gateway.cs_p().await;
    for (path, status) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/docs", 200),
        ("/openapi.json", 401),
        ("/servers", 401),
        ("/metrics", 401),
        ("/rpc", 405),
        ("/none", 404),
        ("/servers/", 404),
        ("/servers//tools", 404),
    ] {
        let answer = gateway.rest_with(None, &format!("GET {path}"), b"").await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(!answer.text().contains("cs-p"), "{path}");
    }
    let described = gateway.get(&ALICE, "/openapi.json").await;
    assert!(described["paths"]["/servers"].is_object());
}

#[tokio::test]
async fn a_page_of_another_site_reaches_nothing() {
    let gateway = Gateway::with_stub().await;
    for header in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let place = "GET /servers";
        let answer = gateway
            .begin(&ALICE, place, &[header], &Value::Null)
            .await
            .whole()
            .await;
        assert_eq!(answer.status, 403, "{header:?}: {}", answer.text());
    }
}
