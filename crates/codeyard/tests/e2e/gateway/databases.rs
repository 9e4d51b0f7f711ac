//! The main cases on Postgres.

use serde_json::json;
use test_support::PostgresServer;

use super::actors::ALICE;
use super::running::{Gateway, installation};
use super::{audit, objects, policy, programs, records, roles, rpc};

#[tokio::test]
async fn the_cases_hold_on_postgres() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let gateway = Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url)).await;
    objects::check_servers(&gateway).await;
    rpc::c017_c018(&gateway).await;
    programs::python(&gateway).await;
    policy::c062_c159(&gateway).await;
    policy::s0_47(&gateway).await;
    records::c156(&gateway).await;
    records::s0_d13(&gateway).await;
    roles::s0_81(&gateway).await;
    roles::s0_82(&gateway).await;
    audit::routes(&gateway).await;
    audit::exports(&gateway).await;
    let servers = gateway.get(&ALICE, "/servers?limit=500").await;
    let gateway = gateway.restart().await;
    assert_eq!(gateway.get(&ALICE, "/servers?limit=500").await, servers);
}

#[tokio::test]
async fn s0_54_two_gateways_on_postgres_have_one_state() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let one = Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url)).await;
    let other = Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url)).await;
    let id = one
        .cs_a(&json!({"sandbox_policy": {"max_runs_per_minute": 2}}))
        .await;
    one.check((&ALICE, &id), "print(1)", "1\n").await;
    // Both share tokens, servers, runs and rate windows.
    let token = one.token(&ALICE).await;
    let read = other
        .rest_with(Some(&token), &format!("GET /servers/{id}"), b"")
        .await;
    assert_eq!(read.status, 200, "{}", read.text());
    other.check((&ALICE, &id), "print(2)", "2\n").await;
    for gateway in [&one, &other] {
        gateway
            .check_error(
                (&ALICE, &id),
                "print(3)",
                "Rate limit exceeded: max 2 runs/minute",
            )
            .await;
    }
    audit::both(&one, &other).await;
    let path = format!("/servers/{id}/code/runs");
    // Each gateway writes its rows before it answers.
    other.get(&ALICE, &path).await;
    let runs = one.get(&ALICE, &path).await;
    assert_eq!(runs.as_array().unwrap().len(), 4, "{runs}");
}
