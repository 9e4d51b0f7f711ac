//! The hub: all servers under their names.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::watch;
use types::{ServerTools, ToolRef};

use crate::config::Config;
use crate::error::UpstreamError;

/// All upstream servers; cheap to clone. Nothing starts until it is asked for.
#[derive(Debug, Clone)]
pub struct Hub {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tools: watch::Sender<Arc<Vec<ServerTools>>>,
}

/// One call of a tool. Dropping its future cancels the call upstream.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which tool.
    pub tool: ToolRef,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// When the caller stops waiting, whatever progress the server reports.
    pub deadline: tokio::time::Instant,
}

/// The two lifecycles of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: `initialize`.
    Legacy,
    /// 2026-07-28: `server/discover`, stateless.
    Modern,
}

/// What is known of one server, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerState {
    /// The server's name in the configuration.
    pub name: String,
    /// Whether it runs.
    pub status: Status,
    /// Number of tools; `None` while the list is unknown.
    pub tools: Option<usize>,
    /// Its process, while it runs.
    pub pid: Option<u32>,
    /// The lifecycle it speaks, once known.
    pub era: Option<Era>,
    /// What was odd about it, oldest first, the last few.
    pub warnings: Vec<String>,
}

/// Whether a server runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Not started yet, or ended and started again at the next call.
    Idle,
    /// On its way.
    Starting,
    /// Ready for calls.
    Running,
    /// It could not be started or ended by itself.
    Failed {
        /// How.
        cause: String,
    },
}

impl Hub {
    /// Prepares all servers and reads the cached tool lists; starts nothing.
    pub fn new(config: Config) -> Hub {
        let tools = config
            .servers
            .into_iter()
            .map(|server| ServerTools {
                name: server.name,
                description: server.description,
                tools: None,
            })
            .collect();
        let (tools, _) = watch::channel(Arc::new(tools));
        Hub {
            shared: Arc::new(Shared { tools }),
        }
    }

    /// The servers with their tools, in the order of the configuration; changes by itself.
    pub fn tools(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.shared.tools.subscribe()
    }

    /// Starts the servers whose list is unknown, at most eight at once, and waits for their lists; names those that
    /// are still on their way after `wait`, which go on in the background.
    pub async fn discover(&self, _wait: Duration) -> Vec<String> {
        Vec::new()
    }

    /// Makes sure that the list of this server is known.
    pub async fn list(&self, server: &str) -> Result<(), UpstreamError> {
        Err(UpstreamError::UnknownServer {
            server: server.to_owned(),
        })
    }

    /// Calls a tool; the answer is the server's `CallToolResult` with all its fields.
    pub async fn call(&self, call: Call) -> Result<Value, UpstreamError> {
        Err(UpstreamError::UnknownServer {
            server: call.tool.server,
        })
    }

    /// Calls a tool; the answer is the text of the server's `CallToolResult`, not decoded.
    pub async fn call_raw(&self, call: Call) -> Result<Box<RawValue>, UpstreamError> {
        Err(UpstreamError::UnknownServer {
            server: call.tool.server,
        })
    }

    /// What is known of each server, in the order of the configuration.
    pub fn states(&self) -> Vec<ServerState> {
        Vec::new()
    }

    /// Ends all servers: closes their stdin, waits, sends SIGTERM, then kills; returns within a few seconds.
    pub async fn shutdown(&self) {}
}
