//! The variable parts of the tool list: server names and exposed upstream tools.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ProtocolVersion, Tool};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::service::{CodeService, ExposedTool};
use super::{render, tools};
use crate::tool_names::prefixed;

/// Stores the list last sent to the client, and notifies the client of changes.
#[derive(Debug, Default)]
pub(super) struct ToolListTracker {
    last: Mutex<ToolList>,
    /// Set by the client's first `tools/list`; holds `None` for a client that subscribes to changes instead.
    client: OnceLock<Option<Peer<RoleServer>>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ToolList {
    /// Servers that the definitions name.
    pub(super) servers: Vec<String>,
    /// Upstream tools beside the surface's own.
    pub(super) exposed: Vec<ExposedTool>,
}

impl ToolList {
    pub(super) async fn current<S: CodeService>(service: &S) -> Self {
        Self {
            servers: service.server_names().await,
            exposed: service.exposed().await,
        }
    }
}

impl ToolListTracker {
    /// All tools, under the names by which clients call them.
    pub(super) async fn list<S: CodeService>(
        &self,
        service: &S,
        context: &RequestContext<RoleServer>,
    ) -> Vec<Tool> {
        let list = ToolList::current(service).await;
        self.client.get_or_init(|| {
            let peer = context.peer.clone();
            let info = peer.peer_info();
            let is_legacy = info.is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28);
            is_legacy.then_some(peer)
        });
        let tools = tools::tools(&list.servers);
        let exposed = exposed_definitions(&list.exposed).into_iter();
        let exposed = exposed.filter_map(|definition| serde_json::from_value(definition).ok());
        let tools = tools.into_iter().chain(exposed).collect();
        *self.last() = list;
        tools
    }

    /// The exposed tool with this client name.
    pub(super) async fn find<S: CodeService>(&self, service: &S, name: &str) -> Option<ExposedTool> {
        let exposed = service.exposed().await;
        let index = names(&exposed).iter().position(|known| known == name)?;
        exposed.into_iter().nth(index)
    }

    /// Notifies the client when the list differs from the list last sent. Never ends.
    pub(super) async fn watch<S: CodeService>(self: Arc<Self>, service: Arc<S>) {
        let mut listed = service.listed();
        while listed.changed().await.is_ok() {
            let Some(Some(client)) = self.client.get() else {
                continue;
            };
            let list = ToolList::current(service.as_ref()).await;
            let has_changed = *self.last() != list;
            if has_changed {
                *self.last() = list;
                if client.notify_tool_list_changed().await.is_err() {
                    break;
                }
            }
        }
        std::future::pending().await
    }

    fn last(&self) -> std::sync::MutexGuard<'_, ToolList> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls an exposed tool. A failure becomes a tool error.
pub(super) async fn call<S: CodeService>(
    service: &S,
    exposed: ExposedTool,
    arguments: Map<String, Value>,
    cancel: CancellationToken,
) -> CallToolResult {
    let tool = format!("{}.{}", exposed.server, exposed.definition.name);
    match service.call_exposed(&tool, arguments, cancel).await {
        Ok(answer) => serde_json::from_value(answer)
            .unwrap_or_else(|_| render::refused(format!("the answer of {tool} is not a tool result"))),
        Err(error) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(error.to_string())]);
            result.is_error = Some(true);
            result
        }
    }
}

fn names(exposed: &[ExposedTool]) -> Vec<String> {
    let pairs: Vec<(&str, &str)> = exposed
        .iter()
        .map(|exposed| (exposed.alias.as_str(), exposed.definition.name.as_str()))
        .collect();
    prefixed(&pairs, &[tools::EXECUTE, tools::SEARCH])
}

/// Definitions of exposed tools as their servers sent them, under the clients' names.
pub fn exposed_definitions(exposed: &[ExposedTool]) -> Vec<Value> {
    let named = exposed.iter().zip(names(exposed));
    named
        .map(|(exposed, name)| {
            // The catalog only accepts valid JSON.
            let mut definition: Value =
                serde_json::from_str(exposed.definition.definition().get()).unwrap_or_default();
            definition["name"] = json!(name);
            definition
        })
        .collect()
}
