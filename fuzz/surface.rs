//! The surface `code` on a host that answers everything at once.

use std::path::PathBuf;
use std::sync::Arc;

use accounting::{Receipt, ReceiptInput};
use broker::{SearchAnswer, ServerSummary};
use gateway::Connection;
use policy::{Policy, PolicyConfig};
use serde_json::{Map, Value, json};
use surfaces::{
    ArtifactsError, CodeConfig, CodeService, Execute, ExposedTool, RunError, RunReport, Search, ToolListing,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{
    Activity, Answers, CheckMode, Outcome, RunId, Selector, ServerTools, SessionFate, SessionName, Status,
};
use workspace::{Artifacts, ReadError};

pub async fn serve(connection: Connection) {
    let policy = Policy::new(PolicyConfig::default()).expect("the default policy");
    let config = CodeConfig {
        policy: Arc::new(policy),
        answers: Answers::default(),
        receipt: false,
        check: CheckMode::default(),
        listing: ToolListing::Changing,
    };
    let surface = surfaces::code(Ready, config, connection.events.closed.clone());
    gateway::serve(surface, connection).await;
}

fn unknown_server(name: String) -> RunError {
    RunError::UnknownServer { name, hint: None }
}

struct Ready;

impl CodeService for Ready {
    type CallError = RunError;

    async fn execute(
        &self,
        request: Execute,
        _cancel: CancellationToken,
        _activity: Option<watch::Sender<Activity>>,
    ) -> Result<RunReport, RunError> {
        if request.spec.code.starts_with('!') {
            return Err(unknown_server(request.spec.code));
        }
        let mut outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
        outcome.result = Some(json!(request.spec.code));
        Ok(RunReport {
            run_id: RunId::new("run"),
            session: match request.spec.session {
                Selector::Named(name) => name,
                _ => SessionName::new("default"),
            },
            outcome,
            notice: None,
            backend: None,
            keeps_files: true,
            findings: Vec::new(),
            direct: None,
            changes: None,
        })
    }

    async fn refused(&self, _code: Option<&str>) {}

    async fn server_names(&self) -> Vec<String> {
        Vec::new()
    }

    async fn exposed(&self) -> Vec<ExposedTool> {
        Vec::new()
    }

    async fn call_exposed(
        &self,
        tool: &str,
        _arguments: Map<String, Value>,
        _cancel: CancellationToken,
    ) -> Result<Value, RunError> {
        Err(unknown_server(tool.to_owned()))
    }

    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        watch::channel(Arc::default()).1
    }

    async fn receipt(&self, _run: &RunId, _input: ReceiptInput) -> Option<Receipt> {
        None
    }

    async fn server_summaries(&self) -> Vec<ServerSummary> {
        Vec::new()
    }

    async fn search(&self, request: Search) -> SearchAnswer {
        SearchAnswer {
            tools: Vec::new(),
            more: request.limit,
            nearest: Vec::new(),
            pending: Vec::new(),
            note: None,
        }
    }

    async fn artifacts(&self) -> Result<Artifacts, ArtifactsError> {
        Ok(Artifacts::default())
    }

    async fn read_artifact(&self, _: SessionName, _: PathBuf, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(b"a,b".to_vec())
    }
}
