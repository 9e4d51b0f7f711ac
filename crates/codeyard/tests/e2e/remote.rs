//! Remote servers: in each era, when they change, when they fail, and when they are hostile.

mod access;
mod busy;
mod definitions;
mod hostile;
mod lives;
mod tls;

use serde_json::{Value, json};
use test_support::{CodeClient, CodeResult, Codeyard, RemoteServer, Way};

const WAYS: [Way; 3] = [Way::Modern, Way::Legacy, Way::Sse];

/// A codeyard with this one remote server, named `far`.
async fn client(server: &RemoteServer) -> CodeClient {
    with_entry(json!({"url": server.url()})).await
}

async fn with_entry(entry: Value) -> CodeClient {
    CodeClient::of(Codeyard::new().unwrap().server_json("far", entry)).await
}

/// Checks that the run completed with this result.
#[track_caller]
fn check(ran: &CodeResult, expected: &Value) {
    assert_eq!(ran.status(), "completed", "{}", ran.shown());
    assert_eq!(ran.result(), expected);
}
