//! The hub: nine real servers, 46 replayed ones, and servers that start, end, clash, are slow or misbehave.

mod changes;
mod crowd;
mod life;
mod nine;
mod nuisances;
mod parallel;

use test_support::{CodeClient, CodeResult, descendants};

/// The servers below a codeyard: each has one supervisor.
fn running_servers(client: &CodeClient) -> usize {
    let running = descendants(client.mcp.pid().unwrap());
    running
        .iter()
        .filter(|process| process.command.contains("__supervise"))
        .count()
}

/// Checks that the run completed; returns its result.
#[track_caller]
fn completed(ran: &CodeResult) -> &serde_json::Value {
    assert_eq!(ran.status(), "completed", "{}", ran.shown());
    ran.result()
}
