//! A process that holds a server, for the test that kills the process: prints the ids of the server and its
//! remaining processes.

use std::io::Write as _;
use std::time::Duration;

use upstream::{Hub, HubConfig, ServerConfig, ToolCall};
use upstream_wire::{Stdio, Transport};

fn main() {
    // Before any thread: the supervisor closes every descriptor that it does not know, even a runtime's.
    jail::dispatch();
    hold();
}

#[tokio::main]
async fn hold() {
    let mut args = std::env::args().skip(1);
    let server = ServerConfig {
        name: "stub".to_owned(),
        transport: Transport::Stdio(Stdio {
            command: args.next().unwrap_or_default(),
            args: args.collect(),
            ..Stdio::default()
        }),
        ..ServerConfig::default()
    };
    let hub = Hub::new(HubConfig {
        servers: vec![server],
        ..HubConfig::default()
    });
    for tool in ["pid", "spawn"] {
        let tool = types::ToolRef::new("stub", tool);
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        let answer = match hub
            .call_raw(ToolCall {
                tool,
                arguments: serde_json::Map::new(),
                deadline,
                progress: None,
                trace: None,
            })
            .await
        {
            Ok(answer) => answer.get().to_owned(),
            Err(error) => serde_json::json!({"error": error.to_string()}).to_string(),
        };
        let _ = writeln!(std::io::stdout(), "{answer}");
    }
    std::future::pending::<()>().await;
}
