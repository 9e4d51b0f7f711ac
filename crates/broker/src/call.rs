//! The path of a call, top to bottom: log in, resolve, admit, validate, authorize, call, record.
//!
//! Programs and relayed requests pass the same stages. A relayed request stays undecoded, so its server validates it.

use std::sync::Arc;

use catalog::{ArgumentValidator, Entry, UnknownKind};
use policy::{Admission, Denied, Permit};
use sandbox::CallContext;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_files::ToolFile;
use types::{Activity, HostCallError, Principal, RunId, ToolRef, TraceContext, Validation};
use upstream::{RelayRequest, UpstreamError};

use crate::checks::Checks;
use crate::core::Core;
use crate::error;
use crate::error_words::{ErrorWords, Unresolved};
use crate::observer::CallEnd;
use crate::record::{CallRecord, Ending, is_tool_error};
use crate::scope::{RunScope, end_call};

/// Tools of codeyard's own surfaces; a program that runs behind a surface cannot call them.
pub(crate) const SURFACE_TOOLS: [&str; 7] = [
    "execute_code",
    "search_tools",
    "run_python",
    "shell_exec",
    "fs_browse",
    "fs_read",
    "fs_write",
];

/// Limit on queued progress notices of one call; further notices are dropped.
const PROGRESS: usize = 4;

/// Dots in one name that are tried as the separator between server and tool.
const MAX_SPLITS: usize = 16;

/// The answer of a call that passed all stages.
enum CallAnswer {
    /// The server's `CallToolResult`.
    OfServer(Box<RawValue>),
    /// The data that the guest needs to call a tool file's function.
    InSandbox(Box<RawValue>),
}

#[derive(Debug)]
pub(crate) struct ToolCall {
    /// Server name; empty if the program named only the tool.
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// Names of arguments given as words of a shell, whose types the tool's schema decides.
    pub(crate) words: Vec<String>,
    /// The call's place in a trace.
    pub(crate) trace: Option<TraceContext>,
}

/// How the server is asked.
struct CallTerms<'c> {
    deadline: Instant,
    activity: Option<&'c watch::Sender<Activity>>,
    trace: Option<TraceContext>,
}

/// Why a relayed request failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RelayError {
    /// The policy refused.
    #[error("{0}")]
    Denied(Denied),
    /// The server failed or refused.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The client cancelled the request.
    #[error("the request was cancelled")]
    Cancelled,
}

impl CallAnswer {
    fn into_raw(self) -> Box<RawValue> {
        match self {
            CallAnswer::OfServer(raw) | CallAnswer::InSandbox(raw) => raw,
        }
    }
}

impl Core {
    /// Makes one call. Returns the server's `CallToolResult` unchanged, even if the tool reports an error.
    pub(crate) async fn call(
        &self,
        principal: &Principal,
        run: &RunScope,
        mut call: ToolCall,
        context: &CallContext,
    ) -> Result<Box<RawValue>, HostCallError> {
        let span = run.trace.begin_call();
        call.trace = span.context().cloned();
        let tool = ToolRef::new(call.server.as_str(), call.tool.as_str());
        let mut record = CallRecord::new(&self.records, principal, &run.run, tool);
        let observed = match &run.observer {
            Some(observer) => {
                context
                    .cancel
                    .run_until_cancelled(observer.begin(&call.arguments))
                    .await
            }
            None => None,
        };
        let stages = self.stages(principal, run, call, context, &mut record);
        let stages = context.cancel.run_until_cancelled(stages).await;
        let ending = match &stages {
            None => Ending::Cancelled,
            Some(Ok(CallAnswer::OfServer(answer))) => Ending::Answered(answer),
            Some(Ok(CallAnswer::InSandbox(_))) => Ending::InSandbox,
            Some(Err(error)) => Ending::Failed(error),
        };
        if let Some(observed) = observed {
            observed.end(&record.tool, call_end(ending)).await;
        }
        end_call(span, record.is_known.then_some(&record.tool), ending.failure());
        record.end(ending);
        stages
            .unwrap_or_else(|| Err(error::cancelled()))
            .map(CallAnswer::into_raw)
    }

