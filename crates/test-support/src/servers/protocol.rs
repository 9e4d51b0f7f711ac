//! A strict, minimal MCP server protocol in each era, on plain threads.

use std::collections::HashSet;
use std::io::{BufRead as _, Write as _};
use std::str::FromStr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

const MODERN: &str = "2026-07-28";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// The protocol revision of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Era {
    /// 2024-11-05, by `initialize`.
    Old,
    /// 2025-11-25, by `initialize`.
    #[default]
    Legacy,
    /// 2026-07-28, by `server/discover`.
    Modern,
}

impl FromStr for Era {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Era> {
        Ok(match text {
            "2024-11-05" => Era::Old,
            "2025-11-25" => Era::Legacy,
            MODERN => Era::Modern,
            _ => bail!("unknown era {text}: 2024-11-05, 2025-11-25 or {MODERN}"),
        })
    }
}

impl Era {
    /// The date that names the revision.
    pub fn version(self) -> &'static str {
        match self {
            Era::Old => "2024-11-05",
            Era::Legacy => "2025-11-25",
            Era::Modern => MODERN,
        }
    }
}

pub(super) trait Tools: Sync {
    fn list(&self, cursor: Option<&str>) -> Value;

    /// The result of `tools/call`, or a protocol error.
    fn call(&self, call: &ToolCall<'_>) -> Answer;

    /// Whether the tool is slow, so that its calls must not block others.
    fn is_slow(&self, _tool: &str) -> bool {
        false
    }

    fn instructions(&self) -> &'static str {
        "A server for tests."
    }

    fn capabilities(&self) -> Value {
        json!({"tools": {"listChanged": true}})
    }

    /// Answers a request that is not about tools; `None` if the method is unknown.
    fn other(&self, _method: &str, _params: &Value, _connection: &Connection) -> Option<Answer> {
        None
    }

    /// Runs in parallel to everything else, from the first `tools/list` on.
    fn beside(&self, _connection: &Connection) {}

    /// Receives each message first; true means that the message is handled.
    fn intercept(&self, _message: &Value, _connection: &Connection) -> bool {
        false
    }
}

pub(super) struct ToolCall<'a> {
    pub(super) id: &'a Value,
    pub(super) name: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) progress_token: &'a Value,
    pub(super) params: &'a Value,
    pub(super) is_modern: bool,
    pub(super) connection: &'a Connection,
}

pub(super) enum Answer {
    Result(Value),
    Error(i64, String),
    /// The whole JSON-RPC error.
    Refusal(Value),
    /// The server has answered already, or never will.
    None,
}

/// The client's end, shared by all threads.
#[derive(Default)]
pub(super) struct Connection {
    messages: Mutex<ClientMessages>,
    wake: Condvar,
}

/// Messages of the client besides its requests, and our requests to the client.
#[derive(Default)]
struct ClientMessages {
    cancelled: HashSet<String>,
    questions: u64,
    answers: Vec<Value>,
    /// The request that subscribes to changes, in the modern era.
    subscription: Option<Value>,
    goodbye: bool,
}

pub(super) fn serve(era: Era, tools: &impl Tools) -> Result<()> {
    let connection = Connection::default();
    let mut server = Server {
        era,
        tools,
        connection: &connection,
        initialized: false,
    };
    std::thread::scope(|scope| {
        let mut beside = Some(|| tools.beside(&connection));
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            if let Some(beside) = beside.take_if(|_| line.contains("\"tools/list\"")) {
                scope.spawn(beside);
            }
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                connection.send(&error(&Value::Null, -32700, "parse error"));
                continue;
            };
            let calls_slow_tool = message["method"] == "tools/call"
                && message
                    .pointer("/params/name")
                    .and_then(Value::as_str)
                    .is_some_and(|name| tools.is_slow(name));
            if calls_slow_tool {
                let connection = &connection;
                let call_era = (era, server.initialized);
                scope.spawn(move || {
                    let mut server = Server {
                        era,
                        tools,
                        connection,
                        initialized: call_era.1,
                    };
                    server.take(&message);
                });
            } else {
                server.take(&message);
            }
        }
        // Sleeping threads must not keep the server alive once the client has left.
        connection.messages().goodbye = true;
        connection.wake.notify_all();
        Ok(())
    })
}

struct Server<'a, T> {
    era: Era,
    tools: &'a T,
    connection: &'a Connection,
    initialized: bool,
}

