//! Clients that send one request after the other, each on a connection and in an MCP session of its own.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::wire::{Wire, find};

const VERSION: &str = "2025-06-18";
/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(60);
const TEXT: &str = "a message that comes back";
const PROGRAM: &str = r#"{"name":"execute_code","arguments":{"code":"1 + 1"}}"#;

/// What the clients ask for, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    List,
    Call,
    /// A call that runs a program.
    Run,
}

/// Where one client sends its requests.
#[derive(Debug, Clone)]
pub struct LoadTarget {
    pub address: String,
    pub path: String,
    pub token: Option<String>,
}

/// One client.
pub struct LoadClient {
    wire: Wire,
    target: LoadTarget,
    session: Option<String>,
    /// Names of the tools that it calls in turn.
    tools: Vec<String>,
    next_id: u64,
}

/// What one burst measured.
#[derive(Debug, Default)]
pub struct Burst {
    pub elapsed: Duration,
    /// One for each answered request.
    pub latencies: Vec<Duration>,
}

// === impl Method ===

impl Method {
    /// Those that a gateway passes through.
    pub const PASSED: [Method; 2] = [Method::List, Method::Call];

    pub fn name(self) -> &'static str {
        match self {
            Method::List => "tools/list",
            Method::Call | Method::Run => "tools/call",
        }
    }
}

// === impl LoadClient ===

impl LoadClient {
    /// Opens a connection and a session.
    pub async fn open(target: &LoadTarget) -> Result<LoadClient> {
        let stream = TcpStream::connect(&target.address).await?;
        let mut client = LoadClient {
            wire: Wire::new(stream)?,
            target: target.clone(),
            session: None,
            tools: Vec::new(),
            next_id: 0,
        };
        let about = json!({"name": "bench", "version": "0"});
        let params = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": about});
        client.ask("initialize", &params.to_string()).await?;
        let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.post(&opened.to_string()).await?;
        Ok(client)
    }

    /// Sends further requests to this address, within the same session.
    pub async fn move_to(&mut self, address: &str) -> Result<()> {
        self.wire = Wire::new(TcpStream::connect(address).await?)?;
        self.target.address = address.to_owned();
        Ok(())
    }

    /// The names of all tools whose name contains this one, over all pages.
    pub async fn find_tools(&mut self, name: &str) -> Result<usize> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        loop {
            let body = self.ask("tools/list", &params.to_string()).await?;
            let answer = message(&body)?;
            let page = answer["result"]["tools"].as_array().context("a list of tools")?;
            let names = page.iter().filter_map(|tool| tool["name"].as_str());
            tools.extend(names.filter(|found| found.contains(name)).map(str::to_owned));
            match answer["result"]["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        tools.sort();
        self.tools = tools;
        Ok(self.tools.len())
    }

    /// Takes over the tools of another client, and begins with another one of them.
    pub fn share_tools(&mut self, other: &LoadClient, shift: usize) {
        self.tools.clone_from(&other.tools);
        let count = self.tools.len().max(1);
        self.tools.rotate_left(shift % count);
    }

    /// Connects again if the server has closed the connection meanwhile, as servers do with unused ones.
    async fn reconnect(&mut self) -> Result<()> {
        // A closed connection is seen only once the runtime has polled it.
        tokio::task::yield_now().await;
        if self.wire.is_closed() {
            let address = self.target.address.clone();
            self.move_to(&address).await?;
        }
        Ok(())
    }

    async fn request(&mut self, method: Method) -> Result<()> {
        let params = match method {
            Method::List => "{}".to_owned(),
            Method::Run => PROGRAM.to_owned(),
            Method::Call => {
                let place = usize::try_from(self.next_id)? % self.tools.len();
                let tool = &self.tools[place];
                format!(r#"{{"name":"{tool}","arguments":{{"message":"{TEXT}"}}}}"#)
            }
        };
        let body = self.ask(method.name(), &params).await?;
        let expected = match method {
            Method::List => return Ok(()),
            Method::Call => TEXT,
            Method::Run => "\"completed\"",
        };
        let shown = || String::from_utf8_lossy(&body).into_owned();
        ensure!(find(&body, expected.as_bytes()).is_some(), "{}", shown());
        Ok(())
    }

    async fn ask(&mut self, method: &str, params: &str) -> Result<Vec<u8>> {
        self.next_id += 1;
        let id = self.next_id;
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let body = self.post(&message).await?;
        let is_result = find(&body, b"\"result\"").is_some();
        ensure!(is_result, "{method}: {}", String::from_utf8_lossy(&body));
        Ok(body)
    }

    async fn post(&mut self, message: &str) -> Result<Vec<u8>> {
        let LoadTarget { address, path, token } = &self.target;
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n",
            message.len()
        );
        if let Some(token) = token {
            request.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        if let Some(session) = &self.session {
            request.push_str(&format!(
                "mcp-session-id: {session}\r\nmcp-protocol-version: {VERSION}\r\n"
            ));
        }
        request.push_str("\r\n");
        request.push_str(message);
        let exchange = async {
            self.wire.send(request.as_bytes()).await?;
            self.wire.receive().await
        };
        let answer = timeout(PATIENCE, exchange).await.context("no answer")??;
        let answer = answer.context("the server closed the connection")?;
        let line = answer.head.lines().next().unwrap_or_default();
        let shown = || format!("{line} {}", String::from_utf8_lossy(&answer.body));
        ensure!(line.contains(" 20"), "{}", shown());
        if self.session.is_none() {
            self.session = answer.header("mcp-session-id").map(str::to_owned);
        }
        Ok(answer.body)
    }
}

/// The message of a body, plain or as an event.
fn message(body: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(body)?;
    let mut lines = text.lines().rev();
    let data = lines.find_map(|line| line.strip_prefix("data:"));
    serde_json::from_str(data.unwrap_or(text)).with_context(|| text.to_owned())
}

/// Opens clients of these targets in turn; all call the same tools.
pub async fn open(targets: &[LoadTarget], count: usize, tool: &str) -> Result<Vec<LoadClient>> {
    let mut clients = Vec::with_capacity(count);
    for target in targets.iter().cycle().take(count) {
        clients.push(LoadClient::open(target).await?);
    }
    let (first, others) = clients.split_first_mut().context("a client")?;
    first.find_tools(tool).await?;
    for (place, client) in others.iter_mut().enumerate() {
        client.share_tools(first, place + 1);
    }
    Ok(clients)
}

/// Has all clients send requests for this time, each the next one once the last is answered.
pub async fn burst(clients: &mut [LoadClient], method: Method, length: Duration) -> Result<Burst> {
    for client in clients.iter_mut() {
        client.reconnect().await?;
    }
    let begun = Instant::now();
    let work = clients.iter_mut().map(|client| async move {
        let mut latencies = Vec::new();
        while begun.elapsed() < length {
            let sent = Instant::now();
            client.request(method).await?;
            latencies.push(sent.elapsed());
        }
        anyhow::Ok(latencies)
    });
    let latencies = try_join_all(work).await?.concat();
    Ok(Burst {
        elapsed: begun.elapsed(),
        latencies,
    })
}
