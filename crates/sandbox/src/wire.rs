//! Frames over the channel and bytes of the output pipes, without ever blocking and in bounded memory.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use guest::frames::{Body, GuestFrame, HEADER, Incoming};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::Semaphore;

/// What connects host and guest.
#[derive(Debug)]
pub struct Channels {
    /// A stream socket that carries frames both ways, watched for input only: the kernel would report room for
    /// output at every frame that the guest takes, and wake the host for nothing.
    pub channel: AsyncFd<OwnedFd>,
    /// The guest's standard output.
    pub stdout: pipe::Receiver,
    /// The guest's standard error.
    pub stderr: pipe::Receiver,
}

/// Why a conversation cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The guest closed its end: it is gone.
    #[error("the guest is gone")]
    Closed,
    /// The guest broke the protocol.
    #[error("the guest broke the protocol: {0}")]
    Protocol(String),
}

/// Bytes read at once; the buffer grows with what arrives, never with what a header claims.
const PIECE: usize = 64 * 1024;

/// Bytes that wait for a guest beyond which nothing more is done for it until it reads.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Large frames that are parsed at the same time, of all sessions together.
static PARSERS: Semaphore = Semaphore::const_new(2);

/// Reads and writes frames of one channel.
#[derive(Debug)]
pub struct Wire {
    channel: AsyncFd<OwnedFd>,
    /// Reports room for output while there is none.
    room: Option<AsyncFd<OwnedFd>>,
    piece: Box<[u8]>,
    input: Incoming,
    /// The last reading stopped before the end: there may be more, of which no event will tell.
    more: bool,
    output: VecDeque<Vec<u8>>,
    waiting: usize,
    written: usize,
}

impl Wire {
    /// Takes over a channel.
    pub fn new(channel: AsyncFd<OwnedFd>) -> Self {
        Self {
            channel,
            room: None,
            piece: vec![0; PIECE].into_boxed_slice(),
            input: Incoming::default(),
            more: false,
            output: VecDeque::new(),
            waiting: 0,
            written: 0,
        }
    }

    /// Queues a frame and writes what fits.
    pub fn send(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let mut frame = Vec::with_capacity(HEADER + body.len());
        frame.extend(length.to_le_bytes());
        frame.extend(body);
        self.waiting += frame.len();
        self.output.push_back(frame);
        self.flush();
    }

    /// Whether the guest reads what it is sent, so that it may be sent more.
    pub fn has_room(&self) -> bool {
        self.waiting < MAX_OUTPUT
    }

    /// Whether something waits to be written.
    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Writes what the socket takes now. A guest that is gone shows when its end is read.
    pub fn flush(&mut self) {
        const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
        while let Some(frame) = self.output.front() {
            match rustix::net::send(self.channel.get_ref(), &frame[self.written..], FLAGS) {
                Ok(count) => self.written += count,
                Err(Errno::AGAIN) if self.await_room() => return,
                Err(_) => {
                    self.output.clear();
                    self.waiting = 0;
                    self.written = 0;
                    break;
                }
            }
            if self.written == frame.len() {
                self.waiting -= frame.len();
                self.output.pop_front();
                self.written = 0;
            }
        }
        self.room = None;
    }

    /// Has room for output reported; `false` if that cannot be had.
    fn await_room(&mut self) -> bool {
        if self.room.is_none() {
            let watched = self.channel.get_ref().try_clone();
            self.room = watched
                .and_then(|channel| watch(channel, Interest::WRITABLE))
                .ok();
        }
        self.room.is_some()
    }

    /// Resolves when the socket takes more output.
    pub async fn writable(&self) {
        let Some(room) = &self.room else { return };
        if let Ok(mut ready) = room.writable().await {
            // What follows writes until there is no room, so the next event is news.
            ready.clear_ready();
        }
    }

    /// Resolves when there may be input.
    pub async fn readable(&self) {
        if self.more {
            return;
        }
        if let Ok(mut ready) = self.channel.readable().await {
            // What follows reads until there is no more, so the next event is news.
            ready.clear_ready();
        }
    }

    /// Reads what is there; `false` if nothing was.
    ///
    /// # Errors
    /// `Closed` if the guest is gone.
    pub fn fill(&mut self) -> Result<bool, WireError> {
        self.more = false;
        let mut read = 0;
        // A read may end early where descriptors came along, so only the kernel knows when there is no more.
        while read < PIECE {
            match rustix::net::recv(self.channel.get_ref(), &mut *self.piece, RecvFlags::DONTWAIT) {
                Ok((0, _)) if read == 0 => return Err(WireError::Closed),
                Ok((0, _)) => break,
                Ok((count, _)) => {
                    self.input.push(&self.piece[..count]);
                    read += count;
                }
                Err(Errno::AGAIN) => return Ok(read > 0),
                Err(Errno::INTR) => {}
                Err(_) => return Err(WireError::Closed),
            }
        }
        self.more = true;
        Ok(true)
    }

    /// Reads what was sent while no run was under way, and forgets its whole frames. What comes is bounded by the socket's
    /// buffer, since the guest stands still.
    ///
    /// # Errors
    /// `Closed` if the guest is gone; `Protocol` if a frame is too large.
    pub fn discard(&mut self) -> Result<(), WireError> {
        loop {
            let more = self.fill()?;
            while self
                .input
                .skip()
                .map_err(|error| WireError::Protocol(error.to_string()))?
            {}
            if !more {
                return Ok(());
            }
        }
    }

    /// The next whole frame of what was read, with its size. A large one is parsed on another thread, in its turn.
    ///
    /// # Errors
    /// `Protocol` if it is too large or malformed.
    pub async fn next_frame(&mut self) -> Result<Option<(GuestFrame, usize)>, WireError> {
        let refused = |error: &dyn std::error::Error| WireError::Protocol(error.to_string());
        match self.input.take().map_err(|error| refused(&error))? {
            None => Ok(None),
            Some(Body::Frame(frame, size)) => Ok(Some((frame, size))),
            Some(Body::Large(body)) => {
                let _parser = PARSERS.acquire().await.map_err(|error| refused(&error))?;
                let parsed = tokio::task::spawn_blocking(|| body.parse()).await;
                let parsed = parsed.map_err(|error| refused(&error))?;
                parsed.map(Some).map_err(|error| refused(&error))
            }
        }
    }
}

/// Reads what a pipe still holds when its run is over. It asks the kernel and not the runtime, which may not have
/// heard yet of bytes that were written before the frame that ended the run; while runs go on, [`drain_pipe`] is right.
pub fn drain_rest(pipe: &pipe::Receiver, buffer: &mut [u8], mut take: impl FnMut(&[u8]), most: usize) {
    let mut total = 0;
    while total < most {
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => return,
            Ok(count) => {
                take(&buffer[..count]);
                total += count;
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Watches a descriptor.
#[expect(
    deprecated,
    reason = "an `OwnedFd` keeps its descriptor open, which is all the new, unsafe form asks for"
)]
pub fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, interest)
}

/// Reads what a pipe holds now into `take`; `false` at its end.
pub fn drain_pipe(
    pipe: &pipe::Receiver,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]),
    most: usize,
) -> bool {
    let mut total = 0;
    while total < most {
        match pipe.try_read(buffer) {
            Ok(0) => return false,
            Ok(count) => {
                take(&buffer[..count]);
                total += count;
            }
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
    }
    true
}
