//! Relays messages between HTTP and processes of the stub.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex as AsyncMutex, broadcast};

use super::http::Client;
use super::protocol::{Seen, Way};
use crate::programs::stub_server;

/// Lines that a slow reader may lag behind.
const LINES: usize = 4096;
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

#[derive(Debug)]
pub(super) struct Relay {
    way: Way,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    count: AtomicU64,
}

#[derive(Debug)]
struct Session {
    /// Killed on drop.
    _child: Child,
    stdin: AsyncMutex<ChildStdin>,
    lines: broadcast::Sender<Arc<Value>>,
}

impl Relay {
    pub(super) fn new(way: Way) -> Relay {
        Relay {
            way,
            sessions: Mutex::default(),
            count: AtomicU64::new(0),
        }
    }

    pub(super) fn forget(&self) {
        self.all().clear();
    }

    pub(super) fn sessions(&self) -> usize {
        self.all().len()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, id: Option<&str>) -> Option<Arc<Session>> {
        self.all().get(id?).map(Arc::clone)
    }

    fn open(&self, id: &str) -> Result<Arc<Session>> {
        let session = Arc::new(Session::start(self.way)?);
        self.all().insert(id.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    fn new_id(&self) -> String {
        format!("session-{}", self.count.fetch_add(1, Ordering::SeqCst))
    }

    pub(super) async fn answer(&self, client: &mut Client, request: &Seen) -> Result<()> {
        match (self.way, request.method.as_str()) {
            (Way::Modern, "POST") => self.modern(client, request).await,
            (Way::Legacy, "POST") => self.legacy(client, request).await,
            (Way::Legacy, "GET") => self.listen(client, request).await,
            (Way::Legacy, "DELETE") => {
                let id = request.header(SESSION).unwrap_or_default();
                self.all().remove(id);
                client.respond("200 OK", &[], b"").await
            }
            (Way::Sse, "GET") => self.two_way(client).await,
            (Way::Sse, "POST") if request.path.starts_with("/messages?") => {
                let id = request.path.split_once('?').map(|(_, id)| id);
                let Some(session) = self.session(id) else {
                    return client.respond("404 Not Found", &[], b"no such session").await;
                };
                session.send(&request.message).await?;
                client.respond("202 Accepted", &[], b"Accepted").await
            }
            _ => client.respond("405 Method Not Allowed", &[], b"").await,
        }
    }

    async fn modern(&self, client: &mut Client, request: &Seen) -> Result<()> {
        let message = &request.message;
        let method = message["method"].as_str().unwrap_or_default();
        let mut expected = vec![("mcp-method", method)];
        if method == "tools/call" {
            expected.push(("mcp-name", message["params"]["name"].as_str().unwrap_or_default()));
        }
        let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        expected.push((VERSION, version.as_str().unwrap_or_default()));
        for (name, value) in expected {
            if request.header(name) != Some(value) {
                let text = format!("{name} is {:?}, not {value:?}", request.header(name));
                let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32020, "message": text}});
                return client.respond_json("400 Bad Request", &[], &error).await;
            }
        }
        let session = match self.session(Some("all")) {
            Some(session) => session,
            None => self.open("all")?,
        };
        // Answers to these methods are streams, all others plain JSON: tests cover both forms.
        if method == "tools/call" || method == "subscriptions/listen" {
            client.begin_events(&[]).await?;
            return session.converse(client, message).await;
        }
        let answer = session.ask(message).await?;
        client.respond_json("200 OK", &[], &answer).await
    }

    async fn legacy(&self, client: &mut Client, request: &Seen) -> Result<()> {
        let message = &request.message;
        if message["method"] == "initialize" {
            let id = self.new_id();
            let answer = self.open(&id)?.ask(message).await?;
            return client
                .respond_json("200 OK", &[("Mcp-Session-Id", &id)], &answer)
                .await;
        }
        let Some(id) = request.header(SESSION) else {
            let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
            let error = json!({"jsonrpc": "2.0", "id": null, "error": error});
            return client.respond_json("400 Bad Request", &[], &error).await;
        };
        let Some(session) = self.session(Some(id)) else {
            return client.respond("404 Not Found", &[], b"session not found").await;
        };
        if request.header(VERSION) != Some(self.way.era().version()) {
            return client.respond("400 Bad Request", &[], b"wrong version").await;
        }
        if message["id"].is_null() || message["method"].is_null() {
            session.send(message).await?;
            return client.respond("202 Accepted", &[], b"").await;
        }
        client.begin_events(&[]).await?;
        session.converse(client, message).await
    }

    async fn listen(&self, client: &mut Client, request: &Seen) -> Result<()> {
        let Some(session) = self.session(request.header(SESSION)) else {
            return client.respond("404 Not Found", &[], b"session not found").await;
        };
        let mut lines = session.lines.subscribe();
        // The session's end must end its process, so this stream holds no reference.
        drop(session);
        client.begin_events(&[]).await?;
        while let Some(line) = next(client, &mut lines).await {
            if line["method"].is_string() && line["method"] != "notifications/progress" {
                client.event("message", &line.to_string()).await?;
            }
        }
        client.end().await
    }

    async fn two_way(&self, client: &mut Client) -> Result<()> {
        let id = self.new_id();
        let session = self.open(&id)?;
        let mut lines = session.lines.subscribe();
        drop(session);
        client.begin_events(&[]).await?;
        client.event("endpoint", &format!("/messages?{id}")).await?;
        while let Some(line) = next(client, &mut lines).await {
            client.event("message", &line.to_string()).await?;
        }
        self.all().remove(&id);
        client.end().await
    }
}

