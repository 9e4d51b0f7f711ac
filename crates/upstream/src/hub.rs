//! The hub: finds servers by name, calls their tools, lists them, and shuts them down.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::RwLock;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::{Ownership, Principal, ServerTools, ToolRef, TraceContext};
use upstream_wire::oauth::{LoginVault, Logins};
use upstream_wire::{ControlGroups, DownstreamClient, Environment, Logs, Transport};

use crate::bucket::{Buckets, CallWindows};
use crate::calls::RequestOptions;
use crate::concurrency::{ConcurrencyLimit, MAX_HOLD};
use crate::config::{HubConfig, ServerConfig};
use crate::connection::{Connection, RequestMeta};
use crate::error::UpstreamError;
use crate::server::ManagedServer;
use crate::server_set::{Replacement, ServerFactory, ServerSet};
use crate::shared::{Phase, ServerShared};
use crate::state::{ServerState, Status};

const MAX_STARTS: usize = 8;
/// Concurrent starts for searches. The limit leaves some starts free, so that a call need not wait while hundreds of
/// servers are listed.
const MAX_DISCOVERIES: usize = 6;

/// All upstream servers; cheap to clone. A server starts when it is needed.
#[derive(Debug, Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    factory: ServerFactory,
    server_set: RwLock<Arc<ServerSet>>,
    /// Number of threads that are reading cached tool lists.
    cache_readers: watch::Sender<usize>,
    discoveries: Arc<ConcurrencyLimit>,
    /// Logins of users.
    vault: OnceLock<Arc<dyn LoginVault>>,
    /// Tasks that stop servers whose definition was removed or changed.
    retiring: TaskTracker,
    closing: CancellationToken,
}

/// Owner of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerOwner {
    /// There is no such server.
    Unknown,
    /// It is defined in a file.
    Operator,
    /// A user of the gateway defined it.
    User(Ownership),
}

/// One call of a tool. Dropping its future cancels the call upstream.
#[derive(Debug)]
pub struct ToolCall {
    /// Server and name of the tool.
    pub tool: ToolRef,
    /// Members of `arguments`.
    pub arguments: Map<String, Value>,
    /// When the caller stops waiting, regardless of progress.
    pub deadline: tokio::time::Instant,
    /// Receives the parameters of progress notifications; a full channel drops them.
    pub progress: Option<mpsc::Sender<Value>>,
    /// The trace that the call belongs to, for the server.
    pub trace: Option<TraceContext>,
}

impl Hub {
    /// Prepares all servers and starts to read cached tool lists. Starts no server.
    pub fn new(config: HubConfig) -> Hub {
        let HubConfig {
            servers,
            cache_dir,
            asks_anew,
            log_dir,
            logins,
            supervisor,
            own_executable,
            allow_self,
        } = config;
        let factory = ServerFactory {
            environment: Arc::new(Environment::of_this_process()),
            supervisor: supervisor.into(),
            cache_dir,
            logins,
            logs: Logs::new(log_dir),
            starts: Arc::new(ConcurrencyLimit::new(MAX_STARTS, MAX_HOLD)),
            control_groups: Arc::<ControlGroups>::default(),
            all_tools: watch::channel(Arc::default()).0,
            client: Arc::default(),
            own_executable,
            allow_self,
            buckets: Buckets::default(),
        };
        let Replacement { server_set, new, .. } = factory.replace(&ServerSet::default(), servers);
        let hub = Hub {
            inner: Arc::new(Inner {
                factory,
                server_set: RwLock::new(Arc::new(server_set)),
                cache_readers: watch::channel(0).0,
                vault: OnceLock::new(),
                discoveries: Arc::new(ConcurrencyLimit::new(MAX_DISCOVERIES, MAX_HOLD)),
                retiring: TaskTracker::new(),
                closing: CancellationToken::new(),
            }),
        };
        if !asks_anew {
            hub.read_caches(&new);
        }
        hub
    }

    /// Replaces all definitions; names must be unique.
    ///
    /// A server with an unchanged definition keeps its process and its list. A server whose definition was
    /// changed or removed receives no further calls; it stops in the background after its pending calls. Must
    /// be called within a Tokio runtime.
    pub fn replace(&self, servers: Vec<ServerConfig>) {
        let inner = &self.inner;
        let mut server_set = inner.server_set.write();
        if inner.closing.is_cancelled() {
            return;
        }
        let replacement = inner.factory.replace(&server_set, servers);
        *server_set = Arc::new(replacement.server_set);
        drop(server_set);
        self.read_caches(&replacement.new);
        for server in replacement.retired {
            server.shared.set_retired();
            self.retire_in_background(server);
        }
    }