impl<T: Tools> Server<'_, T> {
    fn take(&mut self, message: &Value) {
        if self.tools.intercept(message, self.connection) {
            return;
        }
        let (id, params) = (&message["id"], &message["params"]);
        let Some(method) = message["method"].as_str() else {
            self.connection.take_answer(message.clone());
            return;
        };
        if id.is_null() {
            if method == "notifications/cancelled" {
                self.connection.cancel(&params["requestId"]);
            }
            return;
        }
        if let Some(reply) = self.answer(id, method, params) {
            self.connection.send(&reply);
        }
    }

    fn answer(&mut self, id: &Value, method: &str, params: &Value) -> Option<Value> {
        let modern = self.era == Era::Modern;
        match method {
            "server/discover" if modern => return Some(response(id, self.introduction())),
            "initialize" if modern => {
                let mut reply = error(id, UNSUPPORTED_VERSION, "unsupported protocol version");
                reply["error"]["data"] = json!({"supported": [MODERN]});
                return Some(reply);
            }
            "initialize" => {
                self.initialized = true;
                return Some(response(id, self.introduction()));
            }
            "subscriptions/listen" if modern => {
                self.connection.subscribe(id, params);
                return None;
            }
            "ping" if !modern => return Some(response(id, json!({}))),
            _ => {}
        }
        if modern && params["_meta"]["io.modelcontextprotocol/protocolVersion"] != MODERN {
            return Some(error(
                id,
                INVALID_PARAMS,
                "missing _meta io.modelcontextprotocol/protocolVersion",
            ));
        }
        if !modern && !self.initialized {
            return Some(error(id, -32002, "server not initialized"));
        }
        let answer = match method {
            "tools/list" => Answer::Result(self.tools.list(params["cursor"].as_str())),
            "tools/call" => self.call(id, params),
            _ => self
                .tools
                .other(method, params, self.connection)
                .unwrap_or_else(|| Answer::Error(METHOD_NOT_FOUND, format!("method not found: {method}"))),
        };
        let mut result = match answer {
            Answer::Result(result) => result,
            Answer::Error(code, message) => return Some(error(id, code, &message)),
            Answer::Refusal(error) => return Some(json!({"jsonrpc": "2.0", "id": id, "error": error})),
            Answer::None => return None,
        };
        if modern && let Some(result) = result.as_object_mut() {
            result.entry("resultType").or_insert(json!("complete"));
        }
        Some(response(id, result))
    }

    fn call(&self, id: &Value, params: &Value) -> Answer {
        let Some(name) = params["name"].as_str() else {
            return Answer::Error(INVALID_PARAMS, "missing name".to_owned());
        };
        self.tools.call(&ToolCall {
            id,
            name,
            arguments: &params["arguments"],
            progress_token: &params["_meta"]["progressToken"],
            params,
            is_modern: self.era == Era::Modern,
            connection: self.connection,
        })
    }

    fn introduction(&self) -> Value {
        let capabilities = self.tools.capabilities();
        let server = json!({"name": "stub-server", "version": "1.0.0"});
        let instructions = self.tools.instructions();
        if self.era == Era::Modern {
            return json!({
                "resultType": "complete", "supportedVersions": [MODERN], "capabilities": capabilities,
                "instructions": instructions, "ttlMs": 0, "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": server},
            });
        }
        json!({
            "protocolVersion": self.era.version(), "capabilities": capabilities, "serverInfo": server,
            "instructions": instructions,
        })
    }
}

// === impl Connection ===

impl Connection {
    pub(super) fn send(&self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(super) fn write(&self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        // A disconnected client also closes stdin; the reader of stdin reports this.
        let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sleeps until the time is over, the request is cancelled or stdin closes; returns whether the
    /// time is over.
    pub(super) fn sleep(&self, id: &Value, time: Duration) -> bool {
        let key = id.to_string();
        let end = Instant::now() + time;
        let mut messages = self.messages();
        loop {
            if messages.goodbye || messages.cancelled.contains(&key) {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            messages = self
                .wake
                .wait_timeout(messages, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.messages().goodbye
    }

    pub(super) fn cancelled(&self) -> Vec<String> {
        self.messages().cancelled.iter().cloned().collect()
    }

    /// Announces changed tools, in the way of the era.
    pub(super) fn tools_changed(&self) {
        self.changed("tools");
    }

    /// Announces a changed list of this kind, in the way of the era.
    pub(super) fn changed(&self, kind: &str) {
        let mut message = json!({"jsonrpc": "2.0", "method": format!("notifications/{kind}/list_changed")});
        if let Some(id) = &self.messages().subscription {
            message["params"] = json!({"_meta": {SUBSCRIPTION_ID: id}});
        }
        self.send(&message);
    }

    fn subscribe(&self, id: &Value, params: &Value) {
        self.messages().subscription = Some(id.clone());
        let params = json!({"notifications": params["notifications"], "_meta": {SUBSCRIPTION_ID: id}});
        let method = "notifications/subscriptions/acknowledged";
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request to the client and cancels it.
    pub(super) fn withdraw(&self, method: &str, params: &Value) {
        let id = self.begin(method, params);
        self.notify("notifications/cancelled", json!({"requestId": id}));
    }

    /// Returns the request's id.
    fn begin(&self, method: &str, params: &Value) -> String {
        let id = {
            let mut messages = self.messages();
            messages.questions += 1;
            format!("ask-{}", messages.questions)
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(super) fn ask(&self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        let mut messages = self.messages();
        loop {
            if let Some(place) = messages.answers.iter().position(|answer| answer["id"] == *id) {
                return messages.answers.remove(place);
            }
            if messages.goodbye {
                return Value::Null;
            }
            messages = self.wake.wait(messages).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn messages(&self) -> MutexGuard<'_, ClientMessages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_answer(&self, message: Value) {
        self.messages().answers.push(message);
        self.wake.notify_all();
    }

    fn cancel(&self, id: &Value) {
        self.messages().cancelled.insert(id.to_string());
        self.wake.notify_all();
    }
}

pub(super) fn response(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

pub(super) fn text(text: impl Into<String>) -> Answer {
    Answer::Result(json!({"content": [{"type": "text", "text": text.into()}]}))
}

/// A structured result, repeated as text for clients that read only text.
pub(super) fn structured(value: Value) -> Answer {
    Answer::Result(json!({
        "content": [{"type": "text", "text": value.to_string()}],
        "structuredContent": value,
        "isError": false,
    }))
}

/// A tool's definition; `parameters` are `name:type`, all required.
pub(super) fn tool(name: &str, description: &str, parameters: &[&str]) -> Value {
    let parts: Vec<(&str, &str)> = parameters
        .iter()
        .filter_map(|parameter| parameter.split_once(':'))
        .collect();
    let properties: serde_json::Map<String, Value> = parts
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})))
        .collect();
    let required: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    })
}
