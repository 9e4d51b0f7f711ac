//! Serves a program that speaks MCP over stdio by HTTP, at the address that it prints: `http-front COMMAND…`.
//!
//! It ends with its standard input.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use test_support::Front;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::main]
async fn main() -> ExitCode {
    let complaint = match serve(std::env::args().skip(1).collect()).await {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) => format!("http-front: {error:#}\n"),
    };
    // Where this cannot be written, nobody listens.
    let _ = tokio::io::stderr().write_all(complaint.as_bytes()).await;
    ExitCode::FAILURE
}

async fn serve(command: Vec<String>) -> Result<()> {
    ensure!(!command.is_empty(), "usage: http-front COMMAND…");
    let front = Front::bind(command).await?;
    let address = format!("{}\n", front.url()?);
    tokio::io::stdout().write_all(address.as_bytes()).await?;
    tokio::io::stdout().flush().await?;
    let mut input = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        () = front.serve() => {}
        ended = stdin.read_to_end(&mut input) => drop(ended?),
    }
    Ok(())
}
