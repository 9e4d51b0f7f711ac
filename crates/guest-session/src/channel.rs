//! The guest's end of the channel.

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
use types::RunInputs;

/// Bytes per read.
const CHUNK: usize = 64 * 1024;

/// A frame of the host.
#[derive(Debug)]
pub enum Frame {
    /// Warm up; precedes `open`.
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
    /// Limits of the session.
    pub session: SessionLimits,
}

/// The answer to a call: the text of its value or of its error.
#[derive(Debug, Deserialize)]
pub struct Reply {
    /// The call's id.
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
    /// `None` for the session's limits.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// Names of all servers, if the host knows them.
    #[serde(default)]
    pub names: Option<Vec<String>>,
    /// The surface that received the program.
    #[serde(default)]
    pub surface: Surface,
    /// Clock and randomness, if the run is recorded or repeated.
    #[serde(default)]
    pub inputs: Option<RunInputs>,
}

/// A surface.
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
    /// One of this process's own programs, not from the host.
    pub fn of(id: u64, code: String) -> Self {
        Self {
            id,
            code,
            limits: None,
            names: None,
            surface: Surface::Code,
            inputs: None,
        }
    }
}

/// Limits of a session.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct SessionLimits {
    /// For runs without their own limits.
    #[serde(flatten)]
    pub limits: Limits,
}

/// Limits that the guest enforces.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Limits {
    /// Bytes of an output stream that the host keeps.
    pub output: u64,
    /// Maximum number of concurrent host calls; further calls wait.
    pub concurrent_calls: u32,
    /// Maximum bytes of a result's JSON; a larger result stays in the session.
    #[serde(default)]
    pub result: Option<usize>,
}

impl Limits {
    /// For this process's own programs: keeps all output, and runs one call at a time.
    pub const UNBOUNDED: Limits = Limits {
        output: u64::MAX,
        concurrent_calls: 1,
        result: None,
    };
}

/// The reason why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The channel is readable or writable.
    Channel,
    /// A signal arrived.
    Signal,
    /// The time has elapsed.
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
    /// A channel over the socket whose other end the host holds.
    pub fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            incoming: RefCell::default(),
            outgoing: RefCell::default(),
        }
    }

    /// The socket, for polling.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Queues a frame for [`Channel::flush`].
    pub fn push(&self, body: &[u8]) {
        let mut outgoing = self.outgoing.borrow_mut();
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        outgoing.extend_from_slice(&length.to_le_bytes());
        outgoing.extend_from_slice(body);
    }

    /// Sends all queued frames. Reads meanwhile, because the host may wait for that.
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

    /// The next received frame.
    ///
    /// # Errors
    /// If the host is gone, or sent anything but a frame.
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

    /// Waits for the host, for a signal, or for the given time.
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

    /// Reads the available bytes.
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
