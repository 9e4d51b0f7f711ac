//! What clients see that may change: names of servers, and tools beside the two that the operator has named.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ProtocolVersion, Tool};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Map, Value, json};

use super::service::{CodeService, Exposed};
use super::{render, tools};
use crate::standard::exposed_names;

/// What a client was shown last that may change, and how it is told of changes.
#[derive(Debug, Default)]
pub(crate) struct Showcase {
    shown: Mutex<Shown>,
    /// The client, once it has listed tools, if it takes notices of changes without asking for them.
    client: OnceLock<Option<Peer<RoleServer>>>,
}

/// What a client sees that may change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The servers that the definitions name.
    pub(super) servers: Vec<String>,
    /// The tools beside the two.
    pub(super) exposed: Vec<Exposed>,
}

impl Shown {
    pub(super) async fn now<S: CodeService>(service: &S) -> Self {
        Self {
            servers: service.server_names().await,
            exposed: service.exposed().await,
        }
    }
}

impl Showcase {
    /// All tools as the client sees them, under the names that it calls them by.
    pub(super) async fn list<S: CodeService>(
        &self,
        service: &S,
        context: &RequestContext<RoleServer>,
    ) -> Vec<Tool> {
        let shown = Shown::now(service).await;
        self.client.get_or_init(|| {
            let peer = context.peer.clone();
            let info = peer.peer_info();
            let is_legacy = info.is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28);
            is_legacy.then_some(peer)
        });
        let tools = tools::tools(&shown.servers);
        let tools = tools.into_iter().chain(listed(&shown.exposed)).collect();
        *self.shown() = shown;
        tools
    }

    /// The tool that a client calls by this name.
    pub(super) async fn find<S: CodeService>(&self, service: &S, name: &str) -> Option<Exposed> {
        let exposed = service.exposed().await;
        let place = names(&exposed).iter().position(|known| known == name)?;
        exposed.into_iter().nth(place)
    }

    /// Tells the client when the tools are others than those that it was shown last; never ends.
    pub(crate) async fn watch<S: CodeService>(self: Arc<Self>, service: Arc<S>) {
        let mut listed = service.listed();
        while listed.changed().await.is_ok() {
            let Some(Some(client)) = self.client.get() else {
                continue;
            };
            let now = Shown::now(service.as_ref()).await;
            let has_changed = *self.shown() != now;
            if has_changed {
                *self.shown() = now;
                if client.notify_tool_list_changed().await.is_err() {
                    break;
                }
            }
        }
        std::future::pending().await
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls one; a failure is told as the tool's own.
pub(super) async fn call<S: CodeService>(
    service: &S,
    exposed: Exposed,
    arguments: Map<String, Value>,
) -> CallToolResult {
    let tool = format!("{}.{}", exposed.server, exposed.definition.name);
    match service.call_exposed(&tool, arguments).await {
        Ok(answer) => serde_json::from_value(answer)
            .unwrap_or_else(|_| render::refused(format!("the answer of {tool} is none of a tool"))),
        Err(not_executed) => {
            let mut result =
                CallToolResult::success(vec![rmcp::model::ContentBlock::text(not_executed.to_string())]);
            result.is_error = Some(true);
            result
        }
    }
}

fn names(exposed: &[Exposed]) -> Vec<String> {
    let pairs: Vec<(&str, &str)> = exposed
        .iter()
        .map(|exposed| (exposed.alias.as_str(), exposed.definition.name.as_str()))
        .collect();
    exposed_names(&pairs, &[tools::EXECUTE, tools::SEARCH])
}

/// The tools as a client sees them.
pub(super) fn listed(exposed: &[Exposed]) -> Vec<Tool> {
    let definitions = exposed_definitions(exposed).into_iter();
    definitions
        .filter_map(|definition| serde_json::from_value(definition).ok())
        .collect()
}

/// The definitions of exposed tools as their servers sent them, each under the name that a client calls it by.
pub fn exposed_definitions(exposed: &[Exposed]) -> Vec<Value> {
    let named = exposed.iter().zip(names(exposed));
    named
        .map(|(exposed, name)| {
            // What was kept as a definition has been read before.
            let mut definition: Value =
                serde_json::from_str(exposed.definition.definition().get()).unwrap_or_default();
            definition["name"] = json!(name);
            definition
        })
        .collect()
}