    /// Stops a server after its pending calls, or at once when the hub closes.
    pub(crate) fn retire_in_background(&self, server: Arc<ManagedServer>) {
        let closing = self.inner.closing.clone();
        self.inner.retiring.spawn(async move {
            if closing.run_until_cancelled(server.retire()).await.is_none() {
                server.stop().await;
            }
        });
    }

    pub(crate) fn stop_in_background(&self, server: Arc<ManagedServer>) {
        self.inner.retiring.spawn(async move { server.stop().await });
    }

    /// Attaches the client that answers requests from servers. Servers that start later use this client. A second
    /// client is ignored.
    pub fn attach(&self, client: Arc<dyn DownstreamClient>) {
        if self.inner.factory.client.set(client).is_err() {
            tracing::error!("a second client cannot be reached by servers");
        }
    }

    /// Counts the requests of limited servers in windows that several processes share. Only the first call takes
    /// effect.
    pub fn count_in(&self, windows: Arc<dyn CallWindows>) {
        self.inner.factory.buckets.count_in(windows);
    }

    /// The servers with their tools, in the order of the configuration. Cached lists appear within
    /// milliseconds of [`Hub::new`]; see [`Hub::ready`].
    pub fn tools(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.inner.factory.all_tools.subscribe()
    }

    /// Waits until all cached lists have been read.
    pub async fn ready(&self) {
        // `self` holds the sender, so waiting cannot fail.
        let _ = self
            .inner
            .cache_readers
            .subscribe()
            .wait_for(|readers| *readers == 0)
            .await;
    }

    /// Starts the servers whose list is unknown, a few at once, and waits for their lists. Returns the names of
    /// servers without a list after `wait`; their starts continue in the background. Only the first search waits for a
    /// given server, so that a slow server does not delay later searches.
    pub async fn discover(&self, wait: Duration) -> Vec<String> {
        self.discover_among(wait, None, &|_| true).await
    }

