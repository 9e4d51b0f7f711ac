//! The `standard` surface: the servers' own tools, resources and prompts, over MCP stdio.

mod hostile;
mod lists;
mod questions;
mod real;
mod relays;
mod tools;

use serde_json::Value;
use test_support::{Codeyard, Era, McpClient, ServerDefinition};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

async fn open(codeyard: &Codeyard, era: Era) -> McpClient {
    let mut client = codeyard.standard_unopened().unwrap();
    client.open(era).await.unwrap();
    client
}

/// One stub of this era.
fn one(era: Era) -> Codeyard {
    let definition = ServerDefinition::stub_with_extras().era(era);
    Codeyard::new().unwrap().server("stub", &definition)
}

/// Two stubs, one of each era, with equal tools.
fn two() -> Codeyard {
    let stub = |name, era| {
        ServerDefinition::stub_with_extras()
            .era(era)
            .env("STUB_NAME", name)
    };
    Codeyard::new()
        .unwrap()
        .server("one", &stub("one", Era::Legacy))
        .server("two", &stub("two", Era::Modern))
}

fn names(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(|item| item["name"].as_str()).collect()
}
