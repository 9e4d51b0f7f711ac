//! The guest's end of the channel: frames to the host, and frames from it.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use guest::frames::HEADER;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// A frame of the host.
#[derive(Debug)]
pub enum Frame {
    /// Warm up, before `open`.
    Warm,
    /// The session begins.
    Open(Open),
    /// Run a program.
    Run(RunFrame),
    /// The answer to a call.
    Reply(Reply),
}

/// The kind of a frame.
#[derive(Debug, Deserialize)]
struct Tag<'a> {
    t: &'a str,
}

/// The beginning of a session.
#[derive(Debug, Deserialize)]
pub struct Open {
    /// Version of the frames.
    pub v: u32,
    /// Of the whole session.
    pub session: SessionLimits,
}

/// The answer to a call: the text of its value or of its error.
#[derive(Debug, Deserialize)]
pub struct Reply {
    /// That of the call.
    pub id: u64,
    /// The value.
    #[serde(default)]
    pub ok: Option<Box<RawValue>>,
    /// The error.
    #[serde(default)]
    pub err: Option<Box<RawValue>>,
}

/// A program to run.
#[derive(Debug, Deserialize)]
pub struct RunFrame {
    /// Echoed in the frame that ends the run.
    pub id: u64,
    /// The program.
    pub code: String,
    /// Absent for the session's.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// Names of all servers, if the host knows them already.
    #[serde(default)]
    pub names: Option<Vec<String>>,
    /// Where the host has it from.
    #[serde(default)]
    pub surface: Surface,
}

/// Which surface the program was sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Surface {
    #[default]
    Code,
    Bridge,
    Server,
}

impl RunFrame {
    /// A program of this process itself, which no host sent.
    pub fn of(id: u64, code: String) -> Self {
        Self {
            id,
            code,
            limits: None,
            names: None,
            surface: Surface::Code,
        }
    }
}

/// What the session keeps to.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct SessionLimits {
    /// Of runs without limits of their own.
    #[serde(flatten)]
    pub limits: Limits,
}

/// Limits that the guest enforces.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Limits {
    /// Bytes of an output stream that the host keeps.
    pub output: u64,
    /// Host calls at once; more wait.
    pub concurrent_calls: u32,
    /// Bytes of a result's JSON; a larger one stays in the session.
    #[serde(default)]
    pub result: Option<usize>,
}

impl Limits {
    /// For programs of this process itself: all output is kept, and calls run one at a time.
    pub const UNBOUNDED: Limits = Limits {
        output: u64::MAX,
        concurrent_calls: 1,
        result: None,
    };
}

/// What a wait ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Bytes arrived, or could be sent.
    Channel,
    /// A signal arrived.
    Signal,
    /// The time is over.
    Time,
}

fn parse(body: &[u8]) -> serde_json::Result<Frame> {
    match serde_json::from_slice::<Tag<'_>>(body)?.t {
        "warm" => Ok(Frame::Warm),
        "open" => serde_json::from_slice(body).map(Frame::Open),
        "run" => serde_json::from_slice(body).map(Frame::Run),
        "reply" => serde_json::from_slice(body).map(Frame::Reply),
        _ => Err(serde::de::Error::custom("unknown kind of frame")),
    }
}

/// The channel of one session.
pub struct Channel {
    socket: UnixStream,
    incoming: RefCell<Vec<u8>>,
    outgoing: RefCell<Vec<u8>>,
}

impl Channel {
    /// A channel over the socket that the host holds the other end of.
    pub fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            incoming: RefCell::default(),
            outgoing: RefCell::default(),
        }
    }

    /// The socket, to wait for it beside others.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Adds a frame to those that [`Channel::flush`] sends.
    pub fn push(&self, body: &[u8]) {
        let mut outgoing = self.outgoing.borrow_mut();
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        outgoing.extend_from_slice(&length.to_le_bytes());
        outgoing.extend_from_slice(body);
    }

    /// Sends everything. Reads meanwhile, because the host may wait for that.
    ///
    /// # Errors
    /// If the host is gone.
    pub fn flush(&self) -> io::Result<()> {
        loop {
            let mut outgoing = self.outgoing.borrow_mut();
            if outgoing.is_empty() {
                return Ok(());
            }
            match send(&self.socket, &outgoing, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => drop(outgoing.drain(..sent)),
                Err(Errno::AGAIN) => {
                    drop(outgoing);
                    self.poll(PollFlags::IN | PollFlags::OUT, None)?;
                    self.receive()?;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The next frame that has arrived.
    ///
    /// # Errors
    /// If the host is gone, or sent something else than a frame.
    pub fn next(&self) -> io::Result<Option<Frame>> {
        self.receive()?;
        let mut incoming = self.incoming.borrow_mut();
        let Some(header) = incoming.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let end = HEADER + usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX - HEADER);
        let Some(body) = incoming.get(HEADER..end) else {
            return Ok(None);
        };
        let frame = parse(body);
        incoming.drain(..end);
        if incoming.is_empty() {
            // Frees the memory of a long frame.
            *incoming = Vec::new();
        }
        Ok(Some(frame?))
    }

    /// Waits for the host, for a signal, or for this long.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub fn wait(&self, longest: Option<Duration>) -> io::Result<Woken> {
        self.poll(PollFlags::IN, longest)
    }

    fn poll(&self, events: PollFlags, longest: Option<Duration>) -> io::Result<Woken> {
        let longest = longest.map(|time| Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        });
        match poll(&mut [PollFd::new(&self.socket, events)], longest.as_ref()) {
            Ok(0) => Ok(Woken::Time),
            Ok(_) => Ok(Woken::Channel),
            Err(Errno::INTR) => Ok(Woken::Signal),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what is there.
    fn receive(&self) -> io::Result<()> {
        let mut incoming = self.incoming.borrow_mut();
        loop {
            let before = incoming.len();
            incoming.resize(before + CHUNK, 0);
            let received = recv(&self.socket, &mut incoming[before..], RecvFlags::DONTWAIT);
            let length = received.map_or(0, |(length, _)| length);
            incoming.truncate(before + length);
            match received {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((CHUNK, _)) | Err(Errno::INTR) => {}
                Ok(_) | Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
