//! The `code` surface's service: sessions run programs, the broker finds tools.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use broker::{Done, RunScope, SearchAnswer, ServerOverview};
use serde_json::{Map, Value};
use session::{Language, RunRequest, Selector};
use store::{Attempt, Front, Refused, Searched};
use surfaces::{ArtifactsError, CodeService, Execute, ExposedTool, Receipt, RunError, RunReport, Search};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{Activity, CheckMode, Granted, Principal, RunId, ServerTools, SessionName};
use workspace::{Artifacts, ReadError, Workspaces};

use crate::Server;
use crate::files::blocking;

/// One program that a client asks for, whatever the surface.
pub(crate) struct Asked {
    pub(crate) code: String,
    pub(crate) language: Language,
    pub(crate) session: Selector,
    pub(crate) granted: Granted,
    pub(crate) check: CheckMode,
    /// What the surface tells the guest beside the program.
    pub(crate) surface: Option<Value>,
    /// A result of more bytes of JSON stays in the session; `None` where every result comes as it is.
    pub(crate) keep_over: Option<u64>,
    /// The servers that the program may call, if that is not all of them.
    pub(crate) loaded: Option<Arc<[String]>>,
    /// Whether what it costs is counted.
    pub(crate) receipt: bool,
    /// What its client has searched for since the run before.
    pub(crate) searched: Searched,
}

impl Server {
    /// Runs a client's program. The place in its session's queue is taken when the future is first polled.
    pub(crate) async fn run_for_client(
        &self,
        asked: Asked,
        cancel: CancellationToken,
        activity: Option<watch::Sender<Activity>>,
    ) -> Result<RunReport, RunError> {
        let shared = &self.shared;
        let attempt = Attempt {
            searched: asked.searched,
            ..self.attempt(
                Front::Mcp,
                Some(asked.language.name()),
                Some(&asked.code),
                Some(asked.granted.limits.clone()),
            )
        };
        let tally = self.tally(asked.receipt);
        let record = shared.records.attempt(attempt);
        let reach = asked
            .loaded
            .as_ref()
            .map(|names| names.iter().map(ToString::to_string).collect());
        let done = Done::default();
        let scope = RunScope {
            run: record.run().clone(),
            wall_time: asked.granted.limits.wall_time,
            loaded: asked.loaded,
            tally: tally.clone(),
            done: done.clone(),
            activity,
        };
        let run = RunRequest {
            principal: shared.principal.clone(),
            language: asked.language,
            session: asked.session,
            code: asked.code,
            granted: asked.granted,
            calls: self.calls(scope),
            cancel: cancel.clone(),
            check: asked.check,
            surface: asked.surface,
            reach,
            keep_over: asked.keep_over,
            record,
        };
        let result = shared.sessions.run(run).await?;
        let (direct, notice) = self.direct(tally, result.notice, &cancel).await;
        Ok(RunReport {
            direct,
            run_id: result.run_id,
            session: result.session,
            outcome: result.outcome,
            findings: result.findings,
            notice,
            backend: self.chosen_backend(),
            keeps_files: result.keeps_files,
            changes: done.changes(),
        })
    }
}

impl CodeService for Server {
    async fn execute(
        &self,
        request: Execute,
        cancel: CancellationToken,
        activity: Option<watch::Sender<Activity>>,
    ) -> Result<RunReport, RunError> {
        let asked = Asked {
            code: request.code,
            language: request.language,
            session: request.session,
            granted: request.granted,
            check: request.check.unwrap_or(self.shared.check),
            surface: None,
            keep_over: request.keep_over,
            loaded: None,
            receipt: request.receipt,
            searched: Searched {
                searches: request.searched.searches,
                bytes: request.searched.bytes,
            },
        };
        self.run_for_client(asked, cancel, activity).await
    }

    async fn refused(&self, code: Option<&str>) {
        let attempt = self.attempt(Front::Mcp, None, code, None);
        // Nothing is run either way; that it cannot be recorded is told by who writes.
        let _ = self.shared.records.refused(attempt, Refused::Arguments).await;
    }

    async fn server_names(&self) -> Vec<String> {
        self.shown_servers().await
    }

    async fn exposed(&self) -> Vec<ExposedTool> {
        self.exposed_now().await
    }

    async fn call_exposed(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, RunError> {
        let called = self.call_through(Front::Mcp, tool, arguments).await;
        called.map_err(|failed| RunError::ToolCall(failed.to_string()))
    }

    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.shared.hub.tools()
    }

    fn receipt(&self, run: &RunId, receipt: &Receipt) {
        self.keep_receipt(run, receipt);
    }

    async fn search(&self, request: Search) -> SearchAnswer {
        let shared = &self.shared;
        shared
            .broker
            .search(&shared.principal, &request.query, request.limit, request.detail)
            .await
    }

    async fn overview(&self) -> Vec<ServerOverview> {
        self.shared.broker.overview(&self.shared.principal).await
    }

    async fn artifacts(&self) -> Result<Artifacts, ArtifactsError> {
        let (workspaces, principal) = self.whose_files();
        let listed = blocking(move || workspaces.artifacts(&principal)).await;
        Ok(listed.ok_or(ArtifactsError::Interrupted)??)
    }

    async fn read_artifact(
        &self,
        session: SessionName,
        path: PathBuf,
        most: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let (workspaces, principal) = self.whose_files();
        let read = blocking(move || workspaces.read_artifact(&principal, &session, &path, most)).await;
        read.unwrap_or_else(|| Err(ReadError::System(io::Error::other("its thread failed"))))
    }
}

impl Server {
    fn whose_files(&self) -> (Workspaces, Principal) {
        (self.shared.workspaces.clone(), self.shared.principal.clone())
    }
}
