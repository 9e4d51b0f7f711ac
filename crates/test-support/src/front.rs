//! Streamable HTTP in front of a program that speaks MCP over stdio: what the conformance suite asks goes to `codeyard mcp`.
//!
//! A client of the legacy era gets a process of its own with each session; all clients of the modern era share one. Sessions,
//! headers, the check of host and origin, and the status that goes with an error are done here; all else is the program's.

mod checks;
mod process;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::remote::Seen;
use crate::remote::http::Client;
use process::{Answers, Process};

const SESSION: &str = "mcp-session-id";

/// A listener with a program behind it.
#[derive(Debug)]
pub struct Front {
    listener: TcpListener,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    command: Vec<String>,
    /// The processes of legacy sessions by their ids.
    sessions: Mutex<HashMap<String, Arc<Process>>>,
    /// The process of all modern clients.
    shared: tokio::sync::Mutex<Option<Arc<Process>>>,
}

impl Front {
    /// Listens on a port of its own of the loopback; `command` is started when somebody asks.
    pub async fn bind(command: Vec<String>) -> Result<Front> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let state = Arc::new(State {
            command,
            sessions: Mutex::default(),
            shared: tokio::sync::Mutex::default(),
        });
        Ok(Front { listener, state })
    }

    /// Its address.
    pub fn url(&self) -> Result<String> {
        Ok(format!(
            "http://localhost:{}/mcp",
            self.listener.local_addr()?.port()
        ))
    }

    /// Serves until this is dropped.
    pub async fn serve(self) {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = self.listener.accept().await {
            connections.spawn(serve(stream, Arc::clone(&self.state)));
            while connections.try_join_next().is_some() {}
        }
    }
}

async fn serve(stream: TcpStream, state: Arc<State>) {
    let mut client = Client::new(Box::new(stream));
    // A client that leaves in the middle of anything is no failure.
    while let Ok(Some(request)) = client.request().await {
        if state.answer(&mut client, &request).await.is_err() {
            return;
        }
    }
}

impl State {
    async fn answer(&self, client: &mut Client, request: &Seen) -> Result<()> {
        if !checks::is_from_here(request) {
            return client
                .respond("403 Forbidden", &[], b"wrong Host or Origin")
                .await;
        }
        match request.method.as_str() {
            "POST" if checks::is_modern(request) => self.modern(client, request).await,
            "POST" => self.legacy(client, request).await,
            "GET" => match self.session(request) {
                Some(process) => unasked(client, &process).await,
                None => client.respond("405 Method Not Allowed", &[], b"").await,
            },
            "DELETE" => {
                let ended = self
                    .sessions()
                    .remove(request.header(SESSION).unwrap_or_default());
                let status = if ended.is_some() {
                    "200 OK"
                } else {
                    "404 Not Found"
                };
                client.respond(status, &[], b"").await
            }
            _ => client.respond("405 Method Not Allowed", &[], b"").await,
        }
    }

    async fn modern(&self, client: &mut Client, request: &Seen) -> Result<()> {
        let message = &request.message;
        if message["id"].is_null() {
            return client.respond("202 Accepted", &[], b"").await;
        }
        let process = self.shared().await?;
        let tools = process.tools().await?;
        if let Some(mismatch) = checks::mismatch(request, &tools) {
            let error = json!({"code": -32020, "message": mismatch});
            let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            return client.respond_json("400 Bad Request", &[], &error).await;
        }
        exchange(client, request, &process).await
    }

    async fn legacy(&self, client: &mut Client, request: &Seen) -> Result<()> {
        let message = &request.message;
        if message["method"] == "initialize" {
            let process = Arc::new(Process::start(&self.command)?);
            let mut answers = process.ask(message).await?;
            let answer = answers.next().await.unwrap_or_default();
            let id = format!("session-{}", process.pid());
            self.sessions().insert(id.clone(), process);
            return client
                .respond_json("200 OK", &[("Mcp-Session-Id", &id)], &answer)
                .await;
        }
        let Some(process) = self.session(request) else {
            let status = match request.header(SESSION) {
                Some(_) => "404 Not Found",
                None => "400 Bad Request",
            };
            return client.respond(status, &[], b"no such session").await;
        };
        if message["id"].is_null() || message["method"].is_null() {
            process.tell(message).await?;
            return client.respond("202 Accepted", &[], b"").await;
        }
        exchange(client, request, &process).await
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Process>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, request: &Seen) -> Option<Arc<Process>> {
        self.sessions().get(request.header(SESSION)?).cloned()
    }

    async fn shared(&self) -> Result<Arc<Process>> {
        let mut shared = self.shared.lock().await;
        if let Some(process) = shared.as_ref() {
            return Ok(Arc::clone(process));
        }
        let process = Arc::new(Process::start(&self.command)?);
        *shared = Some(Arc::clone(&process));
        Ok(process)
    }
}

/// One request and all that comes for it: a whole answer if that is the first thing that comes, else events.
async fn exchange(client: &mut Client, request: &Seen, process: &Process) -> Result<()> {
    let mut answers = process.ask(&request.message).await?;
    let Some(first) = next(client, &mut answers).await else {
        return left(process, answers).await;
    };
    if is_answer(&first) {
        let status = checks::status(request, &first);
        return client.respond_json(status, &[], &first).await;
    }
    client.begin_events(&[("X-Accel-Buffering", "no")]).await?;
    client.event("message", &first.to_string()).await?;
    while let Some(message) = next(client, &mut answers).await {
        client.event("message", &message.to_string()).await?;
        if is_answer(&message) {
            return client.end().await;
        }
    }
    left(process, answers).await
}

fn is_answer(message: &Value) -> bool {
    message["method"].is_null()
}

/// What the server says beside answers, for as long as the client listens.
async fn unasked(client: &mut Client, process: &Process) -> Result<()> {
    let mut messages = process.listen();
    client.begin_events(&[]).await?;
    while let Some(message) = next(client, &mut messages).await {
        client.event("message", &message.to_string()).await?;
    }
    client.end().await
}

/// The next message; `None` if the process has ended or the client has left.
async fn next(client: &mut Client, answers: &mut Answers) -> Option<Value> {
    tokio::select! {
        message = answers.next() => message,
        () = client.left() => None,
    }
}

async fn left(process: &Process, answers: Answers) -> Result<()> {
    process.cancel(answers).await?;
    anyhow::bail!("the client left, or the program ended")
}