impl Session {
    fn start(way: Way) -> Result<Session> {
        let mut child = Command::new(stub_server())
            .args(["stub", "--extras", "--era", way.era().version()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().context("stdin")?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout")?).lines();
        let (lines, _) = broadcast::channel(LINES);
        let sender = lines.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = stdout.next_line().await {
                let line = serde_json::from_str(&line).unwrap_or_default();
                let _ = sender.send(Arc::new(line));
            }
        });
        Ok(Session {
            _child: child,
            stdin: AsyncMutex::new(stdin),
            lines,
        })
    }

    async fn send(&self, message: &Value) -> Result<()> {
        let mut stdin = self.stdin.lock().await;
        stdin.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(())
    }

    async fn ask(&self, message: &Value) -> Result<Value> {
        let mut lines = self.lines.subscribe();
        self.send(message).await?;
        loop {
            let line = lines.recv().await?;
            if line["id"] == message["id"] && line["method"].is_null() {
                return Ok((*line).clone());
            }
        }
    }

    /// Streams a request's messages and its answer; cancels the request if the client leaves.
    async fn converse(&self, client: &mut Client, message: &Value) -> Result<()> {
        let mut lines = self.lines.subscribe();
        self.send(message).await?;
        let token = &message["params"]["_meta"]["progressToken"];
        while let Some(line) = next(client, &mut lines).await {
            let is_answer = line["id"] == message["id"] && line["method"].is_null();
            let params = &line["params"];
            let is_progress = !token.is_null() && params["progressToken"] == *token;
            let subscription = &params["_meta"]["io.modelcontextprotocol/subscriptionId"];
            if is_answer || is_progress || *subscription == message["id"] {
                client.event("message", &line.to_string()).await?;
            }
            if is_answer {
                return client.end().await;
            }
        }
        let params = json!({"requestId": message["id"]});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.send(&cancelled).await?;
        anyhow::bail!("the client left")
    }
}

/// The next line of the process; `None` once the process has ended or the client has left.
async fn next(client: &mut Client, lines: &mut broadcast::Receiver<Arc<Value>>) -> Option<Arc<Value>> {
    tokio::select! {
        line = lines.recv() => line.ok(),
        () = client.left() => None,
    }
}
