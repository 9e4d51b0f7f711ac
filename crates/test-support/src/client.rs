//! An MCP client over stdio, for both eras, that sends and receives raw lines and can send garbage.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

pub use crate::servers::Era;

/// Longest wait for an answer, unless a call sets its own.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines that may wait unread.
const LINES: usize = 1024;

/// A server process and the pipes to it. Dropping it kills the process.
#[derive(Debug)]
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    stderr: Arc<Mutex<String>>,
    /// Messages that arrived before the awaited message.
    unread: VecDeque<Value>,
    next_id: i64,
    /// Set once requests carry the modern era's `_meta`.
    modern: bool,
    capabilities: Value,
}

impl McpClient {
    /// Starts the program with pipes and sends nothing yet.
    pub fn spawn(mut command: Command) -> Result<McpClient> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let stdout = child.stdout.take().context("stdout is piped")?;
        let errors = child.stderr.take().context("stderr is piped")?;
        let (sender, lines) = mpsc::channel(LINES);
        tokio::spawn(read_lines(stdout, sender));
        let stderr = Arc::new(Mutex::new(String::new()));
        tokio::spawn(keep(errors, Arc::clone(&stderr)));
        let stdin = child.stdin.take();
        Ok(McpClient {
            child,
            stdin,
            lines,
            stderr,
            unread: VecDeque::new(),
            next_id: 1,
            modern: false,
            capabilities: json!({}),
        })
    }

    /// Declares the client's capabilities; call this before [`McpClient::open`].
    pub fn declare(&mut self, capabilities: Value) {
        self.capabilities = capabilities;
    }

    /// Opens the conversation; returns the server's introduction.
    pub async fn open(&mut self, era: Era) -> Result<Value> {
        if era == Era::Modern {
            self.modern = true;
            return self.result("server/discover", json!({})).await;
        }
        let client = json!({"name": "test-client", "version": "1.0.0"});
        let params = json!({"protocolVersion": era.version(), "capabilities": self.capabilities, "clientInfo": client});
        let introduction = self.result("initialize", params).await?;
        self.notify("notifications/initialized", json!({})).await?;
        Ok(introduction)
    }

    /// Sends a request and waits for its result; a JSON-RPC error is an `Err`.
    pub async fn result(&mut self, method: &str, params: Value) -> Result<Value> {
        let mut answer = self.request(method, params).await?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => bail!("{method} was refused: {}", answer["error"]),
        }
    }

    /// Sends a request and waits for its whole answer, result or error.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.start(method, params).await?;
        self.answer(&id).await
    }

    /// Calls a tool; returns the whole `CallToolResult`.
    pub async fn call_tool(&mut self, name: &str, arguments: Value) -> Result<Value> {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
            .await
    }

    /// Lists the server's tools.
    pub async fn tools(&mut self) -> Result<Vec<Value>> {
        let mut result = self.result("tools/list", json!({})).await?;
        match result.get_mut("tools").map(Value::take) {
            Some(Value::Array(tools)) => Ok(tools),
            _ => bail!("tools/list answered {result}"),
        }
    }

    /// Sends a request without waiting; returns its id, for [`McpClient::answer`] or [`McpClient::cancel`].
    pub async fn start(&mut self, method: &str, mut params: Value) -> Result<Value> {
        let id = json!(self.next_id);
        self.next_id += 1;
        if self.modern && params.is_object() {
            let meta = params
                .as_object_mut()
                .map(|params| params.entry("_meta").or_insert(json!({})));
            if let Some(Value::Object(meta)) = meta {
                add_modern_meta(meta, &self.capabilities);
            }
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await?;
        Ok(id)
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await
    }

    /// Cancels a request.
    pub async fn cancel(&mut self, id: &Value) -> Result<()> {
        self.notify(
            "notifications/cancelled",
            json!({"requestId": id, "reason": "test"}),
        )
        .await
    }

    /// Sends one message.
    pub async fn send(&mut self, message: &Value) -> Result<()> {
        self.send_raw(format!("{message}\n").as_bytes()).await
    }

    /// Sends bytes unchanged.
    pub async fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed")?;
        stdin.write_all(bytes).await?;
        Ok(stdin.flush().await?)
    }

    /// Waits for the answer to a request.
    pub async fn answer(&mut self, id: &Value) -> Result<Value> {
        let is_answer = |message: &Value| message.get("method").is_none() && message["id"] == *id;
        self.wait_for(&format!("an answer to request {id}"), PATIENCE, is_answer)
            .await
    }

    /// Waits for a notification of this method; returns its parameters.
    pub async fn notification(&mut self, method: &str) -> Result<Value> {
        let is_it = |message: &Value| message["method"] == method && message.get("id").is_none();
        let mut message = self.wait_for(method, PATIENCE, is_it).await?;
        Ok(message["params"].take())
    }

    /// Waits for a message; buffers the others for later reads.
    pub async fn wait_for(
        &mut self,
        what: &str,
        patience: Duration,
        mut is_it: impl FnMut(&Value) -> bool,
    ) -> Result<Value> {
        if let Some(place) = self.unread.iter().position(&mut is_it) {
            return self.unread.remove(place).context("a message that was just found");
        }
        let deadline = Instant::now() + patience;
        loop {
            let line = match timeout_at(deadline, self.lines.recv()).await {
                Ok(Some(line)) => line,
                Ok(None) => bail!(
                    "the server closed its stdout before {what}; stderr: {}",
                    self.stderr()
                ),
                Err(_elapsed) => bail!("no {what} within {patience:?}; stderr: {}", self.stderr()),
            };
            let message: Value = serde_json::from_str(&line).with_context(|| format!("the line {line:?}"))?;
            if is_it(&message) {
                return Ok(message);
            }
            self.unread.push_back(message);
        }
    }

    /// The next line, byte for byte; only for a connection without other traffic.
    pub async fn line(&mut self) -> Result<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.recv()).await;
        match line {
            Ok(Some(line)) => Ok(line),
            _ => bail!("no line within {PATIENCE:?}; stderr: {}", self.stderr()),
        }
    }

    /// The server's standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The server's process; `None` once it is reaped.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Closes the server's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Kills the server's process only, not its children.
    pub fn kill(&mut self) -> Result<()> {
        Ok(self.child.start_kill()?)
    }

    /// Waits until the server ends.
    pub async fn wait(&mut self) -> Result<ExitStatus> {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        Ok(ended.with_context(|| format!("the server did not end within {PATIENCE:?}"))??)
    }

    /// Closes stdin and waits until the server ends.
    pub async fn finish(mut self) -> Result<ExitStatus> {
        self.close_stdin();
        self.wait().await
    }
}

fn add_modern_meta(meta: &mut Map<String, Value>, capabilities: &Value) {
    let prefix = "io.modelcontextprotocol";
    meta.insert(format!("{prefix}/protocolVersion"), json!(Era::Modern.version()));
    meta.insert(
        format!("{prefix}/clientInfo"),
        json!({"name": "test-client", "version": "1.0.0"}),
    );
    meta.insert(format!("{prefix}/clientCapabilities"), capabilities.clone());
}

async fn read_lines(stdout: ChildStdout, sender: mpsc::Sender<String>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if sender.send(line).await.is_err() {
            return;
        }
    }
}

async fn keep(mut stream: ChildStderr, kept: Arc<Mutex<String>>) {
    let mut chunk = vec![0; 4096];
    while let Ok(count) = stream.read(&mut chunk).await
        && count > 0
    {
        let text = String::from_utf8_lossy(&chunk[..count]);
        kept.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(&text);
    }
}
