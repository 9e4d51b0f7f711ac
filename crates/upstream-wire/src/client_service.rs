//! Passes the requests of one server to the attached client; without a client, refuses them.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, EmptyResult, ErrorCode, ErrorData, ServerNotification,
    ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::{ClientSlot, JsonRpcError};
use crate::notifications::Notifications;

/// How often the idle limits of the server's own requests are extended while the client answers.
const EXTENSION_INTERVAL: Duration = Duration::from_millis(100);

/// The MCP library's client for one server.
#[derive(Debug)]
pub struct ClientService {
    pub(crate) server: String,
    pub(crate) config: ClientConfig,
    pub(crate) client: ClientSlot,
    pub(crate) notifications: Arc<Notifications>,
}

impl Service<RoleClient> for ClientService {
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
            // Some servers ask for roots although no client has announced any.
            return if method == "roots/list" {
                Ok(ClientResult::CustomResult(CustomResult(json!({"roots": []}))))
            } else {
                Err(no_client(&method))
            };
        };
        let mut answer = client.ask(&self.server, method.clone(), params);
        // A server that waits for a person is not idle.
        let answer = loop {
            self.notifications.extend_idle_limits();
            tokio::select! {
                answer = &mut answer => break answer,
                // The server has cancelled its request, or has ended.
                () = context.ct.cancelled() => return Err(cancelled(&method)),
                () = sleep(EXTENSION_INTERVAL) => {}
            }
        };
        answer
            .map(|result| ClientResult::CustomResult(CustomResult(result)))
            .map_err(|JsonRpcError { code, message, data }| ErrorData::new(ErrorCode(code), message, data))
    }

    async fn handle_notification(
        &self,
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // The transport hands notifications to `Notifications`; none arrives here.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

fn cancelled(method: &str) -> ErrorData {
    ErrorData::internal_error(format!("{method}: nobody waits for the answer any more"), None)
}

fn no_client(method: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        format!("{method}: nobody behind codeyard can be asked here"),
        None,
    )
}
