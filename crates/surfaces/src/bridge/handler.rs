//! The MCP handler of the `bridge` surface: one tool, one resource, both protocol eras.

use std::sync::Arc;
use std::time::Duration;

use accounting::{DirectCost, ReceiptForm, ReceiptInput, SearchTexts};
use policy::Policy;
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
use types::{Appearance, CheckMode, Granted, Reach, Results, RunId, RunProfile, RunSpec, Usage, Validation};

use super::arguments;
use super::render::{self, Output};
use super::service::{BridgeService, Selected};
use super::tools::{self, Timeouts};
use crate::error::{RequestError, RunError};
use crate::execute::{Execute, SearchCounts};
use crate::paused_calls::PausedCalls;
use crate::receipt;
use crate::surface::{Surface, WireRules};
use crate::{progress, request, truncate};

/// Time for which a client may cache the lists, which never change in one process.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// Settings of the `bridge` surface.
#[derive(Debug, Clone)]
pub struct BridgeConfig {
    /// Bounds of the run time.
    pub timeouts: Timeouts,
    /// The form of answers.
    pub output: Output,
    /// Maximum bytes of program output in an answer.
    pub max_printed: u64,
    /// Whether runs have receipts.
    pub receipt: bool,
    /// The policy that decides what a run may use.
    pub policy: Arc<Policy>,
}

/// The `bridge` surface for one client. `closed` ends every run of the client.
pub fn bridge<S: BridgeService>(
    service: S,
    config: BridgeConfig,
    closed: CancellationToken,
) -> Surface<impl ServerHandler> {
    Surface {
        handler: BridgeHandler {
            calls: Arc::new(BridgeCalls {
                service,
                tool: tools::tool(config.timeouts),
                config,
                closed,
            }),
            paused: PausedCalls::default(),
        },
        wire: WireRules::PROGRAMS,
        background: Box::pin(std::future::pending()),
    }
}

struct BridgeHandler<S> {
    calls: Arc<BridgeCalls<S>>,
    paused: PausedCalls,
}

/// Answers the calls of the tool.
struct BridgeCalls<S> {
    service: S,
    config: BridgeConfig,
    tool: Tool,
    closed: CancellationToken,
}

impl<S: BridgeService> BridgeCalls<S> {
    async fn run(&self, written: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let output = self.config.output;
        let code = written.get("code").and_then(|code| code.as_str());
        let arguments = match arguments::read(written) {
            Ok(arguments) => arguments,
            Err(bad) => {
                self.service.refused(code).await;
                return render::invalid(&bad.to_string(), output);
            }
        };
        // Look up servers in the order of the client's calls.
        request::turn(context).await;
        let selected = tokio::select! {
            selected = self.service.select(&arguments.servers) => selected,
            () = request::cancelled(context, &self.closed) => Err(RunError::Cancelled),
        };
        let servers = match selected {
            Ok(servers) => servers,
            Err(error) => {
                self.service.refused(code).await;
                return render::failed(&error.to_string(), output);
            }
        };
        let names = servers.names.clone();
        // A policy may allow less than a second.
        let timeout = self.config.timeouts.clamp(arguments.timeout);
        let timeout = timeout.min(self.config.policy.longest());
        let request = match self.described(arguments.code, servers, timeout) {
            Ok(request) => Execute {
                trace: request::trace(context),
                ..request
            },
            Err(error) => {
                self.service.refused(code).await;
                return render::failed(&error.to_string(), output);
            }
        };
        let cancel = CancellationToken::new();
        let (client, watched) = progress::client(context);
        let run = self.service.run_python(request, cancel.clone(), client);
        match progress::drive(context, &self.closed, cancel, watched, run).await {
            Ok(mut ran) => {
                let (run, usage, direct) = (ran.run_id.clone(), ran.outcome.usage, ran.direct.take());
                truncate::output(&mut ran.outcome, self.config.max_printed);
                let mut result = render::ran(ran, &names, timeout, output);
                if let Some(direct) = direct {
                    self.add_receipt(&mut result, &run, usage, written, direct).await;
                }
                result
            }
            Err(error) => render::failed(&error.to_string(), output),
        }
    }

    /// The run's specification. On this surface the servers check call arguments, as with the replaced bridge.
    fn described(&self, code: String, servers: Selected, timeout: Duration) -> Result<Execute, RunError> {
        let mut limits = self.config.policy.limits_within(Some(timeout))?;
        limits.output = limits.output.min(self.config.max_printed);
        let granted = Granted {
            limits,
            named: Vec::new(),
        };
        Ok(Execute {
            spec: RunSpec::python(code, granted),
            profile: RunProfile {
                check: CheckMode::Off,
                results: Results::Whole,
                validate: Validation::ByServer,
                reach: Reach::Only(servers.names),
                appearance: Appearance::Bridge(servers.told),
            },
            receipt: self.config.receipt,
            searched: SearchCounts::default(),
            trace: None,
        })
    }

    async fn add_receipt(
        &self,
        result: &mut CallToolResult,
        run: &RunId,
        usage: Usage,
        written: &JsonObject,
        direct: DirectCost,
    ) {
        let input = ReceiptInput {
            tools: vec![json!(self.tool)],
            instructions: "",
            written: Value::Object(written.clone()).to_string(),
            read: receipt::texts(result),
            searches: SearchTexts::default(),
            direct,
            usage,
            form: ReceiptForm::Lines,
        };
        if let Some(receipt) = self.service.receipt(run, input).await {
            receipt::add(&receipt, result, &usage, ReceiptForm::Lines);
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
        // The list must not be cached publicly: environment variables of this process set the bounds of `timeout`.
        Ok(ListToolsResult::with_all_items(vec![self.calls.tool.clone()])
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == tools::RUN).then(|| self.calls.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != tools::RUN {
            request::release(&context);
            return Ok(render::unknown_tool(&request.name, self.calls.config.output).into());
        }
        let calls = Arc::clone(&self.calls);
        let run = async move |arguments: JsonObject, context: RequestContext<RoleServer>| {
            request::catch_panic(calls.run(&arguments, &context)).await
        };
        Ok(self.paused.answer(request, &context, run).await?)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(request::not_understood(&request.method, &context).into())
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
            return Err(RequestError::UnknownResource(request.uri).into());
        }
        let contents =
            ResourceContents::text(tools::CAPABILITIES, request.uri).with_mime_type("text/markdown");
        Ok(ReadResourceResult::new(vec![contents])
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public)
            .into())
    }
}
