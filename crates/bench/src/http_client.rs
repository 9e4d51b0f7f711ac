//! A minimal, blocking Streamable HTTP client on one connection, so that the measured time is the server's.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use test_support::Codeyard;

const PATIENCE: Duration = Duration::from_secs(30);
const VERSION: &str = "2025-06-18";

/// A codeyard that serves HTTP; dropping the value kills the process.
pub struct Listening {
    process: Child,
    address: String,
}

/// The address and the credentials of a client.
#[derive(Debug, Clone)]
pub struct ClientTarget {
    pub path: String,
    pub token: Option<String>,
}

pub struct HttpClient {
    stream: BufReader<TcpStream>,
    address: String,
    target: ClientTarget,
    session: Option<String>,
    next_id: u64,
}

// === impl Listening ===

impl Listening {
    /// Starts `codeyard mcp` or `codeyard serve`.
    pub fn start(codeyard: &Codeyard, command: &str) -> Result<Listening> {
        let mut process = codeyard
            .command([command, "--listen", "0"])?
            .into_std()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(process.stderr.take().context("stderr is piped")?).lines();
        for line in &mut lines {
            if let Some((_, rest)) = line?.split_once("http://") {
                let address = rest.split([';', '/']).next().unwrap_or(rest).to_owned();
                std::thread::spawn(move || lines.count());
                return Ok(Listening { process, address });
            }
        }
        bail!("codeyard ended before it printed its address");
    }

    /// Stops the process with SIGTERM, so that all records are on disk.
    pub fn end(mut self) -> Result<()> {
        let pid = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("a process")?, Signal::TERM)?;
        ensure!(self.process.wait()?.success(), "codeyard failed at its end");
        Ok(())
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// A client of `codeyard mcp`.
    pub fn connect(&self) -> Result<HttpClient> {
        self.connect_to(ClientTarget {
            path: "/mcp".to_owned(),
            token: None,
        })
    }

    pub fn connect_to(&self, target: ClientTarget) -> Result<HttpClient> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(HttpClient {
            stream: BufReader::new(stream),
            address: self.address.clone(),
            target,
            session: None,
            next_id: 0,
        })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// === impl HttpClient ===

impl HttpClient {
    pub fn initialize(&mut self) -> Result<()> {
        let client = json!({"name": "bench", "version": "0"});
        let parameters = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
        self.ask("initialize", &parameters)?;
        ensure!(self.session.is_some(), "the server gave no session");
        let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&message).map(drop)
    }

    /// Continues in the session of another connection.
    pub fn join(&mut self, other: &HttpClient) {
        self.session.clone_from(&other.session);
        // Ids are unique within a session.
        self.next_id = 1_000_000 + u64::from(std::process::id());
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        let body = self.post(&message)?;
        let last = body.lines().rev().find_map(|line| {
            let line = line.strip_prefix("data:").unwrap_or(line).trim();
            (!line.is_empty()).then_some(line)
        });
        let answer: Value = serde_json::from_str(last.with_context(|| format!("no answer to {method}"))?)?;
        ensure!(answer.get("result").is_some(), "{answer}");
        Ok(answer)
    }

    /// Posts a body to the client's address; returns the answer's body.
    pub fn post(&mut self, message: &Value) -> Result<String> {
        let body = message.to_string();
        let path = self.target.path.clone();
        let head = format!(
            "POST {path} HTTP/1.1\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        self.send(&head, &body)
    }

    /// Gets a path; returns the answer's body.
    pub fn get(&mut self, path: &str) -> Result<String> {
        self.send(&format!("GET {path} HTTP/1.1\r\n"), "")
    }

    fn send(&mut self, head: &str, body: &str) -> Result<String> {
        let token = self.target.token.as_ref();
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
        let session = self
            .session
            .as_ref()
            .map(|session| format!("mcp-session-id: {session}\r\nmcp-protocol-version: {VERSION}\r\n"));
        let request = format!(
            "{head}host: {}\r\n{}{}\r\n{body}",
            self.address,
            token.unwrap_or_default(),
            session.unwrap_or_default(),
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.receive()
    }

    /// The body of a response; stores the session id from its head.
    fn receive(&mut self) -> Result<String> {
        let status = self.line()?;
        ensure!(status.contains(" 20"), "{status}");
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse()?,
                "transfer-encoding" => is_chunked = value == "chunked",
                "mcp-session-id" => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if !is_chunked {
            self.take(length, &mut body)?;
            return Ok(String::from_utf8(body)?);
        }
        loop {
            let size = usize::from_str_radix(self.line()?.trim(), 16)?;
            self.take(size, &mut body)?;
            self.line()?;
            if size == 0 {
                return Ok(String::from_utf8(body)?);
            }
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn take(&mut self, length: usize, body: &mut Vec<u8>) -> Result<()> {
        let start = body.len();
        body.resize(start + length, 0);
        Ok(self.stream.read_exact(&mut body[start..])?)
    }
}
