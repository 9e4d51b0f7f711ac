//! A client on the byte level, and a service whose programs are words.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use accounting::{DirectCost, Receipt, ReceiptInput, Tokenizer};
use broker::{Detail, FoundTool, RunClient, SearchAnswer, ServerSummary};
use gateway::{Connection, ConnectionEvents, Pipes};
use policy::Policy;
use serde_json::{Map, Value, json};
use surfaces::{
    ArtifactsError, CodeConfig, CodeService, Execute, ExposedTool, RunError, RunReport, Search, ToolListing,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::Selector;
use types::{Outcome, RunId, ServerTools, SessionFate, SessionName, Status};
use workspace::{Artifact, Artifacts, ReadError};

/// Longest wait, reached only by a failing test.
const PATIENCE: Duration = Duration::from_secs(20);

pub async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("waited too long for {what}"))
}

/// Programs: `return TEXT` answers at once, `wait NAME` waits for [`Script::release`], `hang` for its cancellation.
#[derive(Clone, Default)]
pub struct Script {
    log: Arc<watch::Sender<Vec<String>>>,
    released: Arc<watch::Sender<Vec<String>>>,
    seen: Arc<Mutex<Vec<Execute>>>,
}

impl Script {
    fn note(&self, line: String) {
        self.log.send_modify(|log| log.push(line));
    }

    /// Waits until the service has logged `line`.
    pub async fn logged(&self, line: &str) {
        let mut log = self.log.subscribe();
        soon(line, log.wait_for(|log| log.iter().any(|logged| logged == line)))
            .await
            .unwrap();
    }

    /// Releases programs that wait for this name.
    pub fn release(&self, name: &str) {
        self.released
            .send_modify(|released| released.push(name.to_owned()));
    }

    /// The requested runs.
    pub fn requests(&self) -> Vec<Execute> {
        self.seen.lock().unwrap().clone()
    }
}

impl CodeService for Script {
    type CallError = RunError;

    async fn execute(
        &self,
        request: Execute,
        cancel: CancellationToken,
        _client: RunClient,
    ) -> Result<RunReport, RunError> {
        self.seen.lock().unwrap().push(request.clone());
        let (command, rest) = request
            .spec
            .code
            .split_once(' ')
            .unwrap_or((&request.spec.code, ""));
        self.note(format!("started {}", request.spec.code));
        let mut outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
        match command {
            "return" => {}
            "refuse" => return Err(unknown_server(rest)),
            "wait" => {
                let mut released = self.released.subscribe();
                let go_on = released.wait_for(|released| released.iter().any(|name| name == rest));
                tokio::select! {
                    _ = go_on => {}
                    () = cancel.cancelled() => outcome.status = Status::Cancelled,
                }
            }
            "hang" => {
                cancel.cancelled().await;
                outcome.status = Status::Cancelled;
            }
            other => panic!("no script for {other}"),
        }
        self.note(format!("ended {}", request.spec.code));
        outcome.result = Some(json!(rest));
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
            direct: request.receipt.then(DirectCost::default),
            changes: None,
        })
    }

    async fn refused(&self, code: Option<&str>) {
        self.note(format!("refused {}", code.unwrap_or("nothing")));
    }

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
        Err(unknown_server(tool))
    }

    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>> {
        watch::channel(Arc::default()).1
    }

    async fn receipt(&self, run: &RunId, input: ReceiptInput) -> Option<Receipt> {
        let receipt = Receipt::count(&Tokenizer::load().unwrap(), input);
        self.note(format!("receipt of {run}: {} calls", receipt.direct.calls.calls));
        Some(receipt)
    }

    async fn server_summaries(&self) -> Vec<ServerSummary> {
        vec![ServerSummary {
            server: "crm".to_owned(),
            tools: Some(2),
            description: None,
            problem: None,
        }]
    }

    async fn search(&self, request: Search) -> SearchAnswer {
        let detail = match request.detail {
            Detail::Name => "name",
            Detail::Summary => "summary",
            Detail::Full => "full",
        };
        SearchAnswer {
            tools: vec![FoundTool {
                server: "crm".to_owned(),
                signature: Some(format!("tools.crm.{}()", request.query)),
                tool: request.query,
                description: Some(detail.to_owned()),
                score: Some(1.0),
                stub: None,
            }],
            more: request.limit,
            nearest: Vec::new(),
            pending: Vec::new(),
            note: None,
        }
    }

    async fn artifacts(&self) -> Result<Artifacts, ArtifactsError> {
        Ok(Artifacts {
            files: vec![Artifact {
                session: SessionName::new("default"),
                path: PathBuf::from("tables/of may.csv"),
                size: 3,
                modified: SystemTime::UNIX_EPOCH,
            }],
            more: false,
        })
    }

    async fn read_artifact(
        &self,
        session: SessionName,
        path: PathBuf,
        most: u64,
    ) -> Result<Vec<u8>, ReadError> {
        match (session.as_str(), path.to_str()) {
            ("default", Some("tables/of may.csv")) => Ok(b"a,b".to_vec()),
            ("default", Some("huge")) => Err(ReadError::TooLarge { size: most + 1, most }),
            ("default", Some("link")) => Err(ReadError::Special("a symbolic link, or behind one")),
            _ => Err(ReadError::Missing),
        }
    }
}

