//! Whoever stands behind the hub and can be asked and told by servers: the client of the surface that passes them through.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, EmptyResult, ErrorCode, ErrorData, ServerNotification,
    ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::transport::Traffic;

/// The answer of a client to a question of a server: the result, or the error as JSON-RPC has it.
pub type Answered<'a> = Pin<Box<dyn Future<Output = Result<Value, Refusal>> + Send + 'a>>;

/// A client that servers can reach through the hub.
pub trait Client: Debug + Send + Sync {
    /// What servers that ask by requests of their own are told it can do: `ClientCapabilities` of the protocol.
    fn capabilities(&self) -> Map<String, Value>;

    /// Answers a request of a server.
    fn ask(&self, server: &str, method: String, params: Option<Value>) -> Answered<'_>;

    /// How much it wants to hear of what servers log, if it has said so: a level of the protocol.
    fn log_level(&self) -> Option<String>;

    /// Takes note of a notification of a server. Must not block.
    fn tell(&self, server: &str, method: &str, params: &Value);
}

/// An error as JSON-RPC has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// Its code.
    pub code: i32,
    /// Its words.
    pub message: String,
    /// What comes with it.
    pub data: Option<Value>,
}

/// While the client is asked, how often that counts as progress of what the server is asked.
const STILL_ASKING: Duration = Duration::from_millis(100);

/// The place of the client, empty on surfaces on which servers reach nobody.
pub(crate) type ClientSlot = Arc<OnceLock<Arc<dyn Client>>>;

/// What the client is said to be capable of.
pub(crate) fn capabilities(slot: &ClientSlot) -> Map<String, Value> {
    slot.get().map(|client| client.capabilities()).unwrap_or_default()
}

/// Answers what one server asks.
#[derive(Debug)]
pub(crate) struct Behind {
    pub(crate) server: String,
    pub(crate) config: ClientConfig,
    pub(crate) client: ClientSlot,
    pub(crate) traffic: Arc<Traffic>,
}

impl Service<RoleClient> for Behind {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        if matches!(request, ServerRequest::PingRequest(_)) {
            return Ok(ClientResult::EmptyResult(EmptyResult {}));
        }
        let mut request = serde_json::to_value(&request)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let params = request.get_mut("params").map(Value::take);
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        let Some(client) = self.client.get() else {
            // Nobody has roots, and some servers ask without having been told that anybody has.
            return if method == "roots/list" {
                Ok(ClientResult::CustomResult(CustomResult(json!({"roots": []}))))
            } else {
                Err(nobody(&method))
            };
        };
        let mut answer = client.ask(&self.server, method.clone(), params);
        // A server that waits for a person is not silent.
        let answer = loop {
            self.traffic.hold();
            tokio::select! {
                answer = &mut answer => break answer,
                // The server has taken it back, or is gone.
                () = context.ct.cancelled() => return Err(taken_back(&method)),
                () = sleep(STILL_ASKING) => {}
            }
        };
        answer
            .map(|result| ClientResult::CustomResult(CustomResult(result)))
            .map_err(|Refusal { code, message, data }| ErrorData::new(ErrorCode(code), message, data))
    }

    async fn handle_notification(
        &self,
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // Notifications never come so far: the pipes hand them to `Traffic`.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

fn taken_back(method: &str) -> ErrorData {
    ErrorData::internal_error(format!("{method}: nobody waits for the answer any more"), None)
}

fn nobody(method: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        format!("{method}: nobody behind codeyard can be asked here"),
        None,
    )
}
