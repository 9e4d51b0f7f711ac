//! The demo's MCP client; stores the real messages, whose tokens the demo counts.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

pub struct Peer {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    next_id: u64,
}

/// One program's call and result.
pub struct Exchange {
    /// Arguments of the call, which the model writes.
    pub written: Value,
    /// Text of the result, which the model reads.
    pub read: String,
    /// Base64.
    pub images: Vec<String>,
    pub structured: Value,
    /// From the request's first byte to the answer's last.
    pub took: Duration,
}

/// The text sent to the model before its first call.
pub struct Introduction {
    pub instructions: String,
    pub tools: Vec<Value>,
    /// Time for both answers.
    pub took: Duration,
}

impl Peer {
    pub fn new(stream: DuplexStream) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self {
            read: BufReader::new(read),
            write,
            next_id: 1,
        }
    }

    pub async fn open(&mut self) -> anyhow::Result<Introduction> {
        let start = Instant::now();
        let client = json!({"name": "codeyard-demo", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let introduced = self.request("initialize", params).await?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await?;
        let listed = self.request("tools/list", json!({})).await?;
        Ok(Introduction {
            instructions: introduced["instructions"].as_str().unwrap_or_default().to_owned(),
            tools: listed["tools"].as_array().cloned().unwrap_or_default(),
            took: start.elapsed(),
        })
    }

    pub async fn execute(&mut self, code: &str) -> anyhow::Result<Exchange> {
        self.call(json!({"code": code})).await
    }

    pub async fn call(&mut self, written: Value) -> anyhow::Result<Exchange> {
        let start = Instant::now();
        let params = json!({"name": "execute_code", "arguments": written});
        let mut result = self.request("tools/call", params).await?;
        let took = start.elapsed();
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let field = |block: &Value, name: &str| block[name].as_str().map(str::to_owned);
        let texts: Vec<String> = blocks.iter().filter_map(|block| field(block, "text")).collect();
        Ok(Exchange {
            written,
            read: texts.join("\n"),
            images: blocks.iter().filter_map(|block| field(block, "data")).collect(),
            structured: result["structuredContent"].take(),
            took,
        })
    }

    async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await?;
        loop {
            let mut line = String::new();
            if self.read.read_line(&mut line).await? == 0 {
                bail!("the gateway ended during {method}");
            }
            let mut answer: Value = serde_json::from_str(&line).context("the gateway sent invalid JSON")?;
            if answer["id"] != id {
                continue;
            }
            if let Some(error) = answer.get("error") {
                bail!("{method} was refused: {error}");
            }
            return Ok(answer["result"].take());
        }
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.write.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(())
    }
}
