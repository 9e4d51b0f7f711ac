//! A remote server that requires a login: a real authorization server, and a gate in front of the
//! stub that checks its tokens.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::{RemoteServer, Way};
use crate::codeyard::Codeyard;
use crate::upstreams::installed;

/// The gate and the authorization server; both end on drop.
#[derive(Debug)]
pub struct Guarded {
    /// The MCP server behind the gate.
    pub inner: RemoteServer,
    /// Ends when its standard input closes or when it is dropped.
    _servers: Child,
    issuer: String,
    url: String,
}

/// A `codeyard login` that waits for the person to log in.
#[derive(Debug)]
pub struct Login {
    child: Child,
    /// The address to open.
    pub url: String,
    told: String,
}

/// How a command ended.
#[derive(Debug)]
pub struct LoginEnded {
    /// Whether the command succeeded.
    pub is_done: bool,
    /// Everything that the command printed.
    pub told: String,
}

impl Guarded {
    /// Starts the gate and the authorization server.
    pub async fn start(way: Way) -> Result<Guarded> {
        let inner = RemoteServer::start(way).await?;
        let modules = installed().join("node_modules");
        let mut servers = Command::new("node")
            .arg(script("servers.mjs"))
            .arg(&modules)
            .arg(inner.url())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("node")?;
        let stdout = servers.stdout.take().context("stdout is piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let addresses: Value = serde_json::from_str(&line)
            .with_context(|| format!("no authorization server from {}", modules.display()))?;
        let text = |name: &str| addresses[name].as_str().unwrap_or_default().to_owned();
        Ok(Guarded {
            inner,
            _servers: servers,
            issuer: text("issuer"),
            url: text("mcp"),
        })
    }

    /// The address of the MCP server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address of the authorization server.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Changes the behaviour of both; `servers.mjs` lists the settings.
    pub async fn set(&self, settings: Value) -> Result<()> {
        self.ask("POST", "/settings", &settings).await.map(drop)
    }

    /// The number of token requests with this grant type.
    pub async fn grants(&self, kind: &str) -> Result<usize> {
        let log = self.log().await?;
        Ok(log.iter().filter(|entry| entry["grant"] == kind).count())
    }

    /// The requests that the authorization server received.
    pub async fn log(&self) -> Result<Vec<Value>> {
        let log = self.ask("GET", "/log", &json!({})).await?;
        Ok(log.as_array().cloned().unwrap_or_default())
    }

    /// Waits until the server was called this often.
    pub async fn called(&self, times: usize) -> Result<()> {
        loop {
            let log = self.log().await?;
            if log.iter().filter(|entry| entry["called"].is_string()).count() >= times {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let host = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(host).await?;
        let body = body.to_string();
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (_, body) = answer.split_once("\r\n\r\n").context("an answer")?;
        Ok(serde_json::from_str(body)?)
    }
}

impl Login {
    /// Starts `codeyard login` and waits until it prints an address or ends.
    pub async fn begin(codeyard: &Codeyard, arguments: &[&str]) -> Result<Result<Login, LoginEnded>> {
        let words = ["login", "--no-browser"].iter().chain(arguments);
        let mut command = codeyard.command(words)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stderr = child.stderr.take().context("stderr is piped")?;
        let mut lines = BufReader::new(stderr).lines();
        let mut told = String::new();
        while let Some(line) = lines.next_line().await? {
            told.push_str(&line);
            told.push('\n');
            if line.starts_with("http") {
                // Later output is read when the command ends.
                child.stderr = Some(lines.into_inner().into_inner());
                let url = line;
                return Ok(Ok(Login { child, url, told }));
            }
        }
        let status = child.wait().await?;
        Ok(Err(LoginEnded {
            is_done: status.success(),
            told,
        }))
    }

    /// Writes a line to its standard input.
    pub async fn paste(&mut self, line: &str) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("stdin is piped")?;
        stdin.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(())
    }

    /// Waits until it ends.
    pub async fn end(self) -> Result<LoginEnded> {
        let output = self.child.wait_with_output().await?;
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        Ok(LoginEnded {
            is_done: output.status.success(),
            told: format!("{}{out}{err}", self.told),
        })
    }
}

/// Opens an address in a browser; returns the text of the last page.
pub async fn browse(url: &str) -> Result<String> {
    browser(&[url]).await
}

/// Opens a gateway's link, sends its form with this token, and agrees to everything; returns the text of the last page.
pub async fn browse_as(link: &str, token: &str) -> Result<String> {
    browser(&[link, "--token", token]).await
}

/// Like [`browse`], but stops at a redirect to another host and returns its address.
pub async fn browse_home(url: &str) -> Result<String> {
    browser(&[url, "--stop"]).await
}

async fn browser(arguments: &[&str]) -> Result<String> {
    let output = Command::new("node")
        .arg(script("browser.mjs"))
        .args(arguments)
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        bail!("the browser: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("oauth").join(name)
}
