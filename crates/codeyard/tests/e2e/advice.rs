//! Advice from recorded runs, and tools that clients see themselves because the operator exposes them.

mod command;
mod exposed;
mod lifecycle;

use std::time::Duration;

use serde_json::json;
use test_support::CodeClient;

/// Longest wait for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The tools that the client is shown.
async fn names(client: &mut CodeClient) -> Vec<String> {
    let tools = client.mcp.tools().await.unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// Searches until the answer has this text.
async fn until_found(client: &mut CodeClient, query: &str, text: &str) {
    let query = json!({ "query": query });
    let found = async { while !client.search(query.clone()).await.to_string().contains(text) {} };
    tokio::time::timeout(PATIENCE, found).await.unwrap();
}
