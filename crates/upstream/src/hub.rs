//! The hub: all servers under their names.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use types::{ServerTools, ToolRef};

use crate::cache::CacheFile;
use crate::config::Config;
use crate::connection::{Connection, Patience, RequestError};
use crate::environment::Environment;
use crate::error::UpstreamError;
use crate::places::{HOLD, Places};
use crate::server::{Link, LinkParts, Server};

/// Servers that are started at the same time.
const STARTS_AT_ONCE: usize = 8;
/// How many of those a search may start: a call finds a place although hundreds of servers are being discovered.
const DISCOVERIES_AT_ONCE: usize = 6;

/// All upstream servers; cheap to clone. Nothing starts until it is asked for.
#[derive(Debug, Clone)]
pub struct Hub {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// In the order of the configuration.
    servers: Vec<Arc<Server>>,
    by_name: HashMap<String, usize>,
    /// Definitions that would start codeyard again.
    self_references: Vec<String>,
    tools: watch::Sender<Arc<Vec<ServerTools>>>,
    /// Whether the lists of the last process have been read.
    ready: watch::Receiver<bool>,
    discoveries: Arc<Places>,
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
    /// Prepares all servers and starts to read the cached tool lists; starts no server.
    pub fn new(config: Config) -> Hub {
        let Config {
            servers,
            cache_dir,
            supervisor,
            own_executable,
        } = config;
        let environment = Arc::new(Environment::of_this_process());
        let supervisor: Arc<[_]> = supervisor.into();
        let starts = Arc::new(Places::new(STARTS_AT_ONCE, HOLD));
        let (own, servers): (Vec<_>, Vec<_>) = servers
            .into_iter()
            .partition(|server| environment.is_self_reference(server, &own_executable));
        for server in &own {
            let server = server.name.clone();
            tracing::warn!("{}", UpstreamError::SelfReference { server });
        }
        let unlisted = servers.iter().map(|server| ServerTools {
            name: server.name.clone(),
            description: server.description.clone(),
            tools: None,
        });
        let (tools, _) = watch::channel(Arc::new(unlisted.collect::<Vec<_>>()));
        let links = servers.into_iter().enumerate().map(|(index, config)| {
            let cache = cache_dir
                .as_deref()
                .map(|directory| CacheFile::new(directory, &config));
            let (environment, supervisor) = (Arc::clone(&environment), Arc::clone(&supervisor));
            let (starts, all_tools) = (Arc::clone(&starts), tools.clone());
            Link::new(LinkParts {
                config,
                index,
                environment,
                supervisor,
                cache,
                starts,
                all_tools,
            })
        });
        let servers: Vec<_> = links.map(|link| Arc::new(Server::new(link))).collect();
        let by_name = servers
            .iter()
            .map(|server| (server.link.config.name.clone(), server.link.index))
            .collect();
        let ready = read_caches(servers.iter().map(|server| Arc::clone(&server.link)).collect());
        Hub {
            shared: Arc::new(Shared {
                servers,
                by_name,
                self_references: own.into_iter().map(|server| server.name).collect(),
                tools,
                ready,
                discoveries: Arc::new(Places::new(DISCOVERIES_AT_ONCE, HOLD)),
            }),
        }
    }

    /// The servers with their tools, in the order of the configuration; changes by itself. Cached lists follow within
    /// milliseconds of [`Hub::new`], see [`Hub::ready`].
    pub fn tools(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.shared.tools.subscribe()
    }

    /// Waits until the cached lists have been read.
    pub async fn ready(&self) {
        let mut ready = self.shared.ready.clone();
        // The reader has ended, well or not, once it is gone.
        let _ = ready.wait_for(|ready| *ready).await;
    }

    /// Starts the servers whose list is unknown, a few at once, and waits for their lists; names those that are still on
    /// their way after `wait`, which go on in the background. Each is waited for once: one that is slow holds up no later
    /// search, and one that failed is tried again without a word.
    pub async fn discover(&self, wait: Duration) -> Vec<String> {
        let deadline = Instant::now() + wait;
        if timeout_at(deadline, self.ready()).await.is_err() {
            return Vec::new();
        }
        let unlisted: Vec<_> = self
            .shared
            .servers
            .iter()
            .filter(|server| !server.link.is_listed() && !server.link.is_held_back())
            .collect();
        for server in &unlisted {
            self.discover_one(server);
        }
        let mut pending = Vec::new();
        for server in unlisted {
            let mut discovering = server.discovering.subscribe();
            let is_done = if server.was_awaited.load(Ordering::Relaxed) {
                !*discovering.borrow() || server.link.has_no_list()
            } else {
                let done = discovering.wait_for(|discovering| !discovering);
                timeout_at(deadline, done).await.is_ok()
            };
            if !is_done {
                pending.push(server.link.config.name.clone());
            }
            server.was_awaited.store(true, Ordering::Relaxed);
        }
        pending
    }

    /// Makes sure that the list of this server is known.
    pub async fn list(&self, server: &str) -> Result<(), UpstreamError> {
        let server = self.server(server)?;
        self.ready().await;
        server.list(server.started_by()).await
    }