fn unknown_server(name: &str) -> RunError {
    RunError::UnknownServer {
        name: name.to_owned(),
        hint: None,
    }
}

pub struct Client {
    pub script: Script,
    pub events: ConnectionEvents,
    pub shutdown: CancellationToken,
    pub to_server: Option<DuplexStream>,
    pub from_server: Option<BufReader<DuplexStream>>,
    serving: JoinHandle<()>,
    next_id: i64,
}

impl Client {
    /// Connects and sends nothing yet.
    pub fn silent() -> Client {
        Client::with_buffer(1024 * 1024)
    }

    /// Connects with streams that hold this many bytes before a writer waits for its reader.
    pub fn with_buffer(bytes: usize) -> Client {
        let (to_server, server_reads) = tokio::io::duplex(bytes);
        let (server_writes, from_server) = tokio::io::duplex(bytes);
        let script = Script::default();
        let events = ConnectionEvents::default();
        let shutdown = CancellationToken::new();
        let pipes = Pipes::over(server_reads, server_writes);
        let connection = Connection {
            pipes,
            events: events.clone(),
            shutdown: shutdown.clone(),
        };
        let config = CodeConfig {
            policy: Arc::new(Policy::new(policy::PolicyConfig::default()).unwrap()),
            answers: types::Answers::default(),
            receipt: false,
            check: types::CheckMode::default(),
            listing: ToolListing::Constant,
        };
        let surface = surfaces::code(script.clone(), config, events.closed.clone());
        let serving = tokio::spawn(gateway::serve(surface, connection));
        Client {
            script,
            events,
            shutdown,
            to_server: Some(to_server),
            from_server: Some(BufReader::new(from_server)),
            serving,
            next_id: 100,
        }
    }

    /// Connects and initializes as a legacy client.
    pub async fn connected() -> Client {
        let mut client = Client::silent();
        client.initialize("2025-11-25").await;
        client
    }

    pub async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let result = self.call("initialize", params).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        result["result"].clone()
    }

    /// Sends bytes unchanged.
    pub async fn raw(&mut self, bytes: &[u8]) {
        let stream = self.to_server.as_mut().unwrap();
        soon("the server to read", stream.write_all(bytes)).await.unwrap();
    }

    pub async fn send(&mut self, message: Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    pub async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id: Value = id.into();
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    pub async fn execute(&mut self, id: impl Into<Value>, code: &str) {
        self.request(
            id,
            "tools/call",
            json!({"name": "execute_code", "arguments": {"code": code}}),
        )
        .await;
    }

    pub async fn cancel(&mut self, id: i64) {
        self.send(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        )
        .await;
    }

    /// The next line, which must be one message.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let stream = self.from_server.as_mut().unwrap();
        let length = soon("an answer", stream.read_line(&mut line)).await.unwrap();
        (length > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    pub async fn next(&mut self) -> Value {
        let line = self.line().await.expect("the server closed its side");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Sends a request with a fresh id; the next message must be its answer.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.request(id, method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub async fn call_tool(&mut self, name: &str, arguments: Value) -> Value {
        self.call("tools/call", json!({"name": name, "arguments": arguments}))
            .await
    }

    /// Code and message of a request's error.
    pub async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        error_of(&self.call(method, params).await)
    }

    /// The next answers, by id.
    pub async fn answers(&mut self, count: usize) -> HashMap<String, Value> {
        let mut answers = HashMap::new();
        for _ in 0..count {
            let answer = self.next().await;
            assert!(
                answers.insert(answer["id"].to_string(), answer).is_none(),
                "two answers to one request"
            );
        }
        answers
    }

    /// Checks that the server still serves.
    pub async fn check_alive(&mut self) {
        let answer = self
            .call_tool("execute_code", json!({"code": "return alive"}))
            .await;
        assert_eq!(
            answer["result"]["structuredContent"]["result"], "alive",
            "{answer}"
        );
    }

    /// Closes the client's side; returns all further messages until the server has ended.
    pub async fn finish(mut self) -> Vec<Value> {
        drop(self.to_server.take());
        let mut rest = Vec::new();
        while let Some(line) = self.line().await {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.ended().await;
        rest
    }

    pub async fn ended(self) {
        soon("the connection to end", self.serving).await.unwrap();
        assert!(self.events.closed.is_cancelled());
    }
}

pub fn error_of(answer: &Value) -> (i64, String) {
    let error = &answer["error"];
    let code = error["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("no error: {answer}"));
    (code, error["message"].as_str().unwrap().to_owned())
}