    /// As [`Hub::discover`], for the servers with these names; no other server starts. Where each user has an own login,
    /// the server starts for this user, if the user has logged in.
    pub async fn discover_among(
        &self,
        wait: Duration,
        user: Option<&Principal>,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Vec<String> {
        let deadline = Instant::now() + wait;
        if timeout_at(deadline, self.ready()).await.is_err() {
            return Vec::new();
        }
        let wanted = self.servers();
        let wanted = wanted
            .iter()
            .filter(|server| is_wanted(&server.shared.config.name));
        let mut unlisted = self.reached_by(user, wanted).await;
        unlisted.retain(|server| !server.shared.is_listed() && !server.shared.is_backing_off());
        for server in &unlisted {
            self.discover_one(server);
        }
        let mut pending = Vec::new();
        for server in unlisted {
            let mut discovering = server.discovering.subscribe();
            let is_done = if server.was_awaited.load(Ordering::Relaxed) {
                !*discovering.borrow() || server.shared.has_list_failed()
            } else {
                let done = discovering.wait_for(|discovering| !discovering);
                timeout_at(deadline, done).await.is_ok()
            };
            if !is_done {
                pending.push(server.shared.config.name.clone());
            }
            server.was_awaited.store(true, Ordering::Relaxed);
        }
        pending
    }

    /// The tags of the server's definition; none if the server is unknown.
    pub fn tags(&self, server: &str) -> Vec<String> {
        let servers = self.server_set();
        let found = servers.server(server);
        found
            .map(|server| server.shared.config.tags.clone())
            .unwrap_or_default()
    }

    /// Owner of the server that has this name now.
    pub fn owner(&self, server: &str) -> ServerOwner {
        let servers = self.server_set();
        let Some(server) = servers.server(server) else {
            return ServerOwner::Unknown;
        };
        match server.shared.config.ownership.clone() {
            Some(ownership) => ServerOwner::User(ownership),
            None => ServerOwner::Operator,
        }
    }

    /// Whether `principal` may use the server. A server with a login serves only the principal that owns the login.
    pub fn may_use(&self, principal: &Principal, server: &str) -> bool {
        let Some(logins) = &self.inner.factory.logins else {
            return true;
        };
        if logins.belong_to(principal) || self.user_login(server).is_some() {
            return true;
        }
        let takes_login = self.server_set().server(server).is_some_and(|server| {
            let config = &server.shared.config;
            let is_remote = matches!(&config.transport, Transport::Http(http) if http.takes_login());
            is_remote && config.ownership.is_none()
        });
        !(takes_login && logins.has_file(server))
    }

    /// Waits until the server's list is known; starts the server if necessary.
    pub async fn list(&self, server: &str) -> Result<(), UpstreamError> {
        let server = self.common_server(server)?;
        self.ready().await;
        server.list(server.call_start_deadline()).await
    }

    /// Like [`Hub::list`], with the login of this user where the definition asks for it.
    pub async fn list_as(&self, user: &Principal, server: &str) -> Result<(), UpstreamError> {
        self.ready().await;
        let managed = self.server_of(user, server).await?;
        match managed.list(managed.call_start_deadline()).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.explain(user, server, error).await),
        }
    }

    /// Like [`Hub::list`], but waits at most `max_wait`. After a failure or a timeout, further calls return at once
    /// until the server's definition changes.
    pub async fn list_in_time(&self, user: &Principal, server: &str, max_wait: Duration) {
        let Ok(server) = self.server_of(user, server).await else {
            return;
        };
        if server.was_missed.load(Ordering::Relaxed) {
            return;
        }
        let list = async {
            self.ready().await;
            server.list(server.call_start_deadline()).await
        };
        let is_listed = matches!(timeout(max_wait, list).await, Ok(Ok(())));
        server.was_missed.store(!is_listed, Ordering::Relaxed);
    }

    /// Returns the undecoded text of the server's `CallToolResult`.
    pub async fn call_raw(&self, call: ToolCall) -> Result<Box<RawValue>, UpstreamError> {
        let server = self.common_server(&call.tool.server)?;
        server
            .shared
            .stats
            .count_call(self.call_server(&server, call))
            .await
    }

    /// Like [`Hub::call_raw`], with the login of this user where the definition asks for it.
    pub async fn call_raw_as(
        &self,
        user: &Principal,
        call: ToolCall,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let name = call.tool.server.clone();
        let (defined, server) = (self.server(&name)?, self.server_of(user, &name).await?);
        let answer = defined.shared.stats.count_call(self.call_server(&server, call));
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.explain(user, &name, error).await),
        }
    }

    async fn call_server(
        &self,
        server: &ManagedServer,
        call: ToolCall,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let name = format!("the call of '{}'", call.tool.tool);
        let options = RequestOptions {
            name: &name,
            deadline: call.deadline,
            may_repeat: server.shared.may_repeat(&call.tool.tool),
        };
        // The first attempt consumes the argument values; the second attempt parses the text. So a waiting call holds
        // only one tree.
        let text = serde_json::to_string(&call.arguments).unwrap_or_default();
        let mut values = Some(call.arguments);
        let tool = &call.tool.tool;
        server
            .ask(
                options,
                |connection| {
                    let parse = || serde_json::from_str(&text);
                    let values = values.take().map_or_else(parse, Ok);
                    values
                        .map(|values| {
                            request(tool.clone(), values, call.progress.clone(), call.trace.as_ref())
                        })
                        .map_err(|error| connection.bad_answer(&name, error.to_string()))
                },
                |connection, raw| result(connection, raw, &name),
            )
            .await
    }

    /// Sends the client's log level to the running servers. Other servers receive the level when they start.
    pub async fn tell_log_level(&self) {
        let servers = self.server_set().servers.clone();
        for server in servers.iter() {
            let phase = server.shared.state.borrow().phase.clone();
            if let Phase::Running(connection) = phase {
                connection.set_log_level(&server.shared.connector.client).await;
            }
        }
    }

    /// The servers' states, in the order of the configuration. Definitions that start codeyard itself come last.
    pub fn states(&self) -> Vec<ServerState> {
        let server_set = self.server_set();
        let left_out = server_set.self_references.iter().map(|server| ServerState {
            name: server.clone(),
            status: Status::Failed {
                cause: UpstreamError::SelfReference {
                    server: server.clone(),
                }
                .to_string(),
            },
            transport: Transport::default().name(),
            ..ServerState::default()
        });
        server_set
            .servers
            .iter()
            .map(|server| server.state())
            .chain(left_out)
            .collect()
    }

    /// Stops all servers: closes stdin, waits, sends SIGTERM, then kills. Returns within a few seconds.
    pub async fn shutdown(&self) {
        // After this line `replace` does nothing, so the set read below is the last one.
        self.inner.closing.cancel();
        let mut stopping = JoinSet::new();
        for server in &self.server_set().servers {
            let server = Arc::clone(server);
            stopping.spawn(async move { server.stop().await });
        }
        while stopping.join_next().await.is_some() {}
        self.inner.retiring.close();
        self.inner.retiring.wait().await;
        self.inner.factory.logs.flush().await;
    }

    pub(crate) fn vault(&self) -> &OnceLock<Arc<dyn LoginVault>> {
        &self.inner.vault
    }

    pub(crate) fn servers(&self) -> Vec<Arc<ManagedServer>> {
        self.server_set().servers.clone()
    }

    pub(crate) fn of_user(
        &self,
        server: &ManagedServer,
        user: &Principal,
        vault: Arc<dyn LoginVault>,
    ) -> ManagedServer {
        self.inner
            .factory
            .of_user(&server.shared, Logins::in_vault(user, vault))
    }

    fn server_set(&self) -> Arc<ServerSet> {
        Arc::clone(&self.inner.server_set.read())
    }

    pub(crate) fn server(&self, name: &str) -> Result<Arc<ManagedServer>, UpstreamError> {
        let server_set = self.server_set();
        if let Some(server) = server_set.server(name) {
            return Ok(Arc::clone(server));
        }
        let server = name.to_owned();
        if server_set.self_references.contains(&server) {
            return Err(UpstreamError::SelfReference { server });
        }
        Err(UpstreamError::UnknownServer { server })
    }

    /// Lists one server's tools in the background, unless a listing of this server is already active.
    fn discover_one(&self, server: &Arc<ManagedServer>) {
        if server.discovering.send_replace(true) {
            return;
        }
        let (server, discoveries) = (Arc::clone(server), Arc::clone(&self.inner.discoveries));
        tokio::spawn(async move {
            // The server's state holds the error.
            let _ = discoveries
                .run(server.list(ManagedServer::start_deadline()))
                .await;
            server.discovering.send_replace(false);
        });
    }

    /// Reads cached lists in a thread: with many servers, reading takes longer than a first response may.
    fn read_caches(&self, servers: &[Arc<ManagedServer>]) {
        let unread: Vec<Arc<ServerShared>> = servers
            .iter()
            .map(|server| Arc::clone(&server.shared))
            .filter(|shared| shared.cache.is_some())
            .collect();
        if unread.is_empty() {
            return;
        }
        let reader = CacheReader::new(&self.inner.cache_readers);
        let read = move || {
            let mut buffer = Vec::new();
            for shared in unread {
                if let Some(entry) = shared.cache.as_ref().and_then(|cache| cache.read(&mut buffer)) {
                    shared.use_cache(entry);
                }
            }
            drop(reader);
        };
        // Without the thread, the hub requests the list of every server.
        if let Err(error) = std::thread::Builder::new()
            .name("tool-lists".to_owned())
            .spawn(read)
        {
            tracing::warn!(%error, "the cached tool lists could not be read");
        }
    }
}

