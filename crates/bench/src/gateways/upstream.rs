//! The upstream servers of the comparison: any number of paths of one small process, each an MCP server with one tool.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::wire::{HttpMessage, Wire};

/// The tool of each server.
pub const TOOL: &str = "echo";
const METHOD_NOT_FOUND: i32 = -32601;

/// Serves `/N/mcp` for every N, and takes spans at `/v1/traces`, until it is killed.
#[derive(Debug, Args)]
pub struct Upstream {}

/// The process; dropping the value kills it.
pub struct UpstreamProcess {
    pub address: String,
    process: Child,
}

// === impl Upstream ===

impl Upstream {
    #[expect(
        clippy::print_stdout,
        reason = "the address is for the process that started this one"
    )]
    pub fn run(&self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("{}", listener.local_addr()?);
            loop {
                let (stream, _) = listener.accept().await?;
                tokio::spawn(async move {
                    // A client may end its connection at any point.
                    let _ = serve(stream).await;
                });
            }
        })
    }
}

async fn serve(stream: TcpStream) -> Result<()> {
    let mut wire = Wire::new(stream)?;
    while let Some(request) = wire.receive().await? {
        wire.send(&answer(&request)).await?;
    }
    Ok(())
}

fn answer(request: &HttpMessage) -> Vec<u8> {
    let line = request.head.lines().next().unwrap_or_default();
    if line.starts_with("POST /v1/traces") {
        return respond("200 OK", "application/x-protobuf", "");
    }
    if !line.starts_with("POST ") {
        return respond("405 Method Not Allowed", "text/plain", "");
    }
    let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(id) = message.get("id") else {
        return respond("202 Accepted", "application/json", "");
    };
    let body = match result(&message) {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}})
        }
    };
    respond("200 OK", "application/json", &body.to_string())
}

fn respond(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: one\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn result(message: &Value) -> Option<Value> {
    let params = &message["params"];
    Some(match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": [{
            "name": TOOL,
            "description": "Returns its message, so that a caller can see that the call arrived.",
            "inputSchema": {
                "type": "object",
                "properties": {"message": {"type": "string", "description": "Any text."}},
                "required": ["message"],
            },
        }]}),
        "tools/call" => json!({
            "content": [{"type": "text", "text": params["arguments"]["message"]}],
            "isError": false,
        }),
        _ => return None,
    })
}

// === impl UpstreamProcess ===

impl UpstreamProcess {
    /// Starts this program as the upstream servers.
    pub fn start() -> Result<UpstreamProcess> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("upstream")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().context("stdout is piped")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok(UpstreamProcess {
            address: address.trim().to_owned(),
            process,
        })
    }

    /// The address of one server.
    pub fn url(&self, number: usize) -> String {
        format!("http://{}{}", self.address, path(number))
    }
}

impl Drop for UpstreamProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The path of one server.
pub fn path(number: usize) -> String {
    format!("/{number}/mcp")
}
