//! A listening codeyard, and a client that sees every byte of a response.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use test_support::Codeyard;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// Longest wait; only a failing test reaches it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A codeyard process that serves HTTP.
pub struct Served {
    pub codeyard: Codeyard,
    pub address: String,
    child: Child,
}

/// A complete response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    body: String,
}

/// A response that has not ended.
pub struct Stream(BufReader<TcpStream>);

/// One event of a stream.
#[derive(Debug, Default)]
pub struct SseEvent {
    pub id: Option<String>,
    pub data: Option<String>,
    pub retry: Option<String>,
}

impl SseEvent {
    /// Reads one more line; returns whether the event is complete.
    fn read(&mut self, line: &str) -> bool {
        for (name, field) in [
            ("id: ", &mut self.id),
            ("data: ", &mut self.data),
            ("retry: ", &mut self.retry),
        ] {
            if let Some(value) = line.strip_prefix(name) {
                *field = Some(value.trim_end().to_owned());
            }
        }
        // Lines of the chunked coding have other endings.
        line == "\n" && (self.id.is_some() || self.data.is_some())
    }

    #[track_caller]
    pub fn message(&self) -> Value {
        serde_json::from_str(self.data.as_deref().unwrap()).unwrap()
    }
}

impl Served {
    /// Starts codeyard on a free port.
    pub async fn start(codeyard: Codeyard, options: &[&str]) -> Served {
        Served::start_with(codeyard, options, Stdio::null()).await
    }

    /// Starts codeyard with this standard input, and a readable output.
    pub async fn start_with(codeyard: Codeyard, options: &[&str], input: Stdio) -> Served {
        let mut command = codeyard
            .command(["mcp", "--listen", "0"].iter().chain(options))
            .unwrap();
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
            let line = line.expect("codeyard prints its address");
            if let Some((_, rest)) = line.split_once("://") {
                break rest.trim_end_matches("/mcp").to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Served {
            codeyard,
            address,
            child,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    pub fn take_stdio(&mut self) -> (ChildStdin, ChildStdout) {
        (
            self.child.stdin.take().unwrap(),
            self.child.stdout.take().unwrap(),
        )
    }

    /// The exit status.
    pub async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap()
    }

    pub fn terminate(&mut self) {
        let pid = Pid::from_raw(self.pid().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Opens a session; returns its id.
    pub async fn open(&self) -> String {
        let answer = self.post(&[], &initialize()).await;
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&[("mcp-session-id", &id)], &initialized).await;
        id
    }

    /// Runs a program; returns the answer.
    pub async fn run(&self, session: &str, code: &str) -> Value {
        let answer = self
            .post(&[("mcp-session-id", session)], &call(1, code, None))
            .await;
        answer.events().pop().unwrap()
    }

    pub async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        self.begin(headers, message).await.whole().await
    }

    pub async fn delete(&self, session: &str) -> Response {
        self.send("DELETE", &[("mcp-session-id", session)], b"")
            .await
            .whole()
            .await
    }

    pub async fn listen(&self, session: &str) -> Stream {
        let mut stream = self.send("GET", &[("mcp-session-id", session)], b"").await;
        // The server has registered the listener by now.
        timeout(PATIENCE, stream.0.fill_buf()).await.unwrap().unwrap();
        stream
    }

    /// Opens a listening stream, with one more header.
    pub async fn listen_as(&self, session: &str, header: (&str, &str)) -> Stream {
        self.send("GET", &[("mcp-session-id", session), header], b"")
            .await
    }

    /// The name of a server's tool on the surface `standard`.
    pub async fn tool(&self, session: &str, end: &str) -> String {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let answer = self.post(&[("mcp-session-id", session)], &list).await;
        let answer = answer.events().pop().unwrap();
        let mut tools = answer["result"]["tools"].as_array().unwrap().iter();
        tools
            .find_map(|tool| tool["name"].as_str().filter(|name| name.ends_with(end)))
            .unwrap_or_else(|| panic!("no tool {end} in {answer}"))
            .to_owned()
    }

    /// Sends a message without reading the answer.
    pub async fn begin(&self, headers: &[(&str, &str)], message: &Value) -> Stream {
        let mut headers = headers.to_vec();
        headers.push(("content-type", "application/json"));
        headers.push(("accept", "application/json, text/event-stream"));
        self.send("POST", &headers, message.to_string().as_bytes()).await
    }

    /// Sends a request; `Host` is the address by default.
    pub async fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Stream {
        send(&self.address, (method, "/mcp"), headers, body).await
    }
}

/// Sends a request to an address; `Host` is that address by default.
pub async fn send(
    address: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &[u8],
) -> Stream {
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        head.push_str(&format!("host: {address}\r\n"));
    }
    if !headers.iter().any(|(name, _)| *name == "content-length") {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    // The server refuses an oversized body before its end.
    let _ = stream.write_all(body).await;
    Stream(BufReader::new(stream))
}

impl Stream {
    /// Reads to the end of the connection.
    pub async fn whole(mut self) -> Response {
        let mut text = Vec::new();
        timeout(PATIENCE, self.0.read_to_end(&mut text))
            .await
            .unwrap()
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// The status of the response.
    pub async fn status(&mut self) -> u16 {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.0.read_line(&mut line)).await;
        read.unwrap().unwrap();
        line.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// The next event.
    pub async fn sse_event(&mut self) -> SseEvent {
        let mut event = SseEvent::default();
        let mut line = String::new();
        loop {
            line.clear();
            let read = timeout(PATIENCE, self.0.read_line(&mut line)).await;
            assert_ne!(read.unwrap().unwrap(), 0, "the stream has ended");
            if event.read(&line) {
                return event;
            }
        }
    }

    /// The message of the next event.
    pub async fn event(&mut self) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            timeout(PATIENCE, self.0.read_line(&mut line))
                .await
                .unwrap()
                .unwrap();
            assert!(!line.is_empty(), "the stream has ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find_map(|(field, value)| (field == name).then_some(value))
    }

    pub fn text(&self) -> &str {
        &self.body
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The messages of an event stream, or the single message of the body.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        if self.header("content-type") == Some("application/json") {
            return vec![self.json()];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

impl Response {
    /// The events of a stream.
    pub fn sse_events(&self) -> Vec<SseEvent> {
        let mut events = vec![SseEvent::default()];
        for line in self.body.split_inclusive('\n') {
            if events.last_mut().unwrap().read(line) {
                events.push(SseEvent::default());
            }
        }
        events.pop();
        events
    }
}

pub fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// A call of a client with a session.
pub fn call(id: i64, code: &str, token: Option<&str>) -> Value {
    let mut params = json!({"name": "execute_code", "arguments": {"code": code}});
    if let Some(token) = token {
        params["_meta"] = json!({ "progressToken": token });
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// A request of a client without a session.
pub fn modern(method: &str, mut params: Value, token: Option<&str>) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(token) = token {
        params["_meta"]["progressToken"] = json!(token);
    }
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}