/// Counts one reader of cached lists while it lives.
struct CacheReader(watch::Sender<usize>);

impl CacheReader {
    fn new(readers: &watch::Sender<usize>) -> CacheReader {
        readers.send_modify(|readers| *readers += 1);
        CacheReader(readers.clone())
    }
}

impl Drop for CacheReader {
    fn drop(&mut self) {
        self.0.send_modify(|readers| *readers -= 1);
    }
}

fn request(
    tool: String,
    arguments: Map<String, Value>,
    progress: Option<mpsc::Sender<Value>>,
    trace: Option<&TraceContext>,
) -> ClientRequest {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    let mut request = CallToolRequest::new(params);
    if progress.is_some() || trace.is_some() {
        let mut meta = RequestMeta {
            progress,
            ..RequestMeta::default()
        };
        if let Some(trace) = trace {
            meta.fields
                .insert("traceparent".to_owned(), Value::String(trace.to_string()));
            let state = trace.state.clone().map(Value::String);
            meta.fields
                .extend(state.map(|state| ("tracestate".to_owned(), state)));
        }
        request.extensions.insert(meta);
    }
    ClientRequest::CallToolRequest(request)
}

/// The text of a tool's result, unless the server asks for input.
fn result(connection: &Connection, raw: String, name: &str) -> Result<Box<RawValue>, UpstreamError> {
    const INPUT_REQUIRED: &str = "input_required";
    #[derive(serde::Deserialize)]
    struct ResultType<'a> {
        #[serde(rename = "resultType", borrow)]
        kind: Option<std::borrow::Cow<'a, str>>,
    }
    // The marker is rare: search the text first, and parse only if the marker occurs.
    let asks = raw.contains(INPUT_REQUIRED)
        && serde_json::from_str::<ResultType<'_>>(&raw)
            .is_ok_and(|kind| kind.kind.as_deref() == Some(INPUT_REQUIRED));
    if asks {
        let (server, request) = (connection.server.clone(), name.to_owned());
        return Err(UpstreamError::InputRequired { server, request });
    }
    connection.raw_object(raw, name)
}
