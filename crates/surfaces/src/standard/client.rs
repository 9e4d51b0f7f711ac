//! Relays upstream servers' requests, notifications and list changes to the client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{CustomNotification, CustomRequest, ProtocolVersion, ServerNotification, ServerRequest};
use rmcp::service::{Peer, RequestContext, ServiceError};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use upstream_wire::{ClientResponse, DownstreamClient};

use super::input_router::{InputError, InputRouter, MAX_INPUT_REQUESTS};
use crate::request::{declared_capabilities, meta};

/// Limit on queued notifications of a client that does not read; further notifications are dropped.
const NOTIFICATION_QUEUE: usize = 256;

/// Requests of servers that are relayed, with the client capability that each needs.
const INPUT_METHODS: [(&str, &str); 3] = [
    ("elicitation/create", "elicitation"),
    ("sampling/createMessage", "sampling"),
    ("roots/list", "roots"),
];

/// Counts changes of each kind of list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) tools: u64,
    pub(super) prompts: u64,
    pub(super) resources: u64,
}

/// The client, as its first request identifies it.
#[derive(Debug)]
struct ClientIdentity {
    peer: Peer<RoleServer>,
    is_legacy: bool,
    /// Capabilities that the client declared, by `initialize` or, in the modern era, by the first request.
    capabilities: Map<String, Value>,
}

#[derive(Debug)]
pub(super) struct Downstream {
    identity: OnceLock<ClientIdentity>,
    /// Open requests of a client of the modern era.
    pub(super) input_router: Arc<InputRouter>,
    /// Whether a question for a person names the server that asks.
    names_servers: AtomicBool,
    /// Limits each server's pending requests for input.
    input_slots: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// Set by a client of the legacy era.
    log_level: Mutex<Option<String>>,
    notifications: mpsc::Sender<ServerNotification>,
    pub(super) changes: watch::Sender<Changes>,
}

impl Downstream {
    /// The client, and the notifications for [`forward`] to send.
    pub(super) fn new() -> (Arc<Self>, mpsc::Receiver<ServerNotification>) {
        let (notifications, receiver) = mpsc::channel(NOTIFICATION_QUEUE);
        let downstream = Self {
            identity: OnceLock::new(),
            input_router: Arc::default(),
            names_servers: AtomicBool::new(false),
            input_slots: Mutex::default(),
            log_level: Mutex::default(),
            notifications,
            changes: watch::channel(Changes::default()).0,
        };
        (Arc::new(downstream), receiver)
    }

