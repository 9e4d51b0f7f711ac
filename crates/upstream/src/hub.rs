//! The hub: all servers under their names.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::{ServerTools, ToolRef};

use crate::calls::Asked;
use crate::client::Client;
use crate::config::{Config, ServerConfig, Transport};
use crate::connection::Connection;
use crate::environment::Environment;
use crate::error::UpstreamError;
use crate::link::{Link, Phase};
use crate::logs::Logs;
use crate::places::{HOLD, Places};
use crate::question::Along;
use crate::roster::{Makings, Roster, Succession};
use crate::server::Server;

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
    makings: Makings,
    roster: RwLock<Arc<Roster>>,
    /// How many threads read the lists of the last process.
    reading: watch::Sender<usize>,
    discoveries: Arc<Places>,
    /// Ends servers whose definition is gone.
    retiring: TaskTracker,
    closing: CancellationToken,
}

/// One call of a tool. Dropping its future cancels the call upstream.
#[derive(Debug)]
pub struct Call {
    /// Which tool.
    pub tool: ToolRef,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// When the caller stops waiting, whatever progress the server reports.
    pub deadline: tokio::time::Instant,
    /// The parameters of each notification of progress go here; those that find no room are dropped.
    pub progress: Option<mpsc::Sender<Value>>,
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

impl Era {
    /// In a word, for people.
    pub fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

/// What is known of one server, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerState {
    /// The server's name in the configuration.
    pub name: String,
    /// Whether it runs.
    pub status: Status,
    /// How it is reached: `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// Number of tools; `None` while the list is unknown.
    pub tools: Option<usize>,
    /// Calls of its tools since it was defined.
    pub calls: u64,
    /// What went wrong last, also if it runs again.
    pub last_error: Option<String>,
    /// Its process, while it runs.
    pub pid: Option<u32>,
    /// The lifecycle it speaks, once known.
    pub era: Option<Era>,
    /// What was odd about it, oldest first, the last few.
    pub warnings: Vec<String>,
    /// Requests that are under way or wait for a place.
    pub under_way: usize,
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
    /// Several calls in a row failed; further ones fail at once until one that is let through succeeds.
    Suspended {
        /// The last failure.
        cause: String,
    },
    /// It lets in only who has logged in.
    NeedsLogin {
        /// What it said, and what to do.
        cause: String,
    },
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
            asks_anew,
            log_dir,
            login_dir,
            supervisor,
            own_executable,
            allow_self,
        } = config;
        let makings = Makings {
            environment: Arc::new(Environment::of_this_process()),
            supervisor: supervisor.into(),
            cache_dir,
            login_dir,
            logs: Logs::new(log_dir),
            starts: Arc::new(Places::new(STARTS_AT_ONCE, HOLD)),
            groups: Arc::default(),
            all_tools: watch::channel(Arc::default()).0,
            client: Arc::default(),
            own_executable,
            allow_self,
        };
        let Succession { roster, new, .. } = makings.succeed(&Roster::default(), servers);
        let hub = Hub {
            shared: Arc::new(Shared {
                makings,
                roster: RwLock::new(Arc::new(roster)),
                reading: watch::channel(0).0,
                discoveries: Arc::new(Places::new(DISCOVERIES_AT_ONCE, HOLD)),
                retiring: TaskTracker::new(),
                closing: CancellationToken::new(),
            }),
        };
        if !asks_anew {
            hub.read_caches(&new);
        }
        hub
    }

    /// Puts other definitions in the place of those there are; names are unique. A server whose definition stays as it is
    /// keeps its process and its list. One whose definition is gone or another one gets no further calls and ends in the
    /// background, after the calls that are under way. Needs a runtime around it.
    pub fn replace(&self, servers: Vec<ServerConfig>) {
        let shared = &self.shared;
        let mut roster = shared.roster.write().unwrap_or_else(PoisonError::into_inner);
        if shared.closing.is_cancelled() {
            return;
        }
        let succession = shared.makings.succeed(&roster, servers);
        *roster = Arc::new(succession.roster);
        drop(roster);
        self.read_caches(&succession.new);
        for server in succession.retired {
            server.link.set_retired();
            let closing = shared.closing.clone();
            shared.retiring.spawn(async move {
                if closing.run_until_cancelled(server.retire()).await.is_none() {
                    server.stop().await;
                }
            });
        }
    }

    /// Lets servers that start from now on ask and tell this client. Only the first one is ever taken.
    pub fn attach(&self, client: Arc<dyn Client>) {
        if self.shared.makings.client.set(client).is_err() {
            tracing::error!("a second client cannot be reached by servers");
        }
    }

    /// The servers with their tools, in the order of the configuration; changes by itself. Cached lists follow within
    /// milliseconds of [`Hub::new`], see [`Hub::ready`].
    pub fn tools(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.shared.makings.all_tools.subscribe()
    }

    /// Waits until the cached lists have been read.
    pub async fn ready(&self) {
        // The sender lives in `self`, so that waiting cannot fail.
        let _ = self
            .shared
            .reading
            .subscribe()
            .wait_for(|readers| *readers == 0)
            .await;
    }

    /// Starts the servers whose list is unknown, a few at once, and waits for their lists; names those that are still on
    /// their way after `wait`, which go on in the background. Each is waited for once: one that is slow holds up no later
    /// search, and one that failed is tried again without a word.
    pub async fn discover(&self, wait: Duration) -> Vec<String> {
        let deadline = Instant::now() + wait;
        if timeout_at(deadline, self.ready()).await.is_err() {
            return Vec::new();
        }
        let roster = self.roster();
        let unlisted: Vec<_> = roster
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

    /// As [`Hub::list`], but waits no longer than `patience`, and only for a server for which nobody has waited so in
    /// vain: one that fails or is slow is not asked again until it is configured anew.
    pub async fn list_in_time(&self, server: &str, patience: Duration) {
        let Ok(server) = self.server(server) else {
            return;
        };
        if server.was_missed.load(Ordering::Relaxed) {
            return;
        }
        let list = async {
            self.ready().await;
            server.list(server.started_by()).await
        };
        let is_listed = matches!(timeout(patience, list).await, Ok(Ok(())));
        server.was_missed.store(!is_listed, Ordering::Relaxed);
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
        server.link.tally.counted(self.call_server(&server, call)).await
    }

    async fn call_server(&self, server: &Server, call: Call) -> Result<Box<RawValue>, UpstreamError> {
        let name = format!("the call of '{}'", call.tool.tool);
        let asked = Asked {
            name: &name,
            deadline: call.deadline,
            may_repeat: server.link.may_repeat(&call.tool.tool),
        };
        // The values of the arguments go with the first try, so that no call waits with two trees of them.
        let text = serde_json::to_string(&call.arguments).unwrap_or_default();
        let mut values = Some(call.arguments);
        let tool = &call.tool.tool;
        server
            .ask(
                asked,
                |connection| {
                    let again = || serde_json::from_str(&text);
                    let values = values.take().map_or_else(again, Ok);
                    values
                        .map(|values| request(tool.clone(), values, call.progress.clone()))
                        .map_err(|error| connection.bad_answer(&name, error.to_string()))
                },
                |connection, raw| result(connection, raw, &name),
            )
            .await
    }

    /// Tells the servers that run how much the client wants to hear of what they log; others are told when they start.
    pub async fn tell_log_level(&self) {
        let servers = self.roster().servers.clone();
        for server in servers.iter() {
            let phase = server.link.state.borrow().phase.clone();
            if let Phase::Running(connection) = phase {
                connection.tell_log_level(&server.link.client).await;
            }
        }
    }

    /// What is known of each server, in the order of the configuration; those left out come last.
    pub fn states(&self) -> Vec<ServerState> {
        let roster = self.roster();
        let left_out = roster.self_references.iter().map(|server| ServerState {
            name: server.clone(),
            status: Status::Failed {
                cause: UpstreamError::SelfReference {
                    server: server.clone(),
                }
                .to_string(),
            },
            transport: Transport::default().name(),
            tools: None,
            calls: 0,
            last_error: None,
            pid: None,
            era: None,
            warnings: Vec::new(),
            under_way: 0,
        });
        roster
            .servers
            .iter()
            .map(|server| server.state())
            .chain(left_out)
            .collect()
    }

    /// Ends all servers: closes their stdin, waits, sends SIGTERM, then kills; returns within a few seconds.
    pub async fn shutdown(&self) {
        // Whoever replaces servers now does so before the roster is read, or not at all.
        self.shared.closing.cancel();
        let mut stopping = JoinSet::new();
        for server in &self.roster().servers {
            let server = Arc::clone(server);
            stopping.spawn(async move { server.stop().await });
        }
        while stopping.join_next().await.is_some() {}
        self.shared.retiring.close();
        self.shared.retiring.wait().await;
        self.shared.makings.logs.flush().await;
    }

    fn roster(&self) -> Arc<Roster> {
        let roster = self.shared.roster.read();
        Arc::clone(&roster.unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn server(&self, name: &str) -> Result<Arc<Server>, UpstreamError> {
        let roster = self.roster();
        if let Some(server) = roster.server(name) {
            return Ok(Arc::clone(server));
        }
        let server = name.to_owned();
        if roster.self_references.contains(&server) {
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

    /// Reads what the last process learned of these servers, beside everything else: with many servers it takes longer
    /// than a first answer may.
    fn read_caches(&self, servers: &[Arc<Server>]) {
        let links: Vec<Arc<Link>> = servers
            .iter()
            .map(|server| Arc::clone(&server.link))
            .filter(|link| link.cache.is_some())
            .collect();
        if links.is_empty() {
            return;
        }
        let reading = Reading::new(&self.shared.reading);
        let read = move || {
            let mut buffer = Vec::new();
            for link in links {
                if let Some(entry) = link.cache.as_ref().and_then(|cache| cache.read(&mut buffer)) {
                    link.recall(entry);
                }
            }
            drop(reading);
        };
        // Without a thread nothing is cached, and every server is asked anew.
        if let Err(error) = std::thread::Builder::new()
            .name("tool-lists".to_owned())
            .spawn(read)
        {
            tracing::warn!(%error, "the cached tool lists could not be read");
        }
    }
}

/// One reader of cached lists; counted for as long as it lives.
struct Reading(watch::Sender<usize>);

impl Reading {
    fn new(readers: &watch::Sender<usize>) -> Reading {
        readers.send_modify(|readers| *readers += 1);
        Reading(readers.clone())
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.send_modify(|readers| *readers -= 1);
    }
}

fn request(
    tool: String,
    arguments: Map<String, Value>,
    progress: Option<mpsc::Sender<Value>>,
) -> ClientRequest {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    let mut request = CallToolRequest::new(params);
    if progress.is_some() {
        request.extensions.insert(Along {
            progress,
            ..Along::default()
        });
    }
    ClientRequest::CallToolRequest(request)
}

/// The text of a tool's result, if it is one.
fn result(connection: &Connection, raw: String, name: &str) -> Result<Box<RawValue>, UpstreamError> {
    const INPUT_REQUIRED: &str = "input_required";
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "resultType", borrow)]
        kind: Option<std::borrow::Cow<'a, str>>,
    }
    // The word is rare, so that the whole text is only looked through where it occurs.
    let asks = raw.contains(INPUT_REQUIRED)
        && serde_json::from_str::<Kind<'_>>(&raw)
            .is_ok_and(|kind| kind.kind.as_deref() == Some(INPUT_REQUIRED));
    if asks {
        let (server, request) = (connection.server.clone(), name.to_owned());
        return Err(UpstreamError::InputRequired { server, request });
    }
    connection.raw_object(raw, name)
}
