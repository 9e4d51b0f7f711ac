//! The MCP handler of the `code` surface: two tools, artifacts, both protocol eras, nothing that is not declared.

use std::sync::Arc;
use std::time::Duration;

use policy::Policy;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokens::Tokenizer;
use tokio_util::sync::CancellationToken;
use types::{Answers, Format, Status};

use super::exposed::{self, Showcase, Shown};
use super::render::Manner;
use super::service::{CodeService, Executed, SearchedBefore};
use super::{arguments, artifacts, render, tools};
use crate::receipt::{self, DirectCost, Form, Material, Receipt, Receipts, Searched, Searches};
use crate::running;

/// How long a client may keep a list of tools that never changes while one codeyard runs.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// One connection of a client that sees the `code` surface.
pub(crate) struct CodeHandler<S> {
    service: Arc<S>,
    policy: Arc<Policy>,
    answers: Answers,
    receipts: Receipts,
    /// What the model has searched for since its last run.
    searches: Searches,
    /// What the client sees that may change; `None` where it sees nothing of the kind.
    showcase: Option<Arc<Showcase>>,
    closed: CancellationToken,
}

impl<S: CodeService> CodeHandler<S> {
    /// `closed` ends everything that runs for this connection; `varies` tells whether names or tools of servers are shown.
    pub(crate) fn new(
        service: S,
        policy: Arc<Policy>,
        answers: Answers,
        receipts: Receipts,
        varies: bool,
        closed: CancellationToken,
    ) -> Self {
        Self {
            service: Arc::new(service),
            policy,
            answers,
            receipts,
            searches: Searches::default(),
            showcase: varies.then(Arc::default),
            closed,
        }
    }

    async fn execute(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let code = arguments.get("code").and_then(|code| code.as_str());
        let written = arguments;
        let mut arguments =
            match arguments::execute(arguments, &self.policy, self.answers, self.receipts.default) {
                Ok(arguments) => arguments,
                Err(bad) => {
                    self.service.refused(code).await;
                    return render::refused(bad.to_string());
                }
            };
        let manner = Manner {
            format: arguments.format,
            receipt: arguments.request.receipt,
            printed: self.answers.max_printed,
            wall_time: arguments.request.granted.limits.wall_time,
        };
        let searched = self.searches.take();
        arguments.request.searched = SearchedBefore {
            searches: searched.searches,
            bytes: searched.bytes,
        };
        let cancel = CancellationToken::new();
        let (activity, watched) = running::activity(context);
        let run = self.service.execute(arguments.request, cancel.clone(), activity);
        let ran = running::drive(context, &self.closed, cancel, watched, run).await;
        match ran.map(|ran| ran.noted(arguments.note)) {
            Ok(ran) if ran.outcome.status == Status::Refused => {
                self.searches.put_back(searched);
                self.answer(ran, manner, written, Searched::default()).await
            }
            Ok(ran) => self.answer(ran, manner, written, searched).await,
            Err(not_executed) => {
                self.searches.put_back(searched);
                render::refused(not_executed.to_string())
            }
        }
    }

    /// The result of a program, with its receipt if what it cost was counted.
    async fn answer(
        &self,
        mut ran: Executed,
        manner: Manner,
        written: &JsonObject,
        searched: Searched,
    ) -> CallToolResult {
        let direct = ran.direct.take();
        let (run, usage) = (ran.run_id.clone(), ran.outcome.usage);
        let mut result = render::executed(ran, manner);
        let Some(direct) = direct else { return result };
        let form = match manner.format {
            Format::Text | Format::Toon => Form::Lines,
            Format::Json => Form::Field,
        };
        let material = Material {
            tools: self.seen().await,
            instructions: tools::INSTRUCTIONS,
            written: Value::Object(written.clone()).to_string(),
            read: receipt::texts(&result),
            searched,
            direct,
            usage,
            form,
        };
        if let Some(receipt) = Receipt::take(self.receipts.counter.clone(), material).await {
            self.service.receipt(&run, &receipt);
            receipt.add_to(&mut result, &usage, form);
        }
        result
    }

