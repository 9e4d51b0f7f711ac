//! The MCP handler of the `server` surface: four tools, both protocol eras.

use std::sync::Arc;
use std::time::Duration;

use policy::Policy;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;
use types::{Appearance, CheckMode, EntryBounds, Granted, Language, Results, RunProfile, RunSpec};

use super::arguments::{self, Kind, RunDefaults, ShellExec};
use super::metrics::milliseconds;
use super::repeat::RepeatedProgram;
use super::report::MetaToolRun;
use super::service::{CommandLine, FileRequestError, MetaTools};
use super::{render, tools};
use crate::error::{RequestError, RunError};
use crate::execute::{Execute, SearchCounts};
use crate::paused_calls::PausedCalls;
use crate::surface::{Surface, WireRules};
use crate::{progress, request};

/// Time for which a client may cache the lists, which never change in one process.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// Appended to the results of runs whose policy allows network access.
const NO_NETWORK: &str = "note: sandbox_policy allows network access (allow_raw_http, max_network_connections), but programs \
                          have no network here; use a tool";

/// Settings of the `server` surface.
#[derive(Debug, Clone)]
pub struct ServerSurfaceConfig {
    /// Language of calls that name none.
    pub language: Language,
    /// Whether the policy allows network access, which programs never have.
    pub lacks_network: bool,
    /// Maximum bytes of output and error in an answer.
    pub max_printed: u64,
    /// The policy that decides what a run may use.
    pub policy: Arc<Policy>,
    /// Whether code without a language is a line of commands, not a program.
    pub is_command: fn(&str) -> bool,
    /// Limits on the entries of a listing.
    pub entries: EntryBounds,
    /// Names of tools that the operator has disabled.
    pub disabled: Vec<&'static str>,
}

/// The `server` surface for one client. `closed` ends every run of the client.
pub fn server<S: MetaTools>(
    service: S,
    config: ServerSurfaceConfig,
    closed: CancellationToken,
) -> Surface<impl ServerHandler> {
    Surface {
        handler: ServerSurfaceHandler {
            calls: Arc::new(ServerSurfaceCalls {
                service,
                tools: enabled(&config),
                config,
                closed,
            }),
            paused: PausedCalls::default(),
        },
        wire: WireRules::PROGRAMS,
        background: Box::pin(std::future::pending()),
    }
}

fn enabled(config: &ServerSurfaceConfig) -> Vec<Tool> {
    let mut tools = tools::tools(milliseconds(config.policy.longest()), config.entries);
    tools.retain(|tool| !config.disabled.contains(&tool.name.as_ref()));
    tools
}

/// The run's specification. As in system 0, calls fail where they are made and not before the run.
pub(super) fn execution(
    program: RepeatedProgram,
    language: Language,
    mut granted: Granted,
    max_printed: u64,
) -> Execute {
    granted.limits.output = granted.limits.output.min(max_printed);
    Execute {
        spec: RunSpec {
            language,
            ..RunSpec::python(program.code, granted)
        },
        profile: RunProfile {
            check: CheckMode::Off,
            results: program.results,
            validate: program.appearance.validation(),
            reach: program.appearance.reach(),
            appearance: program.appearance,
        },
        receipt: false,
        searched: SearchCounts::default(),
        trace: None,
    }
}

/// The result of `shell_exec`.
pub(super) fn rendered(
    mut run: MetaToolRun,
    config: &ServerSurfaceConfig,
    code: &str,
    wall_time: Duration,
) -> CallToolResult {
    run.notes
        .extend(config.lacks_network.then(|| NO_NETWORK.to_owned()));
    render::ran(run, code, wall_time, config.max_printed)
}

struct ServerSurfaceHandler<S> {
    calls: Arc<ServerSurfaceCalls<S>>,
    paused: PausedCalls,
}

/// Answers the calls of the tools.
struct ServerSurfaceCalls<S> {
    service: S,
    config: ServerSurfaceConfig,
    tools: Vec<Tool>,
    closed: CancellationToken,
}

