//! The path of one tool call, top to bottom: resolve, authorize, validate, call, learn, record.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Check, Entry, UnknownKind};
use policy::Permit;
use sandbox::HostCallError;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use store::{Arguments, CallMade, Records};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tool_files::ToolFile;
use types::{Activity, Principal, RunId, ToolRef};

use crate::broker::Shared;
use crate::checks::Checks;
use crate::done::Done;
use crate::error;
use crate::run::Reach;
use crate::tally::Tally;

/// Tools of codeyard's own surfaces: a program that runs behind them cannot call them.
pub(crate) const OWN_TOOLS: [&str; 7] = [
    "execute_code",
    "search_tools",
    "run_python",
    "shell_exec",
    "fs_browse",
    "fs_read",
    "fs_write",
];

/// Notices of progress that wait to be told; more are dropped.
const PROGRESS: usize = 4;

/// How the call of a tool file ends in the records: the sandbox ran it.
const IN_SANDBOX: &str = "in_sandbox";

/// Dots of one name at which it may end a server's name.
const MAX_SPLITS: usize = 16;

/// One call of a tool as a program asks for it.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) run: &'a RunId,
    pub(crate) reach: Reach<'a>,
    /// Empty if the program named only the tool.
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// Longest wait for the answer. The run's own end comes from outside: it drops the call.
    pub(crate) wait: Duration,
    /// Counts the call, where that is asked for.
    pub(crate) tally: Option<&'a Tally>,
    /// Takes note of it if it succeeds.
    pub(crate) done: &'a Done,
    /// Hears of it and of its progress.
    pub(crate) activity: Option<&'a watch::Sender<Activity>>,
}

impl Shared {
    /// Makes one call. The answer is the server's `CallToolResult` as it came, also if the tool reports an error.
    pub(crate) async fn call(&self, asked: Asked<'_>) -> Result<Box<RawValue>, HostCallError> {
        self.records.room().await;
        let tool = ToolRef::new(asked.server.as_str(), asked.tool.as_str());
        let counted = match asked.tally {
            Some(tally) => Some(tally.begin(&tool, &asked.arguments).await),
            None => None,
        };
        let mut record = Record::new(&self.records, asked.principal, asked.run, tool);
        let answer = self.steps(asked, &mut record).await;
        match &answer {
            Ok(_) if record.is_handed_over() => {}
            Ok(answer) => record.answered(answer),
            Err(error) => record.failed(error),
        }
        if let Some(counted) = counted {
            match self.lists.file(&record.tool) {
                // No client could have made this call.
                Some(_) => counted.leave(),
                None => counted.ended(&record.tool, &answer).await,
            }
        }
        answer
    }

    async fn steps(&self, asked: Asked<'_>, record: &mut Record<'_>) -> Result<Box<RawValue>, HostCallError> {
        let resolved = match self.within(asked.reach, &asked.server).await {
            Ok(()) => self.resolve(asked.principal, &asked.server, &asked.tool).await,
            Err(not_loaded) => Err(not_loaded),
        };
        record.know(&asked.arguments, resolved.as_deref().ok());
        let entry = resolved?;
        // The definitions may have changed since they were looked at.
        if !asked.reach.holds(&entry.tool.server) {
            return Err(error::not_loaded(&asked.server));
        }
        let permit = self
            .policy()
            .authorize(asked.principal, &entry.tool)
            .map_err(|denied| error::denied(&denied))?;
        let arguments = match asked.reach {
            Reach::Every => validate(&self.checks, entry.clone(), asked.arguments).await?,
            // What does not fit is for the server to say, as it always was on that surface.
            Reach::Loaded(_) => asked.arguments,
        };
        if let Some(file) = self.lists.file(&entry.tool) {
            record.handed_over();
            return here(permit, &file);
        }
        let hash = self.learner.hash(&arguments);
        let answer = self
            .upstream(permit, arguments, record.started + asked.wait, asked.activity)
            .await?;
        self.learner
            .observe(asked.principal, &entry, asked.run, hash, &answer);
        if !is_tool_error(&answer) {
            asked.done.add(&entry);
        }
        Ok(answer)
    }

    /// Finds the tool. A server that was not asked for its tools yet is asked now, if the policy lets anybody
    /// call it by that name.
    pub(crate) async fn resolve(
        &self,
        principal: &Principal,
        server: &str,
        tool: &str,
    ) -> Result<Arc<Entry>, HostCallError> {
        let catalog = self.snapshot.current().await;
        let unknown = match catalog.resolve(server, tool) {
            Ok(entry) => return Ok(entry.clone()),
            Err(unknown) => unknown,
        };
        let complete = match &unknown.kind {
            UnknownKind::NotListed(server) => {
                let named = ToolRef::new(server, tool);
                self.policy()
                    .authorize_unconfirmed(principal, &named)
                    .map_err(|denied| error::denied(&denied))?;
                self.list(server).await?;
                self.snapshot.current().await
            }
            UnknownKind::Bare | UnknownKind::Server if OWN_TOOLS.contains(&tool) => {
                return Err(error::nested(tool));
            }
            UnknownKind::Bare => self.discovered().await,
            UnknownKind::Server | UnknownKind::Tool => return Err(error::unknown(&unknown)),
        };
        complete
            .resolve(server, tool)
            .cloned()
            .map_err(|unknown| error::unknown(&unknown))
    }

