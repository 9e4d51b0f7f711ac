//! A client of HTTP/1.1 on the byte level.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::client::soon;

/// A request with one token.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

/// A response whose body may still be arriving.
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
}

impl Ask {
    pub fn new(method: &'static str, path: impl Into<String>) -> Ask {
        Ask {
            method,
            path: path.into(),
            ..Ask::default()
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Ask {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn token(self, token: &str) -> Ask {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn json(mut self, body: &Value) -> Ask {
        self.body = Some(body.to_string().into_bytes());
        self.header("content-type", "application/json")
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let has_host = self.headers.iter().any(|(name, _)| name == "host");
        if !has_host {
            head.push_str("host: localhost\r\n");
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }

    /// Sends the request on its own connection.
    pub async fn send(&self, address: SocketAddr) -> Answer {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // A server that refuses by the head may not read the rest.
        let _ = soon("the server to read", stream.write_all(&self.bytes())).await;
        Answer::read(stream).await
    }
}

impl Answer {
    pub async fn read(stream: TcpStream) -> Answer {
        let mut stream = BufReader::new(stream);
        let first = line(&mut stream).await;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut headers = Vec::new();
        loop {
            let next = line(&mut stream).await;
            let Some((name, value)) = next.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Answer {
            status: status.unwrap_or_else(|| panic!("no status: {first:?}")),
            headers,
            stream,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub async fn text(mut self) -> String {
        let mut bytes = Vec::new();
        if let Some(length) = self.header("content-length") {
            bytes.resize(length.parse().unwrap(), 0);
            soon("the body", self.stream.read_exact(&mut bytes))
                .await
                .unwrap();
        } else {
            while let Some(piece) = self.chunk().await {
                bytes.extend(piece);
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    pub async fn json(self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text:?}"))
    }

    /// Type and data of the next event; `None` at the end of the stream.
    pub async fn event(&mut self) -> Option<(String, String)> {
        loop {
            // The server sends every event as one chunk.
            let text = String::from_utf8(self.chunk().await?).unwrap();
            let field = |name: &str| {
                let found = text.lines().find_map(|line| line.strip_prefix(name));
                found.map(|value| value.trim_start_matches(": ").to_owned())
            };
            if let Some(data) = field("data") {
                return Some((field("event").unwrap_or_default(), data));
            }
        }
    }

    /// The next message of an event stream.
    pub async fn message(&mut self) -> Value {
        let (kind, data) = self.event().await.expect("the stream has ended");
        assert_eq!(kind, "message", "{data}");
        serde_json::from_str(&data).unwrap()
    }

    /// Waits for the end of an event stream.
    pub async fn end(mut self) {
        while self.event().await.is_some() {}
    }

    /// Reads to the end of the connection; returns whether the body was complete.
    pub async fn ends_whole(mut self) -> bool {
        loop {
            let size = line(&mut self.stream).await;
            let Ok(size) = usize::from_str_radix(&size, 16) else {
                return false;
            };
            let mut bytes = vec![0; size + 2];
            let read = soon("a chunk", self.stream.read_exact(&mut bytes)).await;
            if read.is_err() || size == 0 {
                return read.is_ok();
            }
        }
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = line(&mut self.stream).await;
        let size = usize::from_str_radix(&size, 16).unwrap_or(0);
        let mut bytes = vec![0; size + 2];
        soon("a chunk", self.stream.read_exact(&mut bytes)).await.ok()?;
        bytes.truncate(size);
        (size > 0).then_some(bytes)
    }
}

/// Empty at the end of the connection.
async fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    let _ = soon("a line", stream.read_line(&mut line)).await;
    line.trim_end().to_owned()
}
