//! The MCP handler of the `bridge` surface: one tool, one resource, both protocol eras.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use types::{RunId, Usage};

use super::arguments;
use super::render::{self, Output};
use super::service::{BridgeService, RunPython};
use super::tools::{self, Timeouts};
use crate::code::NotExecuted;
use crate::printed;
use crate::receipt::{self, DirectCost, Form, Material, Receipt, Receipts, Searched};
use crate::running;

/// How long a client may keep the lists: they never change while one codeyard runs.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// What is said of a call that its client has given up.
const CANCELLED: &str = "Execution was cancelled";

/// One connection of a client that sees the `bridge` surface.
pub(crate) struct BridgeHandler<S> {
    service: S,
    timeouts: Timeouts,
    output: Output,
    /// Bytes that are shown of what a program printed.
    printed: u64,
    receipts: Receipts,
    tool: Tool,
    closed: CancellationToken,
}

impl<S: BridgeService> BridgeHandler<S> {
    /// `closed` ends everything that runs for this connection.
    pub(crate) fn new(
        service: S,
        timeouts: Timeouts,
        (output, printed): (Output, u64),
        receipts: Receipts,
        closed: CancellationToken,
    ) -> Self {
        Self {
            service,
            timeouts,
            output,
            printed,
            receipts,
            tool: tools::tool(timeouts),
            closed,
        }
    }

    async fn run(&self, written: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let code = written.get("code").and_then(|code| code.as_str());
        let arguments = match arguments::read(written) {
            Ok(arguments) => arguments,
            Err(bad) => {
                self.service.not_run(code).await;
                return render::invalid(&bad.to_string(), self.output);
            }
        };
        // What a server's name means is decided in the order in which the client wrote.
        running::turn(context).await;
        let selected = tokio::select! {
            selected = self.service.select(&arguments.servers) => selected,
            () = context.ct.cancelled() => Err(NotExecuted(CANCELLED.to_owned())),
            () = self.closed.cancelled() => Err(NotExecuted(CANCELLED.to_owned())),
        };
        let servers = match selected {
            Ok(servers) => servers,
            Err(not_selected) => {
                self.service.not_run(code).await;
                return render::failed(&not_selected.to_string(), self.output);
            }
        };
        let named = servers.names.clone();
        let timeout = self.timeouts.clamp(arguments.timeout);
        let request = RunPython {
            code: arguments.code,
            servers,
            timeout,
            receipt: self.receipts.default,
        };
        let cancel = CancellationToken::new();
        let (activity, watched) = running::activity(context);
        let run = self.service.run_python(request, cancel.clone(), activity);
        match running::drive(context, &self.closed, cancel, watched, run).await {
            Ok(mut ran) => {
                let (run, usage, direct) = (ran.run_id.clone(), ran.outcome.usage, ran.direct.take());
                printed::bound(&mut ran.outcome, self.printed);
                let mut result = render::ran(ran, &named, timeout, self.output);
                if let Some(direct) = direct {
                    self.add_receipt(&mut result, &run, usage, written, direct).await;
                }
                result
            }
            Err(not_executed) => render::failed(&not_executed.to_string(), self.output),
        }
    }

    /// Says below an answer what it cost.
    async fn add_receipt(
        &self,
        result: &mut CallToolResult,
        run: &RunId,
        usage: Usage,
        written: &JsonObject,
        direct: DirectCost,
    ) {
        let material = Material {
            tools: json!([self.tool]),
            instructions: "",
            written: Value::Object(written.clone()).to_string(),
            read: receipt::texts(result),
            searched: Searched::default(),
            direct,
            usage,
            form: Form::Lines,
        };
        if let Some(receipt) = Receipt::take(self.receipts.counter.clone(), material).await {
            self.service.receipt(run, &receipt);
            receipt.add_to(result, &usage, Form::Lines);
        }
    }
}

impl<S: BridgeService> ServerHandler for BridgeHandler<S> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .build(),
        )
        .with_server_info(Implementation::new("codeyard", env!("CARGO_PKG_VERSION")).with_title("Codeyard"))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // Its bounds are those of this process's variables.
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()])
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == tools::RUN).then(|| self.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != tools::RUN {
            running::leave(&context);
            return Ok(render::unknown_tool(&request.name, self.output).into());
        }
        let arguments = request.arguments.unwrap_or_default();
        let result = running::answered(self.run(&arguments, &context)).await?;
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(running::not_understood(
            &request.method,
            running::is_modern(&context),
        ))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![tools::capabilities()])
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(Vec::new())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != tools::CAPABILITIES_URI {
            let message = format!("Unknown resource: {}", request.uri);
            return Err(ErrorData::invalid_params(
                message,
                Some(json!({"uri": request.uri})),
            ));
        }
        let contents =
            ResourceContents::text(tools::CAPABILITIES, request.uri).with_mime_type("text/markdown");
        Ok(ReadResourceResult::new(vec![contents])
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public)
            .into())
    }
}
