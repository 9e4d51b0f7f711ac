//! What stands behind the `code` surface: programs are run, tools are found. `server` connects the real parts.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use session::{Language, Selector};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{
    Activity, CheckMode, Granted, Outcome, RunId, ServerTools, SessionName, Status, Tool, spelled_out,
};
use workspace::{Artifacts, ReadError};

use crate::receipt::{DirectCost, Receipt};

/// Runs programs and finds tools for one client.
pub trait CodeService: Send + Sync + 'static {
    /// Runs one program to its end. When `cancel` is triggered it ends soon, with an outcome that says so. `activity`
    /// hears what it is doing. The place in its session's queue is taken when the future is first polled.
    fn execute(
        &self,
        request: Execute,
        cancel: CancellationToken,
        activity: Option<watch::Sender<Activity>>,
    ) -> impl Future<Output = Result<Executed, NotExecuted>> + Send;

    /// Takes note of a program that was not run because what was asked is wrong.
    fn refused(&self, code: Option<&str>) -> impl Future<Output = ()> + Send;

    /// The names in programs of the servers that the client may know of, sorted; none where they are not to be told. Starts
    /// and waits for no server.
    fn server_names(&self) -> impl Future<Output = Vec<String>> + Send;

    /// The tools that the operator wants clients to see themselves, as they are defined now; none unless some are named.
    fn exposed(&self) -> impl Future<Output = Vec<Exposed>> + Send;

    /// Calls one of them, by `server.tool`; the answer is the server's `CallToolResult`.
    fn call_exposed(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> impl Future<Output = Result<Value, NotExecuted>> + Send;

    /// What the servers list; changes by itself.
    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>>;

    /// Takes note of what a run has cost.
    fn receipt(&self, run: &RunId, receipt: &Receipt);

    /// Finds tools; the answer is `{tools, more, nearest?, pending?}`.
    fn search(&self, request: Search) -> impl Future<Output = Result<Value, NotSearched>> + Send;

    /// What is connected: `{servers: [{server, tools?, description?, problem?}]}`.
    fn overview(&self) -> impl Future<Output = Result<Value, NotSearched>> + Send;

    /// The files that the client's programs wrote to `/results`, the newest first.
    fn artifacts(&self) -> impl Future<Output = Result<Artifacts, NotListed>> + Send;

    /// The content of one of these files of at most `most` bytes.
    fn read_artifact(
        &self,
        session: SessionName,
        path: PathBuf,
        most: u64,
    ) -> impl Future<Output = Result<Vec<u8>, ReadError>> + Send;
}

/// One program, its arguments checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// The program, never blank.
    pub code: String,
    /// Its language.
    pub language: Language,
    /// Where it runs.
    pub session: Selector,
    /// What it may use, as the policy grants it.
    pub granted: Granted,
    /// What is done with what the check before the run finds; the settings' if absent.
    pub check: Option<CheckMode>,
    /// A result of more bytes of JSON stays in the session; `None` where every result comes as it is.
    pub keep_over: Option<u64>,
    /// Whether what it costs is counted.
    pub receipt: bool,
    /// What was searched for since the run before.
    pub searched: SearchedBefore,
}

/// The searches for tools between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchedBefore {
    /// How many.
    pub searches: u64,
    /// Bytes of what was asked and of what was answered.
    pub bytes: u64,
}

/// A tool that clients see themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The server's name in the configuration.
    pub server: String,
    /// The server's name before the tool's.
    pub alias: String,
    /// The tool.
    pub definition: Arc<Tool>,
}

/// The line on calls that succeeded in a run that has failed.
pub fn changed_before_failure(has_failed: bool, changes: Option<&str>) -> Option<String> {
    let changes = changes.filter(|_| has_failed)?;
    Some(format!(
        "before it failed, these calls had succeeded and may have changed something: {}",
        spelled_out(changes)
    ))
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session it ran in.
    pub session: SessionName,
    /// How it ended.
    pub outcome: Outcome,
    /// What the check before the run found, one line each.
    pub findings: Vec<String>,
    /// What else the client should know, such as that an earlier session is gone.
    pub notice: Option<String>,
    /// What it ran in, if that is another backend than the default.
    pub backend: Option<&'static str>,
    /// Whether files in `/workspace` and `/results` outlive the session.
    pub keeps_files: bool,
    /// What it would have cost without codeyard, if that was to be counted.
    pub direct: Option<DirectCost>,
    /// Its calls that succeeded and may have changed something.
    pub changes: Option<String>,
}

impl Executed {
    /// What to know before a program that has failed is run again.
    pub(crate) fn changed_before_failure(&self) -> Option<String> {
        let has_failed = !matches!(self.outcome.status, Status::Completed | Status::Refused);
        changed_before_failure(has_failed, self.changes.as_deref())
    }

    /// With one more thing that the client should know.
    pub(super) fn noted(mut self, note: Option<String>) -> Executed {
        let notes: Vec<String> = self.notice.take().into_iter().chain(note).collect();
        self.notice = (!notes.is_empty()).then(|| notes.join("; "));
        self
    }
}

/// The program was not run; the text says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotExecuted(pub String);

/// One search, its arguments checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Words to look for; empty where what is connected is asked for.
    pub query: String,
    /// At most this many tools.
    pub limit: usize,
    /// How much is said of each.
    pub detail: Detail,
}

/// How much a search says of each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Names only.
    Name,
    /// Signature and first words of the description.
    Summary,
    /// The stub too.
    Full,
}

impl Detail {
    /// The word of the argument.
    pub fn name(self) -> &'static str {
        match self {
            Detail::Name => "name",
            Detail::Summary => "summary",
            Detail::Full => "full",
        }
    }
}

/// The search failed; the text says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotSearched(pub String);

/// The files could not be listed; the text says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotListed(pub String);
