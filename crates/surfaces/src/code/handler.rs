//! The MCP handler of the `code` surface: two tools, artifacts, both protocol eras.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use accounting::{DirectCost, ReceiptForm, ReceiptInput, SearchTexts, Tokenizer, surface_tokens};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use types::{Answers, Format, Status};
use workspace::ReadError;

use super::config::{CodeConfig, ToolListing};
use super::render::RenderOptions;
use super::service::CodeService;
use super::tool_list::{self, ToolList, ToolListTracker};
use super::{arguments, artifacts, render, tools};
use crate::error::RequestError;
use crate::execute::SearchCounts;
use crate::paused_calls::PausedCalls;
use crate::progress;
use crate::receipt;
use crate::report::RunReport;
use crate::request;
use crate::surface::{Surface, WireRules};

/// Time for which a client may cache a tool list that never changes in one process.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// The `code` surface for one client. `closed` ends every run of the client.
pub fn code<S: CodeService>(
    service: S,
    config: CodeConfig,
    closed: CancellationToken,
) -> Surface<impl ServerHandler> {
    let tracker = (config.listing == ToolListing::Changing).then(Arc::<ToolListTracker>::default);
    let service = Arc::new(service);
    let watched = tracker.clone().map(|tracker| tracker.watch(service.clone()));
    Surface {
        handler: CodeHandler {
            calls: Arc::new(CodeCalls {
                service,
                config,
                searches: Mutex::default(),
                tracker,
                closed,
            }),
            paused: PausedCalls::default(),
        },
        wire: WireRules::PROGRAMS,
        background: Box::pin(async {
            match watched {
                Some(watched) => watched.await,
                None => std::future::pending().await,
            }
        }),
    }
}

struct CodeHandler<S> {
    calls: Arc<CodeCalls<S>>,
    paused: PausedCalls,
}

/// Answers the calls of the tools.
struct CodeCalls<S> {
    service: Arc<S>,
    config: CodeConfig,
    /// Searches since the model's last run.
    searches: Mutex<SearchTexts>,
    /// `None` if the tool list never changes.
    tracker: Option<Arc<ToolListTracker>>,
    closed: CancellationToken,
}

impl<S: CodeService> CodeCalls<S> {
    async fn execute(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let code = arguments.get("code").and_then(|code| code.as_str());
        let written = arguments;
        let mut arguments = match arguments::execute(arguments, &self.config) {
            Ok(arguments) => arguments,
            Err(bad) => {
                self.service.refused(code).await;
                return render::refused(bad.to_string());
            }
        };
        let options = RenderOptions {
            format: arguments.format,
            receipt: arguments.request.receipt,
            printed: self.config.answers.max_printed,
            wall_time: arguments.request.spec.granted.limits.wall_time,
        };
        arguments.request.trace = request::trace(context);
        let searches = std::mem::take(&mut *self.searches());
        arguments.request.searched = SearchCounts {
            searches: searches.searches,
            bytes: searches.bytes,
        };
        let cancel = CancellationToken::new();
        let (client, watched) = progress::client(context);
        let run = self.service.execute(arguments.request, cancel.clone(), client);
        let ran = progress::drive(context, &self.closed, cancel, watched, run).await;
        match ran.map(|ran| ran.noted(arguments.note)) {
            Ok(ran) if ran.outcome.status == Status::Refused => {
                self.put_back(searches);
                self.answer(ran, options, written, SearchTexts::default()).await
            }
            Ok(ran) => self.answer(ran, options, written, searches).await,
            Err(error) => {
                self.put_back(searches);
                render::refused(error.to_string())
            }
        }
    }

    fn searches(&self) -> MutexGuard<'_, SearchTexts> {
        self.searches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores searches of a run that did not take place, so that the next run counts them.
    fn put_back(&self, before: SearchTexts) {
        let mut searches = self.searches();
        let later = std::mem::replace(&mut *searches, before);
        searches.append(&later);
    }

    /// A program's result, with a receipt if its calls were counted.
    async fn answer(
        &self,
        mut ran: RunReport,
        options: RenderOptions,
        written: &JsonObject,
        searches: SearchTexts,
    ) -> CallToolResult {
        let direct = ran.direct.take();
        let (run, usage) = (ran.run_id.clone(), ran.outcome.usage);
        let mut result = render::executed(ran, options);
        let Some(direct) = direct else { return result };
        let form = match options.format {
            Format::Text | Format::Toon => ReceiptForm::Lines,
            Format::Json => ReceiptForm::Field,
        };
        let input = ReceiptInput {
            tools: self.listed().await,
            instructions: tools::INSTRUCTIONS,
            written: Value::Object(written.clone()).to_string(),
            read: receipt::texts(&result),
            searches,
            direct,
            usage,
            form,
        };
        if let Some(receipt) = self.service.receipt(&run, input).await {
            receipt::add(&receipt, &mut result, &usage, form);
        }
        result
    }

    async fn listed(&self) -> Vec<Value> {
        let list = match self.tracker {
            Some(_) => ToolList::current(self.service.as_ref()).await,
            None => ToolList::default(),
        };
        let mut tools = definitions(&list.servers);
        tools.extend(tool_list::exposed_definitions(&list.exposed));
        tools
    }

