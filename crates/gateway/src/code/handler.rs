//! The MCP handler of the `code` surface: two tools, artifacts, both protocol eras, nothing that is not declared.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use policy::Policy;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    JsonObject, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::render::Manner;
use super::service::CodeService;
use super::{arguments, artifacts, render, tools};
use crate::stdio::Turn;

/// Between two progress notifications; well below the time after which clients give up.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// How long a client may keep the list of tools: it never changes while one codeyard runs.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// Methods that exist and fail to decode: their parameters are wrong, not their name.
const KNOWN_METHODS: [&str; 7] = [
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// One connection of a client that sees the `code` surface.
pub(crate) struct CodeHandler<S> {
    service: S,
    policy: Arc<Policy>,
    tools: Vec<Tool>,
    closed: CancellationToken,
}

impl<S: CodeService> CodeHandler<S> {
    /// `closed` ends everything that runs for this connection.
    pub(crate) fn new(service: S, policy: Arc<Policy>, closed: CancellationToken) -> Self {
        Self {
            service,
            policy,
            tools: tools::tools(),
            closed,
        }
    }

    async fn execute(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let code = arguments.get("code").and_then(|code| code.as_str());
        let arguments = match arguments::execute(arguments, &self.policy) {
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
        tokio::pin!(run);
        let mut begun = begin(context.extensions.get::<Turn>(), run.as_mut()).await;
        let progress = report_progress(&context.peer, context.meta.get_progress_token());
        tokio::pin!(progress);
        let ran = loop {
            if let Some(ran) = begun.take() {
                break ran;
            }
            tokio::select! {
                ran = &mut run => break ran,
                // A client that does not read its progress must not hold up the run, so this is a branch beside it.
                () = &mut progress => {}
                () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                () = self.closed.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
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

/// Begins a run when every earlier call of the connection has begun, so that a session's queue has the order in
/// which the client wrote. Returns what came of it if that is known at once.
async fn begin<R: Future>(turn: Option<&Turn>, mut run: Pin<&mut R>) -> Option<R::Output> {
    if let Some(turn) = turn {
        turn.come().await;
    }
    let begun = poll_fn(|context| Poll::Ready(run.as_mut().poll(context))).await;
    if let Some(turn) = turn {
        turn.take();
    }
    match begun {
        Poll::Ready(ran) => Some(ran),
        Poll::Pending => None,
    }
}

/// Tells the client that the run goes on, as long as it is polled; never ends.
async fn report_progress(peer: &Peer<RoleServer>, token: Option<ProgressToken>) {
    if let Some(token) = token {
        let start = tokio::time::Instant::now();
        let mut ticks = tokio::time::interval_at(start + PROGRESS_EVERY, PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let seconds = start.elapsed().as_secs_f64();
            let progress = ProgressNotificationParam::new(token.clone(), (seconds * 10.0).round() / 10.0)
                .with_message(format!("running for {seconds:.1} s"));
            if peer.notify_progress(progress).await.is_err() {
                break;
            }
        }
    }
    std::future::pending().await
}

fn not_found(method: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        format!("Method not found: {method}"),
        None,
    )
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
                if let Some(turn) = context.extensions.get::<Turn>() {
                    turn.take();
                }
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
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if KNOWN_METHODS.contains(&request.method.as_str()) {
            return Err(ErrorData::invalid_params(
                format!(
                    "Invalid params: `params` of {} is not as the protocol has it",
                    request.method
                ),
                None,
            ));
        }
        Err(not_found(&request.method))
    }

    // The library answers these with empty lists by default, as if the capability were declared.

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
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
