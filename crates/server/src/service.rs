//! The `code` surface's service: sessions run programs, the broker finds tools.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use accounting::{Receipt, ReceiptInput};
use broker::{AnsweredCalls, CallObserver, RunClient, RunScope, SearchAnswer, ServerSummary};
use replay::{ProgramKind, RecordedProgram, RunRecording};
use sandbox::HostCalls;
use serde_json::{Map, Value};
use session::{CpuMeter, RunRequest, SessionError};
use store::{Attempt, Front, Refused, Searched};
use surfaces::{ArtifactsError, CodeService, Execute, ExposedTool, RunError, RunReport, Search};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{
    Language, Outcome, Principal, RunId, RunProfile, RunSpec, ServerTools, SessionName, TraceContext,
};
use workspace::{Artifacts, ReadError, Workspaces};

use crate::Caller;
use crate::call_error::CallError;
use crate::calls::{HostCallLog, Printed, Printing, RecordedSide, ReplayedCalls};
use crate::files::blocking;
use crate::run_traces;
use crate::served::Served;

/// Options of a run beside the run spec and the run profile.
pub(crate) struct RunExtras {
    pub(crate) front: Front,
    pub(crate) receipt: bool,
    /// The client's searches since the run before.
    pub(crate) searched: Searched,
    /// The client that waits for the run.
    pub(crate) client: RunClient,
    pub(crate) printed: Option<mpsc::SyncSender<Printed>>,
    /// Observes the tool calls of a run without a receipt.
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
    /// The trace that the client's request belongs to.
    pub(crate) trace: Option<TraceContext>,
    /// Logs the host calls for the caller too.
    pub(crate) log: Option<HostCallLog>,
    /// Answers the host calls in place of the servers, and the clock in place of the machine's.
    pub(crate) recorded: Option<RecordedSide>,
}

// === impl RunExtras ===

impl RunExtras {
    /// For a run that an MCP client asks for.
    pub(crate) fn of_client(run: &Execute, client: RunClient) -> Self {
        Self {
            front: Front::Mcp,
            receipt: run.receipt,
            searched: Searched {
                searches: run.searched.searches,
                bytes: run.searched.bytes,
            },
            client,
            printed: None,
            observer: None,
            trace: run.trace.clone(),
            log: None,
            recorded: None,
        }
    }
}

// === impl Caller ===

impl Caller {
    /// Runs a program, and counts the run. The first poll reserves the place in the session's queue.
    pub(crate) async fn execute_run(
        &self,
        spec: RunSpec,
        profile: RunProfile,
        around: RunExtras,
        cancel: CancellationToken,
    ) -> Result<RunReport, SessionError> {
        let meter = self.cpu_meter();
        let span = self.begin_span(spec.language.name(), &spec.code, around.trace.as_ref());
        let around = RunExtras {
            trace: span.context().cloned(),
            ..around
        };
        let executed = Box::pin(self.execute_uncounted(spec, profile, around, cancel, meter.clone()));
        let ended = meter.around(executed).await;
        self.charge(&meter).await;
        self.shared.runs.note(self.client.get(), &ended);
        run_traces::end(span, &ended);
        ended
    }