    async fn search(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let request = match arguments::search(arguments) {
            Ok(request) => request,
            Err(bad) => return render::search_failed(bad.to_string()),
        };
        let found = async {
            match request.query.is_empty() {
                true => render::server_summaries(&self.service.server_summaries().await),
                false => render::found(&self.service.search(request).await),
            }
        };
        tokio::select! {
            found = found => {
                let query = Value::Object(arguments.clone()).to_string();
                self.searches().add(&query, &receipt::texts(&found));
                found
            }
            () = request::cancelled(context, &self.closed) => {
                render::search_failed("the search was cancelled".to_owned())
            }
        }
    }

    /// Calls the exposed tool of this name, if any. Cancelling the request cancels the upstream call.
    async fn call_exposed(
        &self,
        name: &str,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResult> {
        let tracker = self.tracker.as_ref()?;
        let service = self.service.as_ref();
        let cancel = CancellationToken::new();
        let called = async {
            let exposed = cancel.run_until_cancelled(tracker.find(service, name)).await??;
            request::release(context);
            Some(tool_list::call(service, exposed, arguments, cancel.clone()).await)
        };
        tokio::pin!(called);
        tokio::select! {
            called = &mut called => called,
            () = request::cancelled(context, &self.closed) => {
                cancel.cancel();
                called.await.map(|_| render::refused("the call was cancelled".to_owned()))
            }
        }
    }
}

impl<S: CodeService> ServerHandler for CodeHandler<S> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities = match self.calls.tracker {
            Some(_) => capabilities.enable_tool_list_changed().build(),
            None => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("codeyard", env!("CARGO_PKG_VERSION")).with_title("Codeyard"),
            )
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(tracker) = &self.calls.tracker {
            let tools = tracker.list(self.calls.service.as_ref(), &context).await;
            return Ok(ListToolsResult::with_all_items(tools)
                .with_ttl_ms(0)
                .with_cache_scope(CacheScope::Private));
        }
        Ok(ListToolsResult::with_all_items(tools::tools(&[]))
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::tools(&[]).into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == tools::EXECUTE {
            let calls = Arc::clone(&self.calls);
            let execute = async move |arguments: JsonObject, context: RequestContext<RoleServer>| {
                request::catch_panic(calls.execute(&arguments, &context)).await
            };
            return Ok(self.paused.answer(request, &context, execute).await?);
        }
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            tools::SEARCH => {
                request::release(&context);
                request::catch_panic(self.calls.search(&arguments, &context)).await?
            }
            other => {
                let called =
                    request::catch_panic(self.calls.call_exposed(other, arguments, &context)).await?;
                if let Some(result) = called {
                    return Ok(result.into());
                }
                let unknown = format!(
                    "{other}; there is {} and {}, and the connected tools are functions in {}",
                    tools::EXECUTE,
                    tools::SEARCH,
                    tools::EXECUTE
                );
                return Err(RequestError::UnknownTool(unknown).into());
            }
        };
        Ok(result.into())
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
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.calls.service.artifacts().await.map_err(RequestError::from)?;
        Ok(artifacts::page(
            &listed,
            page.and_then(|page| page.cursor).as_deref(),
        )?)
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
        let Some(file) = artifacts::parse(&uri) else {
            return Err(RequestError::UnknownArtifact(uri).into());
        };
        let (session, path) = (file.session.clone(), file.path.clone());
        let read = self
            .calls
            .service
            .read_artifact(session, path, artifacts::LARGEST);
        match read.await {
            Ok(content) => Ok(artifacts::contents(&uri, &file, &content).into()),
            Err(ReadError::Missing) => Err(RequestError::UnknownArtifact(uri).into()),
            Err(error) => Err(RequestError::UnreadableArtifact { uri, error }.into()),
        }
    }
}

/// Both tools as JSON, for a model that sees these server names.
fn definitions(servers: &[String]) -> Vec<Value> {
    let tools = tools::tools(servers).into_iter();
    tools
        .map(|tool| serde_json::to_value(tool).unwrap_or_default())
        .collect()
}

/// Tokens of the tool list and instructions that each model pays on the `code` surface with these servers.
pub fn definition_tokens(tokenizer: &Tokenizer, servers: &[String]) -> u64 {
    surface_tokens(tokenizer, &definitions(servers), tools::INSTRUCTIONS)
}

/// The receipt's input for a program from the command line, as if a client saw these servers. `direct` is the cost
/// without codeyard, `wall_time` the time limit.
pub fn receipt_input(
    ran: &RunReport,
    servers: &[String],
    code: &str,
    wall_time: Duration,
    direct: DirectCost,
) -> ReceiptInput {
    let options = RenderOptions {
        format: Format::Text,
        receipt: false,
        printed: Answers::default().max_printed,
        wall_time,
    };
    ReceiptInput {
        tools: definitions(servers),
        instructions: tools::INSTRUCTIONS,
        written: json!({"code": code}).to_string(),
        read: receipt::texts(&render::executed(ran.clone(), options)),
        searches: SearchTexts::default(),
        direct,
        usage: ran.outcome.usage,
        form: ReceiptForm::Lines,
    }
}