    /// Stores the client's identity from its first request; later calls do nothing.
    pub(super) fn identify(&self, context: &RequestContext<RoleServer>) {
        self.identity.get_or_init(|| {
            let peer = context.peer.clone();
            let info = peer.peer_info();
            let is_legacy = info
                .as_ref()
                .is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28);
            let capabilities = match &info {
                Some(info) if is_legacy => serde_json::to_value(&info.capabilities).unwrap_or_default(),
                _ => declared_capabilities(&meta(context)),
            };
            let capabilities = match capabilities {
                Value::Object(capabilities) => capabilities,
                _ => Map::new(),
            };
            ClientIdentity {
                peer,
                is_legacy,
                capabilities,
            }
        });
    }

    /// Sets the number of servers. With several servers, a question for a person names the server that asks.
    pub(super) fn set_server_count(&self, servers: usize) {
        self.names_servers.store(servers > 1, Ordering::Relaxed);
    }

    fn is_legacy(&self) -> bool {
        self.identity.get().is_some_and(|client| client.is_legacy)
    }

    /// Notifies the client of changed lists by its era's rules.
    pub(super) fn changed(&self, change: impl FnOnce(&mut Changes)) {
        self.changes.send_modify(change);
    }

    /// Asks the client on behalf of a server.
    pub(super) async fn ask_client(
        &self,
        server: &str,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, InputError> {
        let Some((_, capability)) = INPUT_METHODS.iter().find(|(known, _)| *known == method) else {
            return Err(InputError::UnknownMethod(method));
        };
        let Some(client) = self.identity.get() else {
            return Err(InputError::NoClient(method));
        };
        if client.is_legacy && !client.capabilities.contains_key(*capability) {
            return Err(InputError::NotDeclared { method, capability });
        }
        let Ok(_slot) = self.slots(server).try_acquire_owned() else {
            return Err(InputError::TooMany(method));
        };
        let params = params.map(|params| self.signed(server, &method, params));
        if !client.is_legacy {
            return self.input_router.ask(server, capability, method, params).await;
        }
        let request = ServerRequest::CustomRequest(CustomRequest::new(method, params));
        match client.peer.send_request(request).await {
            Ok(result) => Ok(serde_json::to_value(&result).unwrap_or_default()),
            Err(ServiceError::McpError(error)) => Err(InputError::Declined(error)),
            Err(error) => Err(InputError::Unreachable(error)),
        }
    }

    fn slots(&self, server: &str) -> Arc<Semaphore> {
        let mut slots = self.input_slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = slots.entry(server.to_owned());
        Arc::clone(slots.or_insert_with(|| Arc::new(Semaphore::new(MAX_INPUT_REQUESTS))))
    }

    pub(super) fn set_log_level(&self, level: String) {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Adds the server's name to a question for a person.
    fn signed(&self, server: &str, method: &str, mut params: Value) -> Value {
        let is_for_people = method == "elicitation/create" && self.names_servers.load(Ordering::Relaxed);
        if is_for_people && let Some(message) = params.get("message").and_then(Value::as_str) {
            params["message"] = json!(format!("{server}: {message}"));
        }
        params
    }
}

impl DownstreamClient for Downstream {
    fn capabilities(&self) -> Map<String, Value> {
        let client = self.identity.get();
        let relayed = INPUT_METHODS.iter().filter_map(|(_, capability)| {
            let declared = client?.capabilities.get(*capability)?;
            Some(((*capability).to_owned(), declared.clone()))
        });
        relayed.collect()
    }

    fn ask(&self, server: &str, method: String, params: Option<Value>) -> ClientResponse<'_> {
        let server = server.to_owned();
        Box::pin(async move { Ok(self.ask_client(&server, method, params).await?) })
    }

    fn log_level(&self) -> Option<String> {
        let level = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        level.clone()
    }

    fn tell(&self, server: &str, method: &str, params: &Value) {
        match method {
            "notifications/prompts/list_changed" => self.changed(|changes| changes.prompts += 1),
            "notifications/resources/list_changed" => self.changed(|changes| changes.resources += 1),
            // A modern request states whether it wants log messages; a legacy server does not know this.
            "notifications/message" if !self.is_legacy() && !self.input_router.wants_logs(server) => {}
            "notifications/message" | "notifications/resources/updated" => {
                let notification = CustomNotification::new(method, Some(params.clone()));
                if self
                    .notifications
                    .try_send(ServerNotification::CustomNotification(notification))
                    .is_err()
                {
                    tracing::debug!(server, method, "dropped: the client does not read fast enough");
                }
            }
            _ => tracing::debug!(server, method, %params, "notification"),
        }
    }
}

/// Sends servers' notifications, and in the legacy era list changes. Never ends.
pub(super) async fn forward(client: Arc<Downstream>, mut notifications: mpsc::Receiver<ServerNotification>) {
    let mut changes = client.changes.subscribe();
    let mut last = Changes::default();
    loop {
        let outgoing = tokio::select! {
            notification = notifications.recv() => notification.into_iter().collect(),
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                let current = *changes.borrow_and_update();
                // In the modern era each subscription reports changes.
                let outgoing = if client.is_legacy() { list_changes(last, current) } else { Vec::new() };
                last = current;
                outgoing
            }
        };
        let Some(identity) = client.identity.get() else {
            continue;
        };
        for notification in outgoing {
            if identity.peer.send_notification(notification).await.is_err() {
                return;
            }
        }
    }
}

fn list_changes(last: Changes, current: Changes) -> Vec<ServerNotification> {
    let kinds = [
        (last.tools != current.tools, "tools"),
        (last.prompts != current.prompts, "prompts"),
        (last.resources != current.resources, "resources"),
    ];
    let changed = kinds.into_iter().filter(|(changed, _)| *changed);
    changed
        .map(|(_, kind)| {
            let method = format!("notifications/{kind}/list_changed");
            ServerNotification::CustomNotification(CustomNotification::new(method, None))
        })
        .collect()
}