    async fn stages(
        &self,
        principal: &Principal,
        run: &RunScope,
        mut call: ToolCall,
        context: &CallContext,
        record: &mut CallRecord<'_>,
    ) -> Result<CallAnswer, HostCallError> {
        self.records.room().await;
        let reach = &run.profile.reach;
        let resolved = match self.within(reach, &call.server).await {
            Ok(()) => {
                self.log_in(principal, run, &call, context).await;
                self.resolve(principal, &call.server, &call.tool).await
            }
            Err(not_loaded) => Err(not_loaded.into()),
        };
        if let (Ok(entry), Value::Object(arguments)) = (&resolved, &mut call.arguments) {
            entry.read_words(arguments, &call.words);
        }
        record.know(&call.arguments, resolved.as_deref().ok());
        // Check this first: with calls off, no list is requested, so every tool would seem unknown.
        if !self.rules.allow_calls() {
            return Err(error::calls_are_off());
        }
        let words = ErrorWords::of(&run.profile.appearance);
        let entry = resolved.map_err(|error| words.unresolved(error, &call))?;
        // The definitions may have changed since `resolve`.
        if !reach.holds(&entry.tool.server) {
            return Err(error::not_loaded(&call.server));
        }
        let admission = self
            .admit(principal, &entry.tool)
            .map_err(|denied| words.denied(&denied))?;
        let arguments = match run.profile.validate {
            Validation::BySchema => validate(&self.checks, entry.clone(), call.arguments).await?,
            Validation::ByServer => call.arguments,
        };
        let Value::Object(arguments) = arguments else {
            return Err(error::bad_call("'args' must be an object"));
        };
        let permit = self
            .authorize(principal, admission, &arguments)
            .map_err(|denied| words.denied(&denied))?;
        if let Some(file) = self.lists.file(&entry.tool) {
            return in_sandbox(permit, &file);
        }
        let hash = self.learner.hash(&arguments);
        let terms = CallTerms {
            deadline: context.clock.deadline(),
            activity: run.client.activity.as_ref(),
            trace: call.trace,
        };
        let answer = self.upstream(principal, permit, arguments, terms).await?;
        self.learner.observe(principal, &entry, &run.run, hash, &answer);
        if !is_tool_error(&answer) {
            run.done.add(&entry);
        }
        Ok(CallAnswer::OfServer(answer))
    }

    /// Relays one request through the same stages, except the check of the arguments.
    pub(crate) async fn relay(
        &self,
        principal: &Principal,
        run: Option<&RunId>,
        request: RelayRequest,
        cancel: &CancellationToken,
    ) -> Result<Box<RawValue>, RelayError> {
        let tool = subject(&request);
        let Some(run) = run else {
            let answer = cancel.run_until_cancelled(self.ask(principal, &tool, request));
            return answer.await.unwrap_or(Err(RelayError::Cancelled));
        };
        let mut record = CallRecord::new(&self.records, principal, run, tool.clone());
        let stages = async {
            self.records.room().await;
            let catalog = self.snapshot.current().await;
            let entry = catalog.resolve(&tool.server, &tool.tool).ok();
            match request.method.as_str() {
                "tools/call" => {
                    let arguments = request.params.get("arguments").cloned().unwrap_or_default();
                    record.know(&arguments, entry.map(AsRef::as_ref));
                }
                _ => record.know(&Value::Object(request.params.clone()), entry.map(AsRef::as_ref)),
            }
            self.ask(principal, &tool, request).await
        };
        let answer = cancel
            .run_until_cancelled(stages)
            .await
            .unwrap_or(Err(RelayError::Cancelled));
        match &answer {
            Ok(answer) => record.end(Ending::Answered(answer)),
            Err(RelayError::Cancelled) => record.end(Ending::Cancelled),
            Err(failed) => record.end(Ending::Failed(&as_host_call(failed))),
        }
        answer
    }

    async fn ask(
        &self,
        principal: &Principal,
        tool: &ToolRef,
        request: RelayRequest,
    ) -> Result<Box<RawValue>, RelayError> {
        self.mounted(tool, &request).map_err(RelayError::Denied)?;
        let admission = self.admit(principal, tool).map_err(RelayError::Denied)?;
        let permit = self
            .authorize(principal, admission, &request.params)
            .map_err(RelayError::Denied)?;
        let request = RelayRequest {
            server: permit.into_tool().server,
            ..request
        };
        Ok(self.hub.ask_as(principal, request).await?)
    }