    /// The tools that the client sees, as they are listed.
    async fn seen(&self) -> Value {
        let shown = match self.showcase {
            Some(_) => Shown::now(self.service.as_ref()).await,
            None => Shown::default(),
        };
        let tools = tools::tools(&shown.servers).into_iter();
        let tools = tools.map(|tool| serde_json::to_value(tool).unwrap_or_default());
        tools
            .chain(exposed::exposed_definitions(&shown.exposed))
            .collect()
    }

    /// Tells the client when what it sees has changed; never ends.
    pub(crate) fn watch_tools(&self) -> impl Future<Output = ()> + Send + use<S> {
        let (showcase, service) = (self.showcase.clone(), self.service.clone());
        async move {
            match showcase {
                Some(showcase) => showcase.watch(service).await,
                None => std::future::pending().await,
            }
        }
    }

    async fn search(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let request = match arguments::search(arguments) {
            Ok(request) => request,
            Err(bad) => return render::search_failed(bad.to_string()),
        };
        let found = async {
            match request.query.is_empty() {
                true => self.service.overview().await,
                false => self.service.search(request).await,
            }
        };
        tokio::select! {
            found = found => match found {
                Ok(answer) => {
                    let found = render::found(answer);
                    let asked = Value::Object(arguments.clone()).to_string();
                    self.searches.add(&asked, &receipt::texts(&found));
                    found
                }
                Err(not_searched) => render::search_failed(not_searched.to_string()),
            },
            () = self.ended(context) => render::search_failed("the search was cancelled".to_owned()),
        }
    }

    /// Calls an exposed tool of this name, if there is one; a call that is cancelled is dropped, which cancels it upstream.
    async fn call_exposed(
        &self,
        name: &str,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResult> {
        let showcase = self.showcase.as_ref()?;
        let service = self.service.as_ref();
        let called = async {
            let exposed = showcase.find(service, name).await?;
            running::leave(context);
            Some(exposed::call(service, exposed, arguments).await)
        };
        tokio::select! {
            called = called => called,
            () = self.ended(context) => Some(render::refused("the call was cancelled".to_owned())),
        }
    }

    /// Resolves when nobody waits for the answer any more.
    async fn ended(&self, context: &RequestContext<RoleServer>) {
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = self.closed.cancelled() => {}
        }
    }
}

impl<S: CodeService> ServerHandler for CodeHandler<S> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities = match self.showcase {
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
        if let Some(showcase) = &self.showcase {
            let tools = showcase.list(self.service.as_ref(), &context).await;
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
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            tools::EXECUTE => running::answered(self.execute(&arguments, &context)).await?,
            tools::SEARCH => {
                running::leave(&context);
                running::answered(self.search(&arguments, &context)).await?
            }
            other => {
                let called = running::answered(self.call_exposed(other, arguments, &context)).await?;
                if let Some(result) = called {
                    return Ok(result.into());
                }
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

/// Tokens of the two tools and the instructions, which every model pays for that sees the surface `code` with these servers.
pub fn own_definitions(tokenizer: &Tokenizer, servers: &[String]) -> u64 {
    let tools = serde_json::to_value(tools::tools(servers)).unwrap_or_default();
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    tokenizer.definitions(tools) + tokenizer.text(tools::INSTRUCTIONS)
}

/// The receipt of a program that no client has sent: as if one had, with a model that knows of these servers and has read the
/// answer. `direct` is what it would have cost without codeyard, `wall_time` the longest duration that it had.
pub fn receipt_of(
    ran: &Executed,
    servers: &[String],
    code: &str,
    wall_time: Duration,
    direct: DirectCost,
    tokenizer: &Tokenizer,
) -> Receipt {
    let manner = Manner {
        format: Format::Text,
        receipt: false,
        printed: Answers::default().max_printed,
        wall_time,
    };
    let material = Material {
        tools: serde_json::to_value(tools::tools(servers)).unwrap_or_default(),
        instructions: tools::INSTRUCTIONS,
        written: json!({"code": code}).to_string(),
        read: receipt::texts(&render::executed(ran.clone(), manner)),
        searched: Searched::default(),
        direct,
        usage: ran.outcome.usage,
        form: Form::Lines,
    };
    Receipt::count(tokenizer, material)
}
