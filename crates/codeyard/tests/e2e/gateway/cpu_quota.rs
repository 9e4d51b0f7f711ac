//! CPU time quotas: of one user, of all users of a tenant, and across processes.

use serde_json::{Value, json};
use test_support::PostgresServer;

use super::actors::{ADMIN, AL2, ALICE, ANA};
use super::running::{Gateway, installation, until};

/// Uses more CPU time than a minute's quota.
const BURN: &str = "\
import time
end = time.process_time() + 1.2
while time.process_time() < end:
    pass
print('done')";

const OF_USER: &str = "[gateway]\ncpu_seconds_per_minute_of_user = 1\n";
const OF_TENANT: &str = "[gateway]\ncpu_seconds_per_minute_of_tenant = 1\n";

async fn metric(gateway: &Gateway, begin: &str) -> f64 {
    let metrics = gateway.rest(&ADMIN, "GET /metrics", Value::Null).await;
    let text = metrics.text().to_owned();
    let line = text.lines().find_map(|line| line.strip_prefix(begin));
    line.unwrap_or_else(|| panic!("{begin}: {text}"))
        .trim()
        .parse()
        .unwrap()
}

#[tokio::test]
async fn only_the_user_above_the_quota_waits() {
    let gateway = Gateway::start(installation().settings(OF_USER)).await;
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), "print('small')", "small\n").await;
    gateway.check((&ALICE, &id), BURN, "done\n").await;
    let refused = gateway.sh(&ALICE, &id, "print('more')").await;
    let error = refused.error();
    assert!(
        error.starts_with("CPU quota exceeded: 1.") && error.contains("try again in "),
        "{refused:?}"
    );
    assert!(
        error.contains("`cpu_seconds_per_minute_of_user` allows 1 s a minute"),
        "{refused:?}"
    );
    // Command lines count as programs, too.
    let refused = gateway
        .call(&ALICE, &id, "shell_exec", json!({"code": "ls /tools"}))
        .await;
    assert!(refused.error().starts_with("CPU quota exceeded"), "{refused:?}");
    gateway.check((&AL2, &id), "print('healthy')", "healthy\n").await;
    let runs = gateway.get(&ANA, &format!("/servers/{id}/code/runs")).await;
    assert!(runs.to_string().contains("CPU quota exceeded"), "{runs}");
    assert!(metric(&gateway, r#"codeyard_cpu_seconds_total{place="guest"}"#).await >= 1.2);
    assert!(metric(&gateway, r#"codeyard_cpu_seconds_total{place="host"}"#).await > 0.0);
    // A restart does not reset the quota.
    let gateway = gateway.restart().await;
    gateway
        .check_error((&ALICE, &id), "print('more')", "CPU quota exceeded")
        .await;
}

#[tokio::test]
async fn the_host_s_work_for_a_run_counts() {
    let gateway = Gateway::start(installation().settings(OF_USER)).await;
    let id = gateway.cs_a(&json!({})).await;
    let place = r#"codeyard_cpu_seconds_total{place="host"}"#;
    gateway.check((&ALICE, &id), "print('small')", "small\n").await;
    let before = metric(&gateway, place).await;
    let calls = "for n in range(200):\n    await tools.stub.echo(message='x' * 10_000)\nprint('done')";
    gateway.check((&ALICE, &id), calls, "done\n").await;
    let (small, large) = (before, metric(&gateway, place).await - before);
    assert!(large > small, "{small} s without calls, {large} s with calls");
}

#[tokio::test]
async fn a_tenant_s_quota_holds_for_all_its_users_over_all_processes() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let start = || {
        let codeyard = installation().settings(OF_TENANT);
        Gateway::start(codeyard.env("CODEYARD_DATABASE_URL", &url))
    };
    let (one, other) = (start().await, start().await);
    let id = one.cs_a(&json!({})).await;
    one.check((&ALICE, &id), BURN, "done\n").await;
    let error = "`cpu_seconds_per_minute_of_tenant` allows 1 s a minute";
    other.check_error((&AL2, &id), "print('more')", error).await;
    one.check_error((&ALICE, &id), "print('more')", error).await;
    // Expired use is free again, for all users.
    until("a program runs again", async || {
        let ran = other.sh(&AL2, &id, "print('again')").await;
        (!ran.is_error()).then_some(())
    })
    .await;
}
