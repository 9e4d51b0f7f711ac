//! A persistent HTTP connection for whole answers and for event streams.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::request::{HttpAnswer, HttpRequest};

/// Longest wait for an answer; only a hanging gateway reaches it.
const PATIENCE: Duration = Duration::from_secs(90);

/// Reconnects after the server has closed the connection.
#[derive(Debug)]
pub struct HttpConnection {
    address: String,
    stream: Option<BufReader<TcpStream>>,
    /// Text of an event stream that is still unread.
    events: String,
}

// === impl HttpConnection ===

impl HttpConnection {
    /// The first request opens the connection.
    pub fn to(address: &str) -> HttpConnection {
        HttpConnection {
            address: address.to_owned(),
            stream: None,
            events: String::new(),
        }
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// If the connection breaks, or no answer comes.
    pub async fn ask(&mut self, request: &HttpRequest) -> Result<HttpAnswer> {
        let outcome = timeout(PATIENCE, self.ask_once(request)).await;
        let outcome = outcome.unwrap_or_else(|_| bail!("no answer within {PATIENCE:?}"));
        if outcome.is_err() {
            self.stream = None;
        }
        outcome.with_context(|| format!("{} at {}", request.line, self.address))
    }

    async fn ask_once(&mut self, request: &HttpRequest) -> Result<HttpAnswer> {
        let mut answer = self.begin(request).await?;
        let stream = self.stream.as_mut().context("it is open")?;
        answer.body = read_body(stream, &answer).await?;
        if answer.header("connection") == Some("close") {
            self.stream = None;
        }
        Ok(answer)
    }

    /// Sends a request and reads the head of its answer.
    ///
    /// # Errors
    /// If the connection breaks.
    pub async fn begin(&mut self, request: &HttpRequest) -> Result<HttpAnswer> {
        let bytes = request.bytes(&self.address);
        let stream = match self.stream.take() {
            Some(stream) if !is_closed(&stream) => stream,
            _ => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let stream = self.stream.insert(stream);
        stream.get_mut().write_all(&bytes).await?;
        read_head(stream).await
    }

    /// The data of the next event of a stream that [`HttpConnection::begin`] opened.
    ///
    /// # Errors
    /// If the stream ends.
    pub async fn event(&mut self) -> Result<String> {
        let stream = self.stream.as_mut().context("no stream is open")?;
        loop {
            while let Some((line, rest)) = self.events.split_once('\n') {
                let data = line.strip_prefix("data: ").map(str::to_owned);
                self.events = rest.to_owned();
                if let Some(data) = data {
                    return Ok(data.trim_end().to_owned());
                }
            }
            let piece = timeout(PATIENCE, read_chunk(stream)).await??;
            self.events.push_str(&String::from_utf8_lossy(&piece));
        }
    }
}

/// Whether the server has closed an idle connection.
fn is_closed(stream: &BufReader<TcpStream>) -> bool {
    let read = stream.get_ref().try_read(&mut [0]);
    !matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Result<String> {
    let mut line = Vec::new();
    ensure!(
        stream.read_until(b'\n', &mut line).await? > 0,
        "the connection ended"
    );
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

async fn read_head(stream: &mut BufReader<TcpStream>) -> Result<HttpAnswer> {
    let line = read_line(stream).await?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream).await?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(HttpAnswer {
        status: status.with_context(|| line.clone())?,
        headers,
        body: String::new(),
    })
}

async fn read_body(stream: &mut BufReader<TcpStream>, head: &HttpAnswer) -> Result<String> {
    let mut body = Vec::new();
    if head.header("transfer-encoding") == Some("chunked") {
        loop {
            let chunk = read_chunk(stream).await?;
            if chunk.is_empty() {
                break;
            }
            body.extend(chunk);
        }
    } else if let Some(length) = head.header("content-length") {
        body = read_bytes(stream, length.parse()?).await?;
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// One chunk of a body; the last one is empty.
async fn read_chunk(stream: &mut BufReader<TcpStream>) -> Result<Vec<u8>> {
    let size = usize::from_str_radix(&read_line(stream).await?, 16)?;
    let chunk = read_bytes(stream, size).await?;
    read_line(stream).await?;
    Ok(chunk)
}

async fn read_bytes(stream: &mut BufReader<TcpStream>, size: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}
