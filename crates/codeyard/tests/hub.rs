//! The hub behind programs: nine real servers, 46 replayed ones, and servers that come, go, clash, are slow or misbehave.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails here"
)]

#[path = "hub/changes.rs"]
mod changes;
#[path = "hub/crowd.rs"]
mod crowd;
#[path = "hub/life.rs"]
mod life;
#[path = "hub/nine.rs"]
mod nine;
#[path = "hub/nuisances.rs"]
mod nuisances;
#[path = "hub/parallel.rs"]
mod parallel;

use test_support::{CodeClient, Ran, descendants};

/// The servers that run below a codeyard: each has one supervisor.
fn running_servers(client: &CodeClient) -> usize {
    let running = descendants(client.mcp.pid().unwrap());
    running
        .iter()
        .filter(|process| process.command.contains("__supervise"))
        .count()
}

/// The run completed; its result.
#[track_caller]
fn completed(ran: &Ran) -> &serde_json::Value {
    assert_eq!(ran.status(), "completed", "{}", ran.shown());
    ran.result()
}
