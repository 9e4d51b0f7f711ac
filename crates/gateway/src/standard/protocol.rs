//! What the MCP library wants of the handler: what is offered, where requests go in, subscriptions.

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
use crate::running::is_modern;

const INSTRUCTIONS: &str = "Tools, resources and prompts of the connected MCP servers. Where there are several servers, \
                            the name of a tool or prompt begins with that of its server.";

impl<S: StandardService> ServerHandler for StandardHandler<S> {
    #[expect(
        deprecated,
        reason = "logging is passed on for as long as clients and servers have it"
    )]
    fn get_info(&self) -> ServerConfig {
        // What the servers offer is not known yet, and none is started for this answer.
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

    /// Every request that is passed on comes here, because the transport leaves its parameters as they are.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.client.meet(&context);
        let CustomRequest { method, params, .. } = request;
        // The transport refuses parameters that are no object.
        let params = match params {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        let answer = tokio::select! {
            answer = self.answer(&method, params, &context) => answer?,
            () = context.ct.cancelled() => return Err(cancelled()),
            () = self.closed.cancelled() => return Err(cancelled()),
        };
        let answer = if is_modern(&context) {
            results::modern(&answer, &method)
        } else {
            answer
        };
        // The transport writes a text out as what it holds.
        Ok(CustomResult(Value::String(answer)))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        // That is not asked of servers in this way.
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.client.meet(subscription.request_context());
        self.expect_change_of_tools();
        let mut changes = self.client.changes.subscribe();
        let mut told = *changes.borrow_and_update();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = self.closed.cancelled() => return Ok(()),
                // The sender lives in `self`.
                _ = changes.changed() => {}
            }
            let now = *changes.borrow_and_update();
            let sink = subscription.sink();
            // What was not subscribed to is refused by the library, which is as well.
            if told.tools != now.tools {
                let _ = sink.notify_tool_list_changed().await;
            }
            if told.prompts != now.prompts {
                let _ = sink.notify_prompt_list_changed().await;
            }
            if told.resources != now.resources {
                let _ = sink.notify_resource_list_changed().await;
            }
            told = now;
        }
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