    /// Calls a tool; the answer is the server's `CallToolResult` with all its fields.
    pub async fn call(&self, call: Call) -> Result<Value, UpstreamError> {
        let raw = self.call_raw(call).await?;
        // It is the text of an object: it was checked when it was taken from its message.
        Ok(serde_json::from_str(raw.get()).unwrap_or_default())
    }

    /// Calls a tool; the answer is the text of the server's `CallToolResult`, not decoded.
    pub async fn call_raw(&self, call: Call) -> Result<Box<RawValue>, UpstreamError> {
        let server = self.server(&call.tool.server)?;
        let name = format!("the call of '{}'", call.tool.tool);
        let patience = Patience {
            idle: server.link.timeout(),
            deadline: call.deadline,
        };
        let started_by = server.started_by().min(call.deadline);
        let connection = server.connection(started_by).await?;
        let answer = match connection.request(request(call.clone()), &name, patience).await {
            // It ended unnoticed since its last call; the next life of it is asked instead.
            Err(RequestError::Undelivered(_)) => {
                let connection = server.connection(started_by).await?;
                let answer = connection.request(request(call), &name, patience).await;
                (connection, answer)
            }
            answer => (connection, answer),
        };
        let (connection, answer) = answer;
        let raw = result(&connection, answer?, &name)?;
        connection.has_served.store(true, Ordering::Relaxed);
        Ok(raw)
    }

    /// What is known of each server, in the order of the configuration; those left out come last.
    pub fn states(&self) -> Vec<ServerState> {
        let left_out = self.shared.self_references.iter().map(|server| ServerState {
            name: server.clone(),
            status: Status::Failed {
                cause: UpstreamError::SelfReference {
                    server: server.clone(),
                }
                .to_string(),
            },
            tools: None,
            pid: None,
            era: None,
            warnings: Vec::new(),
        });
        self.shared
            .servers
            .iter()
            .map(|server| server.state())
            .chain(left_out)
            .collect()
    }

    /// Ends all servers: closes their stdin, waits, sends SIGTERM, then kills; returns within a few seconds.
    pub async fn shutdown(&self) {
        let mut stopping = JoinSet::new();
        for server in &self.shared.servers {
            let server = Arc::clone(server);
            stopping.spawn(async move { server.stop().await });
        }
        while stopping.join_next().await.is_some() {}
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, UpstreamError> {
        if let Some(index) = self.shared.by_name.get(name) {
            return Ok(&self.shared.servers[*index]);
        }
        let server = name.to_owned();
        if self.shared.self_references.contains(&server) {
            return Err(UpstreamError::SelfReference { server });
        }
        Err(UpstreamError::UnknownServer { server })
    }

    /// Has one server list its tools in the background, unless that is under way.
    fn discover_one(&self, server: &Arc<Server>) {
        if server.discovering.send_replace(true) {
            return;
        }
        let (server, discoveries) = (Arc::clone(server), Arc::clone(&self.shared.discoveries));
        tokio::spawn(async move {
            // What a failed server has to say is in its state.
            let _ = discoveries.run(server.list(Server::started_at_last())).await;
            server.discovering.send_replace(false);
        });
    }
}

/// Reads what the last process learned, beside everything else: with many servers it takes longer than a first answer may.
fn read_caches(links: Vec<Arc<Link>>) -> watch::Receiver<bool> {
    let (sender, ready) = watch::channel(false);
    let read = move || {
        let mut buffer = Vec::new();
        for link in links {
            if let Some(entry) = link.cache.as_ref().and_then(|cache| cache.read(&mut buffer)) {
                link.recall(entry);
            }
        }
        sender.send_replace(true);
    };
    // Without a thread the sender is dropped: nothing is cached, and every server is asked anew.
    if let Err(error) = std::thread::Builder::new()
        .name("tool-lists".to_owned())
        .spawn(read)
    {
        tracing::warn!(%error, "the cached tool lists could not be read");
    }
    ready
}

fn request(call: Call) -> ClientRequest {
    let params = CallToolRequestParams::new(call.tool.tool).with_arguments(call.arguments);
    ClientRequest::CallToolRequest(CallToolRequest::new(params))
}

/// The text of a tool's result, if it is one.
fn result(connection: &Connection, raw: String, name: &str) -> Result<Box<RawValue>, UpstreamError> {
    const INPUT_REQUIRED: &str = "input_required";
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "resultType", borrow)]
        kind: Option<std::borrow::Cow<'a, str>>,
    }
    if !raw.starts_with('{') {
        return Err(connection.bad_answer(name, "the result is no object".to_owned()));
    }
    // The word is rare, so that the whole text is only looked through where it occurs.
    let asks = raw.contains(INPUT_REQUIRED)
        && serde_json::from_str::<Kind<'_>>(&raw)
            .is_ok_and(|kind| kind.kind.as_deref() == Some(INPUT_REQUIRED));
    if asks {
        let (server, request) = (connection.server.clone(), name.to_owned());
        return Err(UpstreamError::InputRequired { server, request });
    }
    RawValue::from_string(raw).map_err(|error| connection.bad_answer(name, error.to_string()))
}
