//! The part of HTTP/1.1 that a server needs: heads, bodies, chunks and reused connections.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

use super::protocol::Seen;

const MAX_BODY: usize = 64 * 1024 * 1024;

pub(crate) struct Client {
    stream: BufReader<Box<dyn Stream>>,
}

/// With or without TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Client {
    pub(crate) fn new(stream: Box<dyn Stream>) -> Client {
        Client {
            stream: BufReader::new(stream),
        }
    }

    /// The next request; `None` once the client has closed the connection.
    pub(crate) async fn request(&mut self) -> Result<Option<Seen>> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let mut words = line.split_ascii_whitespace();
        let method = words.next().context("a method")?.to_owned();
        let path = words.next().context("a path")?.to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut seen = Seen {
            method,
            path,
            headers,
            message: Value::Null,
        };
        let length = seen.header("content-length").map_or(Ok(0), str::parse::<usize>)?;
        ensure!(length <= MAX_BODY, "a body of {length} bytes");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        seen.message = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some(seen))
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.get_mut().write_all(bytes).await?;
        Ok(self.stream.get_mut().flush().await?)
    }

    pub(crate) async fn respond(
        &mut self,
        status: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<()> {
        let length = body.len().to_string();
        let headers = [headers, &[("Content-Length", length.as_str())]].concat();
        self.head(status, &headers).await?;
        self.write(body).await
    }

    pub(crate) async fn respond_json(
        &mut self,
        status: &str,
        headers: &[(&str, &str)],
        message: &Value,
    ) -> Result<()> {
        let headers = [headers, &[("Content-Type", "application/json")]].concat();
        self.respond(status, &headers, message.to_string().as_bytes())
            .await
    }

    pub(super) async fn head(&mut self, status: &str, headers: &[(&str, &str)]) -> Result<()> {
        let mut head = format!("HTTP/1.1 {status}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.write(head.as_bytes()).await
    }

    /// Sends the head of an event stream.
    pub(crate) async fn begin_events(&mut self, headers: &[(&str, &str)]) -> Result<()> {
        let own = [
            ("Content-Type", "text/event-stream"),
            ("Transfer-Encoding", "chunked"),
        ];
        self.head("200 OK", &[headers, &own].concat()).await
    }

    /// Sends one chunk of a body of unknown length.
    pub(super) async fn chunk(&mut self, bytes: &[u8]) -> Result<()> {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.write(&chunk).await
    }

    pub(crate) async fn event(&mut self, kind: &str, data: &str) -> Result<()> {
        self.chunk(format!("event: {kind}\r\ndata: {data}\r\n\r\n").as_bytes())
            .await
    }

    /// Ends a body of unknown length.
    pub(crate) async fn end(&mut self) -> Result<()> {
        self.write(b"0\r\n\r\n").await
    }

    pub(crate) async fn left(&mut self) {
        // A client that waits for an answer sends no further request.
        let _ = self.stream.fill_buf().await;
    }
}
