//! The acceptance cases of the one-tool bridge on the surface `bridge`, over the binary and its standard streams; each
//! test is named by its case.
//!
//! The definitions `stub` and `other` lie in `~/MCPs`; `other` is never loaded.

mod confinement;
mod definitions;
mod discovery;
mod limits;
mod listing;
mod output;
mod programs;
mod saved;
mod servers;
mod sessions;
mod variables;

use std::time::Duration;

use test_support::{BridgeClient, Codeyard};

/// An installation with `stub` and `other`.
fn installation() -> Codeyard {
    Codeyard::new().unwrap().with_stub_definitions().unwrap()
}

/// A bridge with these additional variables.
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

/// Runs a future that must complete in time.
async fn within<F: Future>(seconds: f64, work: F) -> F::Output {
    let limit = Duration::from_secs_f64(seconds);
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(|_| panic!("not over within {limit:?}"))
}
