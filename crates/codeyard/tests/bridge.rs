//! The acceptance cases of the one-tool bridge on the surface `bridge`, over the binary and its standard streams; each
//! test is named by its case.
//!
//! The definitions `stub` and `other` lie in `~/MCPs`; `other` is never loaded.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "bridge/confinement.rs"]
mod confinement;
#[path = "bridge/definitions.rs"]
mod definitions;
#[path = "bridge/discovery.rs"]
mod discovery;
#[path = "bridge/limits.rs"]
mod limits;
#[path = "bridge/listing.rs"]
mod listing;
#[path = "bridge/output.rs"]
mod output;
#[path = "bridge/programs.rs"]
mod programs;
#[path = "bridge/saved.rs"]
mod saved;
#[path = "bridge/servers.rs"]
mod servers;
#[path = "bridge/sessions.rs"]
mod sessions;
#[path = "bridge/variables.rs"]
mod variables;

use std::time::Duration;

use test_support::{BridgeClient, Codeyard};

/// An installation with `stub` and `other`.
fn installation() -> Codeyard {
    Codeyard::new().unwrap().with_stub_definitions().unwrap()
}

/// A bridge with these variables beside the usual.
async fn with_variables(variables: &[(&str, &str)]) -> BridgeClient {
    let codeyard = variables.iter().fold(installation(), |codeyard, (name, value)| {
        codeyard.env(name, value)
    });
    BridgeClient::of(codeyard).await
}

/// Runs a program that must succeed with exactly this text.
async fn check(code: &str, text: &str) {
    BridgeClient::with_stub().await.check(code, text).await;
}

/// Runs something that must be over in time.
async fn within<F: Future>(seconds: f64, work: F) -> F::Output {
    let limit = Duration::from_secs_f64(seconds);
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(|_| panic!("not over within {limit:?}"))
}
