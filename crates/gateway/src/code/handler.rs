//! The MCP handler of the `code` surface: two tools, artifacts, both protocol eras, nothing that is not declared.

use std::sync::Arc;

use policy::Policy;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;
use types::Answers;

use super::render::Manner;
use super::service::CodeService;
use super::{arguments, artifacts, render, tools};
use crate::running;

/// How long a client may keep the list of tools: it never changes while one codeyard runs.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// One connection of a client that sees the `code` surface.
pub(crate) struct CodeHandler<S> {
    service: S,
    policy: Arc<Policy>,
    answers: Answers,
    tools: Vec<Tool>,
    closed: CancellationToken,
}

impl<S: CodeService> CodeHandler<S> {
    /// `closed` ends everything that runs for this connection.
    pub(crate) fn new(service: S, policy: Arc<Policy>, answers: Answers, closed: CancellationToken) -> Self {
        Self {
            service,
            policy,
            answers,
            tools: tools::tools(),
            closed,
        }
    }

    async fn execute(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let code = arguments.get("code").and_then(|code| code.as_str());
        let arguments = match arguments::execute(arguments, &self.policy, self.answers) {
            Ok(arguments) => arguments,
            Err(bad) => {
                self.service.refused(code).await;
                return render::refused(bad.to_string());
            }
        };
        let manner = Manner {
            format: arguments.format,
            receipt: arguments.receipt,
            wall_time: arguments.request.granted.limits.wall_time,
        };
        let cancel = CancellationToken::new();
        let run = self.service.execute(arguments.request, cancel.clone());
        let ran = running::drive(context, &self.closed, cancel, run).await;
        match ran {
            Ok(ran) => render::executed(ran, manner),
            Err(not_executed) => render::refused(not_executed.to_string()),
        }
    }

    async fn search(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let request = match arguments::search(arguments) {
            Ok(request) => request,
            Err(bad) => return render::search_failed(bad.to_string()),
        };
        let ended = async {
            tokio::select! {
                () = context.ct.cancelled() => {}
                () = self.closed.cancelled() => {}
            }
        };
        tokio::select! {
            found = self.service.search(request) => match found {
                Ok(answer) => render::found(answer),
                Err(not_searched) => render::search_failed(not_searched.to_string()),
            },
            () = ended => render::search_failed("the search was cancelled".to_owned()),
        }
    }
}

impl<S: CodeService> ServerHandler for CodeHandler<S> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .build(),
        )
        .with_server_info(Implementation::new("codeyard", env!("CARGO_PKG_VERSION")).with_title("Codeyard"))
        .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            tools::EXECUTE => self.execute(&arguments, &context).await,
            tools::SEARCH => {
                running::leave(&context);
                self.search(&arguments, &context).await
            }
            other => {
                return Err(ErrorData::invalid_params(
                    format!(
                        "Unknown tool: {other}; there is {} and {}, and the connected tools are functions in {}",
                        tools::EXECUTE,
                        tools::SEARCH,
                        tools::EXECUTE
                    ),
                    None,
                ));
            }
        };
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
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.service.artifacts().await;
        let listed = listed.map_err(|not_listed| ErrorData::internal_error(not_listed.to_string(), None))?;
        artifacts::page(&listed, page.and_then(|page| page.cursor).as_deref())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(artifacts::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let named = artifacts::parse(&uri).ok_or_else(|| artifacts::not_found(&uri))?;
        let (session, path) = (named.session.clone(), named.path.clone());
        match self
            .service
            .read_artifact(session, path, artifacts::LARGEST)
            .await
        {
            Ok(content) => Ok(artifacts::contents(&uri, &named, &content).into()),
            Err(error) => Err(artifacts::not_read(&uri, &error)),
        }
    }
}
