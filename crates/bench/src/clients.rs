//! What a client sees over MCP stdio: the time to the first answer, and a run in a live session.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::json;
use test_support::{Codeyard, Era, McpClient};
use tokio::time::Instant;

use crate::figures::{Figure, Samples};
use crate::place::{self, Placement};

/// Starts of the program are slow: fewer samples of them.
const STARTS: usize = 30;

/// Measures the release binary over its pipes.
pub async fn over_stdio(data: &Path, placement: Placement, samples: usize) -> Result<Vec<Figure>> {
    place::anywhere()?;
    let codeyard = Codeyard::new()?.data(data);
    let mut first = Samples::default();
    for _ in 0..STARTS {
        let started = Instant::now();
        let client = codeyard.mcp(Era::Modern).await?;
        first.push(started.elapsed());
        client.finish().await?;
    }
    placement.for_children()?;
    let mut client = codeyard.mcp(Era::Modern).await?;
    placement.for_host()?;
    execute(&mut client).await?;
    let mut live = Samples::default();
    for _ in 0..samples {
        let started = Instant::now();
        execute(&mut client).await?;
        live.push(started.elapsed());
    }
    client.finish().await?;
    Ok(vec![
        first.figure(
            "start of `codeyard mcp` to its first answer, not pinned",
            placement,
        ),
        live.figure("run in a live session, over MCP stdio", placement),
    ])
}

async fn execute(client: &mut McpClient) -> Result<()> {
    let answer = client
        .call_tool("execute_code", json!({ "code": "1 + 1" }))
        .await?;
    ensure!(answer["structuredContent"]["status"] == "completed", "{answer}");
    Ok(())
}