    async fn execute_uncounted(
        &self,
        spec: RunSpec,
        profile: RunProfile,
        around: RunExtras,
        cancel: CancellationToken,
        cpu_meter: CpuMeter,
    ) -> Result<RunReport, SessionError> {
        let shared = &self.shared;
        let spec = RunSpec {
            session: self.session_of(spec.session),
            ..spec
        };
        let limits = &spec.granted.limits;
        let attempt = Attempt {
            searched: around.searched,
            ..self.attempt(
                around.front,
                Some(spec.language.name()),
                Some(&spec.code),
                Some(limits.clone()),
            )
        };
        let meter = around.receipt.then(|| self.meter());
        let record = shared.records.attempt(attempt);
        let done = AnsweredCalls::default();
        let calls = self.calls(RunScope {
            run: record.run().clone(),
            profile: profile.clone(),
            observer: match &meter {
                Some(meter) => Some(meter.clone()),
                None => around.observer,
            },
            done: done.clone(),
            client: around.client,
            trace: self.trace_of_calls(&spec.session, around.trace),
        });
        let calls: Arc<dyn HostCalls> = match around.recorded {
            Some(recorded) => Arc::new(ReplayedCalls::new(calls, recorded)),
            None => calls,
        };
        let log = around
            .log
            .or_else(|| shared.recordings.are_kept().then(HostCallLog::default));
        let calls = match &log {
            Some(log) => log.around(calls),
            None => calls,
        };
        let calls = match around.printed {
            Some(printed) => Arc::new(Printing::new(calls, printed, limits.output)),
            None => calls,
        };
        let run = RunRequest {
            principal: self.principal.clone(),
            spec,
            profile,
            calls,
            cancel: cancel.clone(),
            record,
            turn: self.turn(),
            meter: cpu_meter,
        };
        let language = run.spec.language;
        let recorded = log.map(|log| (recorded_program(&run.spec, &run.profile), log));
        let result = shared.sessions.run(run).await?;
        if let Some((program, log)) = recorded {
            self.keep_recording(&result.run_id, &result.outcome, program, &log)
                .await;
        }
        self.note_session(language, &result.session).await;
        let (direct, notice) = self.direct(meter, result.notice, &cancel).await;
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

/// What a recording says of the program.
fn recorded_program(spec: &RunSpec, profile: &RunProfile) -> RecordedProgram {
    RecordedProgram {
        code: spec.code.clone(),
        kind: ProgramKind::Program(spec.language),
        appearance: profile.appearance.clone(),
        results: profile.results,
    }
}

impl Caller {
    /// Keeps what is needed to repeat a run, if the settings say so.
    pub(crate) async fn keep_recording(
        &self,
        run: &RunId,
        outcome: &Outcome,
        program: RecordedProgram,
        log: &HostCallLog,
    ) {
        let recordings = &self.shared.recordings;
        if recordings.are_kept() {
            let recording = RunRecording::new(program, log.calls(), outcome).with_inputs(log.inputs());
            recordings.keep(run, &self.principal, recording).await;
        }
    }

    /// Tells the other processes on the database of the session.
    async fn note_session(&self, language: Language, session: &SessionName) {
        let Some(served) = &self.shared.served else {
            return;
        };
        if let Some(cluster) = &served.admission.cluster {
            cluster
                .note_session(&served.server, &self.principal, language, session)
                .await;
        }
    }
}

impl CodeService for Caller {
    type CallError = CallError;

    async fn execute(
        &self,
        request: Execute,
        cancel: CancellationToken,
        client: RunClient,
    ) -> Result<RunReport, RunError> {
        let language = request.spec.language.name();
        self.count_run(Some(language), &request.spec.code).await?;
        let around = RunExtras::of_client(&request, client);
        Ok(self
            .execute_run(request.spec, request.profile, around, cancel)
            .await?)
    }

    async fn refused(&self, code: Option<&str>) {
        self.shared.runs.note_refused(self.client.get());
        let attempt = self.attempt(Front::Mcp, None, code, None);
        // The program is refused either way; the writer reports a failure to record.
        let _ = self.shared.records.refused(attempt, Refused::Arguments).await;
    }

    async fn server_names(&self) -> Vec<String> {
        self.shown_servers().await
    }

    async fn exposed(&self) -> Vec<ExposedTool> {
        self.exposed_now().await
    }

    async fn call_exposed(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> Result<Value, CallError> {
        self.call_through(Front::Mcp, tool, arguments, cancel).await
    }

    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        self.shared.broker.followed_lists()
    }

    async fn receipt(&self, run: &RunId, input: ReceiptInput) -> Option<Receipt> {
        self.take_receipt(run, input).await
    }

    async fn search(&self, request: Search) -> SearchAnswer {
        let (meter, broker) = (self.cpu_meter(), &self.shared.broker);
        let answer = broker.search(&self.principal, &request.query, request.limit, request.detail);
        let answer = meter.around(Box::pin(answer)).await;
        self.charge(&meter).await;
        answer
    }

    async fn server_summaries(&self) -> Vec<ServerSummary> {
        self.shared.broker.server_summaries(&self.principal).await
    }

    async fn artifacts(&self) -> Result<Artifacts, ArtifactsError> {
        let (workspaces, principal) = self.whose_files();
        let listed = blocking(move || workspaces.artifacts(&principal)).await;
        let mut artifacts = listed.ok_or(ArtifactsError::Interrupted)??;
        // Those of sessions of this server, under the names that its clients know.
        artifacts.files.retain_mut(|file| {
            let session = Served::session_of(self.server(), &file.session);
            session.map(|session| file.session = session).is_some()
        });
        Ok(artifacts)
    }

    async fn read_artifact(
        &self,
        session: SessionName,
        path: PathBuf,
        most: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let (workspaces, principal) = self.whose_files();
        let session = self.shared.files.kept(&session);
        let read = blocking(move || workspaces.read_artifact(&principal, &session, &path, most)).await;
        read.unwrap_or_else(|| Err(ReadError::System(io::Error::other("its thread failed"))))
    }
}

impl Caller {
    fn whose_files(&self) -> (Workspaces, Principal) {
        (self.shared.workspaces.clone(), self.principal.clone())
    }
}
