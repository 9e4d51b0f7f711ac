//! One process of the program, and which of its lines is for whom.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A running program. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stdin: tokio::sync::Mutex<ChildStdin>,
    routes: Arc<Mutex<Routes>>,
    /// What it listed first, for the check of headers.
    tools: tokio::sync::OnceCell<Vec<Value>>,
}

/// Who waits for what.
#[derive(Debug, Default)]
struct Routes {
    count: u64,
    /// Requests under way by the ids that the program sees: clients of one process may choose the same.
    requests: BTreeMap<u64, Waiting>,
    /// Where that goes which belongs to no request.
    listener: Option<UnboundedSender<Value>>,
}

#[derive(Debug)]
struct Waiting {
    id: Value,
    token: Value,
    sender: UnboundedSender<Value>,
}

/// What comes for one request, or beside all of them.
#[derive(Debug)]
pub(super) struct Answers {
    number: Option<u64>,
    messages: UnboundedReceiver<Value>,
}

impl Answers {
    pub(super) async fn next(&mut self) -> Option<Value> {
        self.messages.recv().await
    }
}

impl Process {
    pub(super) fn start(command: &[String]) -> Result<Process> {
        let (program, args) = command.split_first().context("a command")?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().context("stdin")?;
        let stdout = child.stdout.take().context("stdout")?;
        let routes = Arc::default();
        tokio::spawn(read(stdout, Arc::clone(&routes)));
        Ok(Process {
            child,
            stdin: stdin.into(),
            routes,
            tools: tokio::sync::OnceCell::new(),
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    /// Sends a request.
    pub(super) async fn ask(&self, message: &Value) -> Result<Answers> {
        let mut message = message.clone();
        let (sender, messages) = mpsc::unbounded_channel();
        let number = {
            let mut routes = lock(&self.routes);
            routes.count += 1;
            let number = routes.count;
            let id = std::mem::replace(&mut message["id"], json!(number));
            let token = message.pointer_mut("/params/_meta/progressToken");
            let token = token.map(|token| std::mem::replace(token, json!(number)));
            let token = token.unwrap_or_default();
            routes.requests.insert(number, Waiting { id, token, sender });
            number
        };
        self.send(&message).await?;
        let number = Some(number);
        Ok(Answers { number, messages })
    }

    /// Sends a notification or an answer.
    pub(super) async fn tell(&self, message: &Value) -> Result<()> {
        let mut message = message.clone();
        if let Some(id) = message.pointer_mut("/params/requestId") {
            let routes = lock(&self.routes);
            let mut requests = routes.requests.iter();
            if let Some((number, _)) = requests.find(|(_, waiting)| waiting.id == *id) {
                *id = json!(number);
            }
        }
        self.send(&message).await
    }

    /// Takes back a request that nobody waits for any more.
    pub(super) async fn cancel(&self, answers: Answers) -> Result<()> {
        let Some(number) = answers.number else {
            return Ok(());
        };
        lock(&self.routes).requests.remove(&number);
        let params = json!({"requestId": number, "reason": "the client left"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await
    }

    /// From now on, what belongs to no request comes here.
    pub(super) fn listen(&self) -> Answers {
        let (sender, messages) = mpsc::unbounded_channel();
        lock(&self.routes).listener = Some(sender);
        let number = None;
        Answers { number, messages }
    }

    /// The tools as they were listed first.
    pub(super) async fn tools(&self) -> Result<Vec<Value>> {
        let tools = self.tools.get_or_try_init(|| async {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let list = json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {"_meta": meta}});
            let mut answers = self.ask(&list).await?;
            let mut answer = answers.next().await.context("a list of tools")?;
            anyhow::Ok(serde_json::from_value(answer["result"]["tools"].take()).unwrap_or_default())
        });
        Ok(tools.await?.clone())
    }

    async fn send(&self, message: &Value) -> Result<()> {
        let mut stdin = self.stdin.lock().await;
        stdin.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(())
    }
}

async fn read(stdout: ChildStdout, routes: Arc<Mutex<Routes>>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(message) = serde_json::from_str(&line) {
            lock(&routes).hand_out(message);
        }
    }
    // Whoever waits hears that nothing more will come.
    *lock(&routes) = Routes::default();
}

impl Routes {
    fn hand_out(&mut self, mut message: Value) {
        if message["method"].is_null() {
            let number = message["id"].as_u64();
            if let Some(waiting) = number.and_then(|number| self.requests.remove(&number)) {
                waiting.hand(message);
            }
            return;
        }
        let params = &message["params"];
        let subscription = &params["_meta"][SUBSCRIPTION];
        let number = params["progressToken"].as_u64().or_else(|| subscription.as_u64());
        match number {
            Some(number) => {
                if let Some(waiting) = self.requests.get(&number) {
                    waiting.hand(message);
                }
            }
            None => self.hand_to_anybody(message.take()),
        }
    }

    /// Over stdio nothing says which request such a message belongs to.
    fn hand_to_anybody(&self, message: Value) {
        let is_request = !message["id"].is_null();
        let mut waiting = self.requests.values();
        match (waiting.next(), waiting.next(), &self.listener) {
            (Some(only), None, _) => only.hand(message),
            (_, _, Some(listener)) => drop(listener.send(message)),
            (Some(first), _, None) if is_request => first.hand(message),
            (..) => self
                .requests
                .values()
                .for_each(|waiting| waiting.hand(message.clone())),
        }
    }
}

impl Waiting {
    /// Gives the client a message, with the id and the token that it chose itself.
    fn hand(&self, mut message: Value) {
        if message["method"].is_null() {
            message["id"] = self.id.clone();
        }
        let places = [
            ("/params/progressToken", &self.token),
            ("/params/_meta/io.modelcontextprotocol~1subscriptionId", &self.id),
            ("/result/_meta/io.modelcontextprotocol~1subscriptionId", &self.id),
        ];
        for (place, own) in places {
            if let Some(value) = message.pointer_mut(place) {
                *value = own.clone();
            }
        }
        // Whoever has left hears nothing more.
        let _ = self.sender.send(message);
    }
}

fn lock(routes: &Mutex<Routes>) -> MutexGuard<'_, Routes> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}