    /// The tool of `SERVER.TOOL`; either name may hold dots itself.
    pub(crate) async fn named(&self, principal: &Principal, name: &str) -> Result<Arc<Entry>, HostCallError> {
        let mut failed: Option<HostCallError> = None;
        let dots = name.match_indices('.').filter(|(at, _)| *at > 0);
        for (at, _) in dots.take(MAX_SPLITS) {
            let (server, tool) = (&name[..at], &name[at + 1..]);
            match self.resolve(principal, server, tool).await {
                Ok(entry) => return Ok(entry),
                Err(error) => {
                    // What the right server says of the tool is better than what is said of a wrong server.
                    let is_known = self.snapshot.current().await.server(server).is_ok();
                    if is_known || failed.is_none() {
                        failed = Some(error);
                    }
                }
            }
        }
        Err(failed.unwrap_or_else(|| error::no_tool(name)))
    }

    /// The call itself: only with a permit, and to the tool that the permit names.
    async fn upstream(
        &self,
        permit: Permit,
        arguments: Value,
        deadline: Instant,
        activity: Option<&watch::Sender<Activity>>,
    ) -> Result<Box<RawValue>, HostCallError> {
        let Value::Object(arguments) = arguments else {
            return Err(error::bad_call("'args' must be an object"));
        };
        let mut call = upstream::Call {
            tool: permit.into_tool(),
            arguments,
            deadline,
            progress: None,
        };
        let answer = match activity {
            Some(activity) => {
                activity.send_modify(|activity| activity.begin(&call.tool));
                let (sender, progress) = mpsc::channel(PROGRESS);
                call.progress = Some(sender);
                let tool = call.tool.clone();
                follow(self.hub.call_raw(call), progress, &tool, activity).await
            }
            None => self.hub.call_raw(call).await,
        };
        answer.map_err(|failed| error::upstream(&failed))
    }
}

/// Waits for a call, and meanwhile tells of the progress that its server reports.
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

/// Says that the guest may call the function itself: `[server, tool, hash]`. The answer of a server is an object, never a list.
fn here(permit: Permit, file: &ToolFile) -> Result<Box<RawValue>, HostCallError> {
    let tool = permit.into_tool();
    to_raw_value(&[&tool.server, &tool.tool, &file.hash])
        .map_err(|_| error::internal("an answer could not be written as JSON"))
}

/// Checks the arguments, on a thread for blocking work where that takes long.
async fn validate(checks: &Arc<Checks>, entry: Arc<Entry>, arguments: Value) -> Result<Value, HostCallError> {
    let validate = |entry: &Entry, check: &Check, arguments: Value| match entry.validate(check, &arguments) {
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

/// What is known of a call. It is written down when this is dropped, so that a call that is given up leaves a record too.
pub(crate) struct Record<'a> {
    records: &'a Records,
    principal: &'a Principal,
    run: &'a RunId,
    /// As asked for until it is resolved.
    tool: ToolRef,
    arguments: Arguments,
    started: Instant,
    /// How it ended and how long the answer is; absent if nobody waited for its end.
    end: Option<(String, Option<u64>)>,
}

// === impl Record ===

impl<'a> Record<'a> {
    pub(crate) fn new(records: &'a Records, principal: &'a Principal, run: &'a RunId, tool: ToolRef) -> Self {
        Self {
            records,
            principal,
            run,
            tool,
            arguments: Arguments::default(),
            started: Instant::now(),
            end: None,
        }
    }

    /// Takes in what is kept of the arguments, and the tool if it was found.
    pub(crate) fn know(&mut self, arguments: &Value, entry: Option<&Entry>) {
        if let Some(entry) = entry {
            self.tool.clone_from(&entry.tool);
        }
        let is_declared = |name: &str| entry.is_some_and(|entry| entry.declares(name));
        self.arguments = self.records.arguments(arguments, is_declared);
    }

    pub(crate) fn answered(&mut self, answer: &RawValue) {
        let (milliseconds, bytes) = (self.milliseconds(), answer.get().len());
        let (tool, principal) = (&self.tool, self.principal.id.as_str());
        tracing::debug!(%tool, principal, milliseconds, bytes, "tool call answered");
        let outcome = if is_tool_error(answer) {
            "tool_error"
        } else {
            "answered"
        };
        self.end = Some((outcome.to_owned(), Some(bytes as u64)));
    }

    /// The guest goes on with the call: what becomes of it is a matter of the program.
    fn handed_over(&mut self) {
        let (tool, principal) = (&self.tool, self.principal.id.as_str());
        tracing::debug!(%tool, principal, "tool file allowed");
        self.end = Some((IN_SANDBOX.to_owned(), None));
    }

    fn is_handed_over(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn failed(&mut self, error: &HostCallError) {
        let milliseconds = self.milliseconds();
        // The message may repeat arguments, which belong to the program.
        let (tool, principal, kind) = (&self.tool, self.principal.id.as_str(), error.kind.as_str());
        tracing::info!(%tool, principal, milliseconds, kind, "tool call failed");
        self.end = Some((kind.to_owned(), None));
    }

    fn milliseconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.records.is_on() {
            return;
        }
        let (outcome, result_bytes) = self.end.take().unwrap_or_else(|| ("cancelled".to_owned(), None));
        self.records.call(
            self.run,
            CallMade {
                server: std::mem::take(&mut self.tool.server),
                tool: std::mem::take(&mut self.tool.tool),
                arguments: std::mem::take(&mut self.arguments),
                duration: self.started.elapsed(),
                outcome,
                result_bytes,
            },
        );
    }
}

/// Whether the tool itself says that it failed. Most answers do not hold the word at all.
pub(crate) fn is_tool_error(answer: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Fields {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    answer.get().contains("\"isError\"")
        && serde_json::from_str::<Fields>(answer.get()).is_ok_and(|fields| fields.is_error)
}
