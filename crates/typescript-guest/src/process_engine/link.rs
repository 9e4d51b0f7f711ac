//! The engine's process, and the lines of JSON to and from it.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdout};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::program::EngineProgram;
use crate::failure::Failure;
use crate::json::well_formed;
use crate::places::WORKSPACE;
use crate::report::Finished;

/// Bytes per read.
const CHUNK: usize = 64 * 1024;

/// A message of the engine.
#[derive(Debug, Deserialize)]
#[serde(tag = "t", rename_all = "lowercase")]
pub enum Message {
    /// The engine accepts programs.
    Ready,
    /// A host call of the program.
    Call {
        id: u64,
        name: String,
        /// JSON.
        args: String,
    },
    /// The program imports a module.
    Module {
        id: u64,
        /// The importing module; empty for the program.
        from: String,
        specifier: String,
    },
    /// The run has ended.
    Done(Box<Done>),
}

/// How a program ended.
#[derive(Debug, Deserialize)]
pub struct Done {
    pub id: u64,
    pub finished: Option<Finished>,
    pub failed: Option<Failure>,
    /// The status passed to `exit`.
    pub exit: Option<i32>,
}

/// The host's answer to a call, for the engine.
pub struct Answer<'a> {
    pub id: u64,
    pub ok: Option<&'a RawValue>,
    pub err: Option<&'a RawValue>,
    /// The answer's text as JSON, if it is a list or dict in Python's notation.
    pub literal: Option<String>,
}

/// The process with its pipes. When the process ends, the session ends.
pub struct Link {
    _child: Child,
    to: OwnedFd,
    from: OwnedFd,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    is_ready: bool,
}

impl Link {
    /// Starts the engine, which does not inherit the channel to the host.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start(program: &EngineProgram, host: BorrowedFd<'_>) -> io::Result<Self> {
        // The engine reaches the host through this process only.
        fcntl_setfd(host, FdFlags::CLOEXEC)?;
        let (reads, to) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from, writes) = pipe_with(PipeFlags::CLOEXEC)?;
        for kept in [&reads, &writes] {
            fcntl_setfd(kept, FdFlags::empty())?;
        }
        let mut child = program.start(&reads, &writes)?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        ioctl_fionbio(&to, true)?;
        ioctl_fionbio(&from, true)?;
        ioctl_fionbio(&stdout, true)?;
        ioctl_fionbio(&stderr, true)?;
        Ok(Self {
            _child: child,
            to,
            from,
            stdout,
            stderr,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            is_ready: false,
        })
    }

    /// Waits until the engine accepts programs.
    ///
    /// # Errors
    /// If the engine ends first; the error contains its last output.
    pub fn until_ready(&mut self) -> io::Result<()> {
        while !self.is_ready {
            match self.next() {
                Ok(Some(Message::Ready)) => self.is_ready = true,
                Ok(Some(_)) => {}
                Ok(None) => drop(poll(&mut [PollFd::new(&self.from, PollFlags::IN)], None)),
                Err(error) => return Err(io::Error::other(format!("{error}: {}", self.last_words()))),
            }
        }
        Ok(())
    }

    fn last_words(&mut self) -> String {
        let mut words = Vec::new();
        // A failed read leaves the message shorter.
        let _ = self.stderr.read_to_end(&mut words);
        String::from_utf8_lossy(&words).into_owned()
    }

    /// Tells the engine that the workspace is attached.
    pub fn enter_workspace(&mut self) {
        self.push(&json!({"t": "open", "directory": WORKSPACE}));
    }

    /// Queues a message for [`Link::flush`].
    pub fn push(&mut self, message: &Value) {
        self.outgoing.extend_from_slice(message.to_string().as_bytes());
        self.outgoing.push(b'\n');
    }

    /// Queues the answer to a call.
    pub fn answer(&mut self, answer: &Answer<'_>) {
        let text = |raw: Option<&RawValue>| raw.map_or("null", RawValue::get).to_owned();
        let literal = Value::from(answer.literal.as_deref());
        let line = format!(
            "{{\"t\":\"reply\",\"id\":{},\"isFailed\":{},\"value\":{},\"literal\":{literal}}}\n",
            answer.id,
            answer.err.is_some(),
            text(answer.err.or(answer.ok)),
        );
        self.outgoing.extend_from_slice(line.as_bytes());
    }

    /// Whether messages are queued.
    pub fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends as much as the engine reads now.
    ///
    /// # Errors
    /// If the engine is gone.
    pub fn flush(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match rustix::io::write(&self.to, &self.outgoing) {
                Ok(written) => drop(self.outgoing.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The next received message.
    ///
    /// # Errors
    /// If the engine is gone, or wrote anything but messages.
    pub fn next(&mut self) -> io::Result<Option<Message>> {
        if !self.incoming.contains(&b'\n') {
            self.receive()?;
        }
        let Some(end) = self.incoming.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let line: Vec<u8> = self.incoming.drain(..=end).collect();
        let line = well_formed(String::from_utf8_lossy(&line).into_owned());
        Ok(Some(serde_json::from_str(&line)?))
    }

    fn receive(&mut self) -> io::Result<()> {
        loop {
            let mut chunk = [0; CHUNK];
            match rustix::io::read(&self.from, &mut chunk) {
                Ok(0) => return Err(io::Error::other("the engine has ended")),
                Ok(length) => {
                    self.incoming.extend_from_slice(&chunk[..length]);
                    if chunk[..length].contains(&b'\n') {
                        return Ok(());
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for the engine, for its output, for the host, or for a signal.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub fn wait(&self, host: BorrowedFd<'_>) -> io::Result<()> {
        let sending = if self.has_outgoing() {
            PollFlags::OUT
        } else {
            PollFlags::empty()
        };
        let mut waiting = [
            PollFd::from_borrowed_fd(host, PollFlags::IN),
            PollFd::new(&self.from, PollFlags::IN),
            PollFd::new(&self.stdout, PollFlags::IN),
            PollFd::new(&self.stderr, PollFlags::IN),
            PollFd::new(&self.to, sending),
        ];
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The available output of a stream; empty if there is none.
pub fn printed(stream: impl AsFd) -> Vec<u8> {
    let mut text = Vec::new();
    let mut chunk = [0; CHUNK];
    loop {
        match rustix::io::read(&stream, &mut chunk) {
            Ok(0) | Err(_) => return text,
            Ok(length) => text.extend_from_slice(&chunk[..length]),
        }
    }
}
