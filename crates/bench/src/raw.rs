//! A minimal, blocking MCP client over pipes, so that the measured time is the server's.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

/// Longest silence; longer than the slowest start measured here.
const PATIENCE: Timespec = Timespec {
    tv_sec: 30,
    tv_nsec: 0,
};
const VERSION: &str = "2025-06-18";

/// A program that answers lines; dropping it kills the program.
pub struct Lines {
    child: Child,
    /// `None` once the program's input is closed.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// Errors of the program; the end is shown if it stops answering.
    stderr: File,
}

pub struct Raw {
    lines: Lines,
    next_id: u64,
    /// Requests answered while the client waited for another.
    answered: HashSet<u64>,
}

// === impl Lines ===

impl Lines {
    pub fn start(command: &mut Command) -> Result<Self> {
        let stderr = tempfile::tempfile()?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone()?)
            .spawn()
            .with_context(|| format!("start {}", command.get_program().display()))?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self {
            child,
            stdin,
            stdout,
            stderr,
        })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("its input is already closed")?;
        Ok(stdin.write_all(format!("{line}\n").as_bytes())?)
    }

    pub fn receive(&mut self) -> Result<String> {
        if self.stdout.buffer().is_empty() {
            let mut watched = [PollFd::new(self.stdout.get_ref(), PollFlags::IN)];
            ensure!(
                poll(&mut watched, Some(&PATIENCE))? > 0,
                "no answer within 30 seconds"
            );
        }
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            bail!("it ended instead of answering: {}", self.last_words());
        }
        Ok(line)
    }

    fn last_words(&mut self) -> String {
        let mut errors = Vec::new();
        // An unreadable stderr adds nothing to the message.
        let read = self
            .stderr
            .rewind()
            .and_then(|()| self.stderr.read_to_end(&mut errors));
        let errors = String::from_utf8_lossy(&errors).into_owned();
        read.ok()
            .and(errors.trim().lines().last().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Closes the program's input and waits for its end.
    pub fn close(mut self) -> Result<()> {
        self.stdin = None;
        let status = self.child.wait()?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

// === impl Raw ===

impl Raw {
    pub fn open(command: &mut Command) -> Result<Self> {
        let lines = Lines::start(command)?;
        let mut raw = Self {
            lines,
            next_id: 0,
            answered: HashSet::new(),
        };
        let client = json!({"name": "bench", "version": "1.0.0"});
        raw.request(
            "initialize",
            &json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}),
        )?;
        raw.lines
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        Ok(raw)
    }

    pub fn pid(&self) -> u32 {
        self.lines.pid()
    }

    /// Calls a tool; returns its result and the time until it arrived.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<(Value, Duration)> {
        let started = Instant::now();
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let took = started.elapsed();
        ensure!(result["isError"] != true, "{tool} reports an error: {result}");
        Ok((result, took))
    }

    pub fn close(self) -> Result<()> {
        self.lines.close()
    }

    /// Calls a tool without waiting; its result is skipped when it arrives.
    pub fn start(&mut self, tool: &str, arguments: &Value) -> Result<u64> {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Sends a request with these raw JSON parameters without waiting for its answer.
    pub fn start_text(&mut self, method: &str, params: &str) -> Result<u64> {
        self.send(method, params)
    }

    /// Whether a started request has an answer, a result or an error.
    pub fn is_answered(&self, id: u64) -> bool {
        self.answered.contains(&id)
    }

    pub fn cancel(&mut self, id: u64) -> Result<()> {
        let params = json!({"requestId": id, "reason": "over"});
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.lines.send(&notice.to_string())
    }

    fn send(&mut self, method: &str, params: impl Display) -> Result<u64> {
        self.next_id += 1;
        let id = self.next_id;
        let request =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}");
        self.lines.send(&request)?;
        Ok(id)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.send(method, params)?;
        loop {
            let line = self.lines.receive()?;
            // Some rivals print their programs' output between the messages.
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message.get("method").is_some() {
                continue;
            }
            if message["id"] != id {
                self.answered.extend(message["id"].as_u64());
                continue;
            }
            if let Some(result) = message.get_mut("result") {
                return Ok(result.take());
            }
            bail!("{method} was refused: {}", message["error"]);
        }
    }
}
