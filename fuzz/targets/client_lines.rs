//! What a client sends over standard input: every line is answered at most once and in the protocol's own form, and the connection lives on.
//!
//! Input: a byte of flags, then the client's bytes as they are. With the flag `OPENED` the handshake comes before them.

#![no_main]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use accounting::{Receipt, ReceiptInput};
use broker::{SearchAnswer, ServerSummary};
use gateway::{Connection, ConnectionEvents, Pipes};
use libfuzzer_sys::fuzz_target;
use policy::Policy;
use serde_json::{Map, Value, json};
use surfaces::{
    ArtifactsError, CodeConfig, CodeService, Execute, ExposedTool, RunError, RunReport,
    Search, ToolListing,
};
use types::Selector;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{Activity, Answers, CheckMode, Outcome, RunId, ServerTools, SessionFate, SessionName, Status};
use workspace::{Artifacts, ReadError};

/// The handshake comes first.
const OPENED: u8 = 1;

/// Bytes that a direction holds, so that nobody waits for a reader.
const ROOM: usize = 4 * 1024 * 1024;
/// Longest wait for the end of a connection; far more than its own patience.
const PATIENCE: Duration = Duration::from_secs(8);
/// The number of the last request, which must be answered whatever came before it.
const LAST: i64 = 8_000_000_000;

fuzz_target!(|data: &[u8]| {
    let Some((flags, said)) = data.split_first() else {
        return;
    };
    let opened = flags & OPENED != 0;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let answers = runtime.block_on(converse(opened, said));
    check(&answers, said, opened);
});

/// Says everything, closes and gives what was answered.
async fn converse(opened: bool, said: &[u8]) -> Vec<u8> {
    let (mut to_server, reads) = tokio::io::duplex(ROOM);
    let (writes, from_server) = tokio::io::duplex(ROOM);
    let policy = Policy::new(policy::PolicyConfig::default()).expect("the default policy");
    let connection = Connection {
        pipes: Pipes::over(reads, writes),
        events: ConnectionEvents::default(),
        shutdown: CancellationToken::new(),
    };
    let config = CodeConfig {
        policy: Arc::new(policy),
        answers: Answers::default(),
        receipt: false,
        check: CheckMode::default(),
        listing: ToolListing::Changing,
    };
    let surface = surfaces::code(Ready, config, connection.events.closed.clone());
    let serving = tokio::spawn(gateway::serve(surface, connection));
    let before = if opened { handshake() } else { String::new() };
    let last = json!({"jsonrpc": "2.0", "id": LAST, "method": "ping"});
    for bytes in [before.as_bytes(), said, b"\n", last.to_string().as_bytes(), b"\n"] {
        to_server.write_all(bytes).await.expect("the server reads");
    }
    let mut from_server = from_server;
    let answers = tokio::time::timeout(PATIENCE, until_last(&mut from_server)).await;
    let mut answers = answers.expect("the last request is answered whatever came before it");
    drop(to_server);
    tokio::time::timeout(PATIENCE, from_server.read_to_end(&mut answers))
        .await
        .expect("the end")
        .expect("bytes");
    tokio::time::timeout(PATIENCE, serving)
        .await
        .expect("the connection ends")
        .expect("no panic");
    answers
}

fn handshake() -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": -1, "method": "initialize", "params": params});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{initialize}\n{initialized}\n")
}

/// Reads until the last request is answered.
async fn until_last(from_server: &mut DuplexStream) -> Vec<u8> {
    let mut answers = Vec::new();
    let mark = format!("\"id\":{LAST}");
    while !String::from_utf8_lossy(&answers).contains(&mark) {
        if from_server.read_buf(&mut answers).await.expect("bytes") == 0 {
            break;
        }
    }
    answers
}

fn check(answers: &[u8], said: &[u8], opened: bool) {
    assert!(answers.ends_with(b"\n"), "the last line has its end");
    let lines: Vec<&[u8]> = answers.trim_ascii_end().split(|byte| *byte == b'\n').collect();
    let mut answered = 0;
    let mut last = 0;
    for line in &lines {
        let message: Value = serde_json::from_slice(line).expect("a line is one message");
        assert_eq!(message["jsonrpc"], "2.0");
        if message.get("method").is_some() {
            continue;
        }
        assert!(
            message.get("result").is_some() != message.get("error").is_some(),
            "{message}"
        );
        assert!(message.get("id").is_some(), "an answer without an id: {message}");
        answered += 1;
        last += usize::from(message["id"] == LAST);
    }
    let said = said
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count();
    let asked = said + usize::from(opened) + 1;
    assert!(answered <= asked, "{answered} answers to {asked} lines");
    assert!(last >= 1, "the last request was not answered");
}

fn unknown_server(name: String) -> RunError {
    RunError::UnknownServer { name, hint: None }
}

/// Answers everything at once.
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
