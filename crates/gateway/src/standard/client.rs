//! The client as upstream servers reach it: their questions, their notices, and that their lists have changed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, CustomNotification, CustomRequest, ProtocolVersion, ServerNotification, ServerRequest,
};
use rmcp::service::{Peer, RequestContext, ServiceError};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use upstream::{Answered, Client, Refusal};

use super::desk::Desk;

pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// Notices that wait for a client that does not read; further ones are dropped.
const NOTICES: usize = 256;

/// Questions of one server that wait for the client at once: one that asks without end must not fill its window.
pub(super) const MOST_QUESTIONS: usize = 16;

/// Questions of servers that are passed on, and the capability that a client declares for each.
const QUESTIONS: [(&str, &str); 3] = [
    ("elicitation/create", "elicitation"),
    ("sampling/createMessage", "sampling"),
    ("roots/list", "roots"),
];

/// How often each kind of list has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) tools: u64,
    pub(super) prompts: u64,
    pub(super) resources: u64,
}

/// Who the client is.
#[derive(Debug)]
struct Known {
    peer: Peer<RoleServer>,
    is_legacy: bool,
    /// What it declared when it opened the connection, or with its first request in the modern era.
    capabilities: Map<String, Value>,
}

/// The client of one connection.
#[derive(Debug)]
pub(crate) struct Downstream {
    known: OnceLock<Known>,
    /// Its requests under way, if it is one of the modern era.
    pub(super) desk: Arc<Desk>,
    /// Whether questions say which server asks.
    names_servers: AtomicBool,
    /// Places for questions, by server.
    questions: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// How much a client of the legacy era wants to hear of what servers log.
    log_level: Mutex<Option<String>>,
    notices: mpsc::Sender<ServerNotification>,
    pub(super) changes: watch::Sender<Changes>,
}

impl Downstream {
    /// The client, and the notices that [`forward`] sends it.
    pub(crate) fn new() -> (Arc<Self>, mpsc::Receiver<ServerNotification>) {
        let (notices, receiver) = mpsc::channel(NOTICES);
        let downstream = Self {
            known: OnceLock::new(),
            desk: Arc::default(),
            names_servers: AtomicBool::new(false),
            questions: Mutex::default(),
            log_level: Mutex::default(),
            notices,
            changes: watch::channel(Changes::default()).0,
        };
        (Arc::new(downstream), receiver)
    }

    /// Takes note of who it is, at any of its requests.
    pub(super) fn meet(&self, context: &RequestContext<RoleServer>) {
        self.known.get_or_init(|| {
            let peer = context.peer.clone();
            let info = peer.peer_info();
            let is_legacy = info
                .as_ref()
                .is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28);
            let capabilities = match &info {
                Some(info) if is_legacy => serde_json::to_value(&info.capabilities).unwrap_or_default(),
                _ => declared(&meta(context)),
            };
            let capabilities = match capabilities {
                Value::Object(capabilities) => capabilities,
                _ => Map::new(),
            };
            Known {
                peer,
                is_legacy,
                capabilities,
            }
        });
    }

    /// Says in questions which server asks, where there are several.
    pub(super) fn know(&self, servers: usize) {
        self.names_servers.store(servers > 1, Ordering::Relaxed);
    }

    fn is_legacy(&self) -> bool {
        self.known.get().is_some_and(|known| known.is_legacy)
    }

    /// Tells that lists have changed, in the way of the client's era.
    pub(super) fn changed(&self, change: impl FnOnce(&mut Changes)) {
        self.changes.send_modify(change);
    }

    /// Puts a question of a server to the client.
    pub(super) async fn put(
        &self,
        server: &str,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, Refusal> {
        let refused = |message: String| Refusal {
            code: METHOD_NOT_FOUND,
            message,
            data: None,
        };
        let Some((_, capability)) = QUESTIONS.iter().find(|(known, _)| *known == method) else {
            return Err(refused(format!("Method not found: {method}")));
        };
        let Some(known) = self.known.get() else {
            return Err(refused(format!("{method}: no client has asked anything yet")));
        };
        if known.is_legacy && !known.capabilities.contains_key(*capability) {
            return Err(refused(format!(
                "{method}: the client did not declare the capability '{capability}'"
            )));
        }
        let Ok(_place) = self.places(server).try_acquire_owned() else {
            return Err(refused(format!(
                "{method}: {MOST_QUESTIONS} questions of this server wait for the client already"
            )));
        };
        let params = params.map(|params| self.signed(server, &method, params));
        if !known.is_legacy {
            return self.desk.pose(server, capability, method, params).await;
        }
        let request = ServerRequest::CustomRequest(CustomRequest::new(method, params));
        match known.peer.send_request(request).await {
            Ok(result) => Ok(plain(&result)),
            Err(ServiceError::McpError(error)) => Err(Refusal {
                code: error.code.0,
                message: error.message.into_owned(),
                data: error.data,
            }),
            Err(error) => Err(Refusal {
                code: INTERNAL_ERROR,
                message: format!("the client could not be asked: {error}"),
                data: None,
            }),
        }
    }

    /// Places for the questions of that server.
    fn places(&self, server: &str) -> Arc<Semaphore> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let places = questions.entry(server.to_owned());
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(MOST_QUESTIONS))))
    }

    /// Notes how much it wants to hear of what servers log.
    pub(super) fn set_log_level(&self, level: String) {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// What a person reads says which server asks.
    fn signed(&self, server: &str, method: &str, mut params: Value) -> Value {
        let is_for_people = method == "elicitation/create" && self.names_servers.load(Ordering::Relaxed);
        if is_for_people && let Some(message) = params.get("message").and_then(Value::as_str) {
            params["message"] = json!(format!("{server}: {message}"));
        }
        params
    }
}