    /// Stage `resolve` of a relayed request: a client of a virtual server reaches mounted tools, and the other offers of
    /// servers with mounted tools.
    fn mounted(&self, tool: &ToolRef, request: &RelayRequest) -> Result<(), Denied> {
        if self.lists.are_whole() {
            return Ok(());
        }
        let lists = self.lists.now();
        let server = lists.iter().find(|server| server.name == tool.server);
        let tools = server.and_then(|server| server.tools.as_deref());
        let is_mounted = match request.method.as_str() {
            "tools/call" => tools.is_some_and(|tools| tools.iter().any(|mounted| mounted.name == tool.tool)),
            _ => server.is_some(),
        };
        match is_mounted {
            true => Ok(()),
            false => Err(Denied::without_rule(tool)),
        }
    }

    /// Stage `admit`: whether `principal` may see the tool and call it with some arguments. Also refuses a server that
    /// has become invisible since the catalog was built; the refusal reads as if no rule allowed the tool.
    pub(crate) fn admit(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        match self.lists.shows(&tool.server) {
            true => self.admit_listed(principal, tool),
            false => Err(Denied::without_rule(tool)),
        }
    }

    /// Stage `admit` for a tool that the current lists have.
    pub(crate) fn admit_listed(&self, principal: &Principal, tool: &ToolRef) -> Result<Admission, Denied> {
        self.usable(principal, tool)?;
        self.policy().admit(principal, tool)
    }

    /// Stage `admit` for a name that the server has not confirmed yet.
    pub(crate) fn admit_unconfirmed(&self, principal: &Principal, tool: &ToolRef) -> Result<(), Denied> {
        self.usable(principal, tool)?;
        self.policy().admit_unconfirmed(principal, tool)
    }

    /// Hides a server whose login belongs to another principal: the refusal reads as if no rule allowed the tool.
    fn usable(&self, principal: &Principal, tool: &ToolRef) -> Result<(), Denied> {
        match self.hub.may_use(principal, &tool.server) {
            true => Ok(()),
            false => Err(Denied::without_rule(tool)),
        }
    }

    /// Stage `authorize`: whether `principal` may make this call with these arguments.
    fn authorize(
        &self,
        principal: &Principal,
        admission: Admission,
        arguments: &Map<String, Value>,
    ) -> Result<Permit, Denied> {
        self.policy().authorize(principal, admission, arguments)
    }

    /// Stage `resolve`: finds the tool. Lists the server's tools if needed, but only if the policy allows some call
    /// with that name.
    pub(crate) async fn resolve(
        &self,
        principal: &Principal,
        server: &str,
        tool: &str,
    ) -> Result<Arc<Entry>, Unresolved> {
        let catalog = self.snapshot.current().await;
        let unknown = match catalog.resolve(server, tool) {
            Ok(entry) => return Ok(entry.clone()),
            Err(unknown) => unknown,
        };
        let complete = match &unknown.kind {
            UnknownKind::NotListed(server) => {
                let named = ToolRef::new(server, tool);
                self.admit_unconfirmed(principal, &named)?;
                self.list(principal, server).await?;
                self.snapshot.current().await
            }
            UnknownKind::Bare | UnknownKind::Server if SURFACE_TOOLS.contains(&tool) => {
                return Err(error::nested(tool).into());
            }
            UnknownKind::Bare => self.discovered().await,
            UnknownKind::Server | UnknownKind::Tool => return Err(error::unknown(&unknown).into()),
        };
        complete
            .resolve(server, tool)
            .cloned()
            .map_err(|unknown| error::unknown(&unknown).into())
    }

    /// The tool of `SERVER.TOOL`; either name may contain dots.
    pub(crate) async fn named(&self, principal: &Principal, name: &str) -> Result<Arc<Entry>, HostCallError> {
        let mut failed: Option<HostCallError> = None;
        let dots = name.match_indices('.').filter(|(at, _)| *at > 0);
        for (at, _) in dots.take(MAX_SPLITS) {
            let (server, tool) = (&name[..at], &name[at + 1..]);
            match self.resolve(principal, server, tool).await {
                Ok(entry) => return Ok(entry),
                Err(error) => {
                    // An error about a tool of the right server helps more than an error about a wrong server.
                    let is_known = self.snapshot.current().await.server(server).is_ok();
                    if is_known || failed.is_none() {
                        failed = Some(error.into());
                    }
                }
            }
        }
        Err(failed.unwrap_or_else(|| error::no_tool(name)))
    }

