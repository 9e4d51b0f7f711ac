//! The client behind the hub: it answers requests of servers and receives their notifications.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

/// The client's answer to a request of a server: a result, or a JSON-RPC error.
pub type ClientResponse<'a> = Pin<Box<dyn Future<Output = Result<Value, JsonRpcError>> + Send + 'a>>;

/// A client that servers can reach through the hub.
pub trait DownstreamClient: Debug + Send + Sync {
    /// The protocol's `ClientCapabilities`, which servers receive in the handshake.
    fn capabilities(&self) -> Map<String, Value>;

    /// Answers a request of a server.
    fn ask(&self, server: &str, method: String, params: Option<Value>) -> ClientResponse<'_>;

    /// The protocol's log level, if the client has set one.
    fn log_level(&self) -> Option<String>;

    /// Receives a notification of a server. Must not block.
    fn tell(&self, server: &str, method: &str, params: &Value);
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonRpcError {
    /// The error code of JSON-RPC.
    pub code: i32,
    /// The error message.
    pub message: String,
    /// Further data of the error.
    pub data: Option<Value>,
}

/// Empty until a client attaches; surfaces that do not pass on servers' requests leave the slot empty.
pub type ClientSlot = Arc<OnceLock<Arc<dyn DownstreamClient>>>;

pub(crate) fn capabilities(slot: &ClientSlot) -> Map<String, Value> {
    slot.get().map(|client| client.capabilities()).unwrap_or_default()
}
