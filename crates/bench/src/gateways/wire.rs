//! HTTP/1.1 messages on one connection, for the load generator and the upstream servers.

use std::io::ErrorKind;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Longest message.
const MOST: usize = 64 * 1024 * 1024;
const READ: usize = 64 * 1024;

/// One side of a connection.
pub struct Wire {
    stream: TcpStream,
    /// Read bytes that belong to no message yet.
    unread: Vec<u8>,
}

/// A request or an answer.
pub struct HttpMessage {
    /// The first line and the headers.
    pub head: String,
    pub body: Vec<u8>,
}

impl Wire {
    pub fn new(stream: TcpStream) -> Result<Wire> {
        stream.set_nodelay(true)?;
        Ok(Wire {
            stream,
            unread: Vec::new(),
        })
    }

    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// The next message; `None` if the peer closed the connection before it.
    pub async fn receive(&mut self) -> Result<Option<HttpMessage>> {
        let head = loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                break String::from_utf8(self.take(end + 4))?;
            }
            if !self.fill().await? {
                ensure!(self.unread.is_empty(), "the connection ended within a head");
                return Ok(None);
            }
        };
        let body = if header(&head, "transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            self.chunks().await?
        } else {
            let length = header(&head, "content-length").map_or(Ok(0), str::parse)?;
            self.exactly(length).await?
        };
        Ok(Some(HttpMessage { head, body }))
    }

    async fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(end) = find(&self.unread, b"\r\n") {
                    break end;
                }
                ensure!(self.fill().await?, "the connection ended within a body");
            };
            let line = self.take(end + 2);
            let size = std::str::from_utf8(&line)?.trim();
            let size = usize::from_str_radix(size, 16).with_context(|| format!("chunk {size:?}"))?;
            let chunk = self.exactly(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
            ensure!(body.len() <= MOST, "a body of more than {MOST} bytes");
        }
    }

    async fn exactly(&mut self, length: usize) -> Result<Vec<u8>> {
        ensure!(length <= MOST, "a body of {length} bytes");
        while self.unread.len() < length {
            if !self.fill().await? {
                bail!("the connection ended within a body");
            }
        }
        Ok(self.take(length))
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.unread.split_off(length);
        std::mem::replace(&mut self.unread, rest)
    }

    /// Whether the peer has closed the connection, on which no answer is awaited.
    pub fn is_closed(&self) -> bool {
        let read = self.stream.try_read(&mut [0]);
        !matches!(read, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// False at the end of the stream.
    async fn fill(&mut self) -> Result<bool> {
        self.unread.reserve(READ);
        Ok(self.stream.read_buf(&mut self.unread).await? > 0)
    }
}

impl HttpMessage {
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

fn header<'head>(head: &'head str, name: &str) -> Option<&'head str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.find_map(|(field, value)| field.eq_ignore_ascii_case(name).then(|| value.trim()))
}

/// The place of a text in bytes.
pub fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}