impl<S: MetaTools> ServerSurfaceCalls<S> {
    async fn shell_exec(&self, written: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let defaults = RunDefaults {
            language: self.config.language,
            longest: self.config.policy.longest(),
        };
        let asked = match arguments::shell_exec(written, defaults, self.config.is_command) {
            Ok(asked) => asked,
            Err(bad) => {
                let code = written.get("code").and_then(|code| code.as_str());
                return self.refuse(code, &bad.to_string(), context).await;
            }
        };
        let limits = match self.config.policy.limits_within(asked.timeout) {
            Ok(limits) => limits,
            Err(error) => return self.refuse(Some(&asked.code), &error.to_string(), context).await,
        };
        let wall_time = limits.wall_time;
        let ran = self
            .execute(
                &asked,
                Granted {
                    limits,
                    named: Vec::new(),
                },
                context,
            )
            .await;
        match ran {
            Ok(run) => rendered(run, &self.config, &asked.code, wall_time),
            Err(error) => render::failed(&error.to_string()),
        }
    }

    async fn execute(
        &self,
        asked: &ShellExec,
        granted: Granted,
        context: &RequestContext<RoleServer>,
    ) -> Result<MetaToolRun, RunError> {
        let cancel = CancellationToken::new();
        match asked.kind {
            Kind::Line => {
                let line = CommandLine {
                    line: asked.code.clone(),
                    limits: granted.limits,
                    trace: request::trace(context),
                };
                let run = self.service.evaluate(line, cancel.clone());
                progress::drive(context, &self.closed, cancel, None, run).await
            }
            Kind::Program(language) => {
                let (client, watched) = progress::client(context);
                let program = RepeatedProgram {
                    code: asked.code.clone(),
                    language: Some(language),
                    appearance: Appearance::Server,
                    results: Results::Whole,
                };
                let program = Execute {
                    trace: request::trace(context),
                    ..execution(program, language, granted, self.config.max_printed)
                };
                let run = self.service.run(program, cancel.clone(), client);
                progress::drive(context, &self.closed, cancel, watched, run).await
            }
        }
    }

    async fn refuse(
        &self,
        code: Option<&str>,
        why: &str,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        request::release(context);
        self.service.refused(code).await;
        render::failed(why)
    }

    /// The three file tools. The client's next call waits for this answer, so that it sees the written files.
    async fn files(&self, name: &str, written: &JsonObject) -> CallToolResult {
        let done = match name {
            tools::BROWSE => self.browse(written).await,
            tools::READ => self.read(written).await,
            _ => self.write(written).await,
        };
        done.unwrap_or_else(|why| render::failed(&why))
    }

    async fn browse(&self, written: &JsonObject) -> Result<CallToolResult, String> {
        let request = arguments::browse(written, self.config.entries).map_err(|bad| bad.to_string())?;
        let listing = self.service.browse(request).await.map_err(message)?;
        Ok(render::listing(&listing))
    }

    async fn read(&self, written: &JsonObject) -> Result<CallToolResult, String> {
        let path = arguments::text(written, "path").map_err(|bad| bad.to_string())?;
        let file = self
            .service
            .read(path.unwrap_or_default())
            .await
            .map_err(message)?;
        Ok(render::text(&file))
    }

    async fn write(&self, written: &JsonObject) -> Result<CallToolResult, String> {
        let text = |name| arguments::text(written, name).map_err(|bad| bad.to_string());
        let (path, content) = (text("path")?.unwrap_or_default(), text("content")?);
        let file = self.service.write(path, content).await.map_err(message)?;
        Ok(render::written(&file))
    }
}

fn message(error: FileRequestError) -> String {
    error.to_string()
}

impl<S: MetaTools> ServerHandler for ServerSurfaceHandler<S> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(
            Implementation::new("codeyard", env!("CARGO_PKG_VERSION")).with_title("Codeyard"),
        )
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.calls.tools.clone())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.calls.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == tools::EXECUTE && !self.calls.config.disabled.contains(&tools::EXECUTE) {
            let calls = Arc::clone(&self.calls);
            let execute = async move |arguments: JsonObject, context: RequestContext<RoleServer>| {
                request::catch_panic(calls.shell_exec(&arguments, &context)).await
            };
            return Ok(self.paused.answer(request, &context, execute).await?);
        }
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            // S0-02
            name if self.calls.config.disabled.contains(&name) => {
                request::release(&context);
                render::failed(&format!("{name} meta-tool is disabled by configuration"))
            }
            name @ (tools::BROWSE | tools::READ | tools::WRITE) => {
                request::turn(&context).await;
                let answered = request::catch_panic(self.calls.files(name, &arguments)).await;
                request::release(&context);
                answered?
            }
            other => {
                request::release(&context);
                return Err(RequestError::UnknownTool(other.to_owned()).into());
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
}