    /// Stage `call`: requires a permit for these arguments, and calls the permit's tool.
    async fn upstream(
        &self,
        principal: &Principal,
        permit: Permit,
        arguments: Map<String, Value>,
        terms: CallTerms<'_>,
    ) -> Result<Box<RawValue>, HostCallError> {
        debug_assert!(permit.covers(&arguments), "the permit is for other arguments");
        let mut call = upstream::ToolCall {
            tool: permit.into_tool(),
            arguments,
            deadline: terms.deadline,
            progress: None,
            trace: terms.trace,
        };
        let answer = match terms.activity {
            Some(activity) => {
                activity.send_modify(|activity| activity.begin(&call.tool));
                let (sender, progress) = mpsc::channel(PROGRESS);
                call.progress = Some(sender);
                let tool = call.tool.clone();
                follow(self.hub.call_raw_as(principal, call), progress, &tool, activity).await
            }
            None => self.hub.call_raw_as(principal, call).await,
        };
        answer.map_err(|failed| error::upstream(&failed))
    }
}

/// Waits for a call and forwards its progress.
async fn follow<T>(
    call: impl Future<Output = T>,
    mut progress: mpsc::Receiver<Value>,
    tool: &ToolRef,
    activity: &watch::Sender<Activity>,
) -> T {
    tokio::pin!(call);
    loop {
        tokio::select! {
            biased;
            answer = &mut call => return answer,
            Some(notice) = progress.recv() => activity.send_modify(|activity| activity.tell(tool, &notice)),
        }
    }
}

/// Lets the guest call a tool file's function. The answer is `[server, tool, hash]`; a server's answer is always an
/// object.
fn in_sandbox(permit: Permit, file: &ToolFile) -> Result<CallAnswer, HostCallError> {
    let tool = permit.into_tool();
    to_raw_value(&[&tool.server, &tool.tool, &file.hash])
        .map(CallAnswer::InSandbox)
        .map_err(|_| error::internal("an answer could not be written as JSON"))
}

/// Stage `validate`: checks the arguments against the schema, on a blocking thread if the check takes long.
async fn validate(checks: &Arc<Checks>, entry: Arc<Entry>, arguments: Value) -> Result<Value, HostCallError> {
    let validate = |entry: &Entry, check: &ArgumentValidator, arguments: Value| match entry
        .validate(check, &arguments)
    {
        Ok(()) => Ok(arguments),
        Err(wrong) => Err(error::arguments(entry, &wrong)),
    };
    let ready = checks.ready(&entry);
    if let Some(check) = ready.filter(|check| check.is_light(&arguments)) {
        return validate(&entry, &check, arguments);
    }
    let checks = checks.clone();
    let checked = tokio::task::spawn_blocking(move || validate(&entry, &checks.of(&entry), arguments)).await;
    checked.unwrap_or_else(|_| Err(error::internal("the check of the arguments ended abruptly")))
}

fn call_end(ending: Ending<'_>) -> CallEnd<'_> {
    match ending {
        Ending::Answered(answer) if is_tool_error(answer) => CallEnd::ToolError(answer),
        Ending::Answered(answer) => CallEnd::Answered(answer),
        Ending::InSandbox => CallEnd::ToolFile,
        Ending::Failed(error) => CallEnd::Failed(&error.message),
        Ending::Cancelled => CallEnd::Cancelled,
    }
}

pub(crate) fn as_host_call(failed: &RelayError) -> HostCallError {
    match failed {
        RelayError::Denied(denied) => error::denied(denied),
        RelayError::Upstream(failed) => error::upstream(failed),
        RelayError::Cancelled => error::cancelled(),
    }
}

/// The tool that the policy judges: the tool of a call, else the method as if it were a tool of the server.
fn subject(request: &RelayRequest) -> ToolRef {
    let name = match request.method.as_str() {
        "tools/call" => request
            .params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default(),
        method => method,
    };
    ToolRef::new(request.server.as_str(), name)
}
