//! One HTTP request, and one HTTP answer with its whole body.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// A request; the token and the body are optional.
#[derive(Debug, Clone, Default)]
pub struct HttpRequest {
    /// Method and path, such as `GET /servers`.
    pub line: String,
    /// The bearer token.
    pub token: String,
    /// Further headers, in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// Empty if the request has no body.
    pub body: String,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Header names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The body after transfer decoding.
    pub body: String,
}

// === impl HttpRequest ===

impl HttpRequest {
    /// A request with a bearer token; `Value::Null` means no body.
    pub fn new(line: impl Into<String>, token: &str, body: &Value) -> HttpRequest {
        HttpRequest {
            line: line.into(),
            token: token.to_owned(),
            headers: Vec::new(),
            body: match body {
                Value::Null => String::new(),
                body => body.to_string(),
            },
        }
    }

    /// A request to `/rpc`.
    pub fn rpc(token: &str, id: &str, method: &str, params: Value) -> HttpRequest {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        HttpRequest::new("POST /rpc", token, &body)
    }

    /// A message of MCP in the era with sessions.
    pub fn mcp(server: &str, token: &str, session: Option<&str>, message: &Value) -> HttpRequest {
        let mut request = HttpRequest::new(format!("POST /servers/{server}/mcp"), token, message);
        request.accepts_events();
        let session = session.map(|session| ("mcp-session-id", session.to_owned()));
        request.headers.extend(session);
        request
    }

    /// A call of a tool in the era without sessions.
    pub fn modern_call(server: &str, token: &str, tool: &str, arguments: &Value) -> HttpRequest {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let mut request = HttpRequest::new(format!("POST /servers/{server}/mcp"), token, &message);
        request.accepts_events();
        request.headers.extend([
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", tool.to_owned()),
        ]);
        request
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> HttpRequest {
        self.headers.push((name, value.into()));
        self
    }

    fn accepts_events(&mut self) {
        let accepted = "application/json, text/event-stream".to_owned();
        self.headers.push(("accept", accepted));
    }

    /// The bytes to send to this host.
    pub(super) fn bytes(&self, host: &str) -> Vec<u8> {
        let mut text = format!("{} HTTP/1.1\r\nhost: {host}\r\n", self.line);
        if !self.token.is_empty() {
            text.push_str(&format!("authorization: Bearer {}\r\n", self.token));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            text.push_str("content-type: application/json\r\n");
        }
        text.push_str(&format!(
            "content-length: {}\r\n\r\n{}",
            self.body.len(),
            self.body
        ));
        text.into_bytes()
    }
}

// === impl HttpAnswer ===

impl HttpAnswer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter();
        fields.find_map(|(field, value)| (field == name).then_some(value.as_str()))
    }

    /// The body as JSON, or the last message of an event stream.
    ///
    /// # Errors
    /// If the answer holds neither.
    pub fn json(&self) -> Result<Value> {
        let is_stream = self.header("content-type") == Some("text/event-stream");
        let text = match is_stream {
            true => self
                .body
                .lines()
                .rev()
                .find_map(|line| line.strip_prefix("data: ")),
            false => Some(self.body.as_str()),
        };
        let text = text.unwrap_or_default();
        serde_json::from_str(text).with_context(|| format!("{} {}", self.status, self.body))
    }

    /// The structured result of a `shell_exec` call over any entry; `Null` if there is none.
    pub fn structured(&self) -> Value {
        let mut message = self.json().unwrap_or_default();
        message["result"]["structuredContent"].take()
    }
}
