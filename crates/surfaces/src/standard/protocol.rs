//! The MCP library's view of the surface: capabilities, undecoded requests, subscriptions.

use rmcp::model::{
    CustomRequest, CustomResult, ErrorData, Implementation, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};

use super::handler::StandardHandler;
use super::results;
use super::service::StandardService;
use crate::error::RequestError;
use crate::request::{self, is_modern};
use crate::surface::raw_result;

const INSTRUCTIONS: &str = "Tools, resources and prompts of the connected MCP servers. Where there are several servers, \
                            the name of a tool or prompt begins with that of its server.";

impl<S: StandardService> ServerHandler for StandardHandler<S> {
    #[expect(
        deprecated,
        reason = "logging is passed on for as long as clients and servers have it"
    )]
    fn get_info(&self) -> ServerConfig {
        // Declare every capability: this response starts no server, so the servers' capabilities are unknown.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("codeyard", env!("CARGO_PKG_VERSION")).with_title("Codeyard"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    /// Receives every relayed request: the surface's wire rules leave them undecoded.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.client.identify(&context);
        let CustomRequest { method, params, .. } = request;
        // Messages whose parameters are not an object are rejected earlier.
        let params = match params {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        let answer = tokio::select! {
            answer = self.answer(&method, params, &context) => answer?,
            () = request::cancelled(&context, &self.closed) => return Err(RequestError::Cancelled.into()),
        };
        let answer = if is_modern(&context) {
            results::with_modern_fields(&answer, &method)
        } else {
            answer
        };
        Ok(raw_result(answer))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        // Subscriptions to single resources are not relayed.
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.client.identify(subscription.request_context());
        self.expect_tool_change();
        let mut changes = self.client.changes.subscribe();
        let mut last = *changes.borrow_and_update();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = self.closed.cancelled() => return Ok(()),
                // The sender lives in `self`.
                _ = changes.changed() => {}
            }
            let current = *changes.borrow_and_update();
            let sink = subscription.sink();
            // `rmcp` drops notifications without a subscription.
            if last.tools != current.tools {
                let _ = sink.notify_tool_list_changed().await;
            }
            if last.prompts != current.prompts {
                let _ = sink.notify_prompt_list_changed().await;
            }
            if last.resources != current.resources {
                let _ = sink.notify_resource_list_changed().await;
            }
            last = current;
        }
    }
}