impl Client for Downstream {
    fn capabilities(&self) -> Map<String, Value> {
        let known = self.known.get();
        let relayed = QUESTIONS.iter().filter_map(|(_, capability)| {
            let declared = known?.capabilities.get(*capability)?;
            Some(((*capability).to_owned(), declared.clone()))
        });
        relayed.collect()
    }

    fn ask(&self, server: &str, method: String, params: Option<Value>) -> Answered<'_> {
        let server = server.to_owned();
        Box::pin(async move { self.put(&server, method, params).await })
    }

    fn log_level(&self) -> Option<String> {
        let level = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        level.clone()
    }

    fn tell(&self, server: &str, method: &str, params: &Value) {
        match method {
            "notifications/prompts/list_changed" => self.changed(|changes| changes.prompts += 1),
            "notifications/resources/list_changed" => self.changed(|changes| changes.resources += 1),
            // In the modern era only requests that say so are logged about, and a server of the legacy era does not know.
            "notifications/message" if !self.is_legacy() && !self.desk.wants_logs(server) => {}
            "notifications/message" | "notifications/resources/updated" => {
                let notice = CustomNotification::new(method, Some(params.clone()));
                if self
                    .notices
                    .try_send(ServerNotification::CustomNotification(notice))
                    .is_err()
                {
                    tracing::debug!(server, method, "dropped: the client does not read fast enough");
                }
            }
            _ => tracing::debug!(server, method, %params, "notification"),
        }
    }
}

/// Sends the client what servers say, and in the legacy era that lists have changed; never ends.
pub(crate) async fn forward(client: Arc<Downstream>, mut notices: mpsc::Receiver<ServerNotification>) {
    let mut changes = client.changes.subscribe();
    let mut told = Changes::default();
    loop {
        let news = tokio::select! {
            notice = notices.recv() => notice.into_iter().collect(),
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                let now = *changes.borrow_and_update();
                // In the modern era each subscription is told.
                let news = if client.is_legacy() { list_changes(told, now) } else { Vec::new() };
                told = now;
                news
            }
        };
        let Some(known) = client.known.get() else { continue };
        for notice in news {
            if known.peer.send_notification(notice).await.is_err() {
                return;
            }
        }
    }
}

fn list_changes(told: Changes, now: Changes) -> Vec<ServerNotification> {
    let kinds = [
        (told.tools != now.tools, "tools"),
        (told.prompts != now.prompts, "prompts"),
        (told.resources != now.resources, "resources"),
    ];
    let changed = kinds.into_iter().filter(|(changed, _)| *changed);
    changed
        .map(|(_, kind)| {
            let method = format!("notifications/{kind}/list_changed");
            ServerNotification::CustomNotification(CustomNotification::new(method, None))
        })
        .collect()
}

/// What came along with a request.
pub(super) fn meta(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    match serde_json::to_value(&context.meta) {
        Ok(Value::Object(meta)) => meta,
        _ => Map::new(),
    }
}

/// What a client of the modern era says with a request that it can do.
pub(super) fn declared(meta: &Map<String, Value>) -> Value {
    let declared = meta.get("io.modelcontextprotocol/clientCapabilities");
    declared.cloned().unwrap_or_default()
}

fn plain(result: &ClientResult) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}
