//! Reads and writes frames on the channel and reads the output pipes, without blocking and in bounded memory.

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

/// Connections between host and guest.
#[derive(Debug)]
pub struct Channels {
    /// A stream socket that carries frames both ways. The runtime watches it only for input. For output, the kernel
    /// would wake the host needlessly at every frame that the guest reads.
    pub channel: AsyncFd<OwnedFd>,
    /// The guest's standard output.
    pub stdout: pipe::Receiver,
    /// The guest's standard error.
    pub stderr: pipe::Receiver,
}

/// Why a conversation cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The guest closed its end of the channel, because it has ended.
    #[error("the guest is gone")]
    Closed,
    /// The guest broke the protocol.
    #[error("the guest broke the protocol: {0}")]
    Protocol(String),
}

/// Bytes per read. The buffer grows with the received data, never with the length in a header.
const PIECE: usize = 64 * 1024;

/// Most bytes that wait for a guest. Above this the host serves the guest only after the guest reads.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Number of large frames that all sessions together may parse at the same time.
static PARSERS: Semaphore = Semaphore::const_new(2);

/// Reads and writes frames of one channel.
#[derive(Debug)]
pub struct Wire {
    channel: AsyncFd<OwnedFd>,
    /// Reports room for output while the socket is full.
    room: Option<AsyncFd<OwnedFd>>,
    piece: Box<[u8]>,
    input: Incoming,
    /// The last read stopped early, so there may be more input that no event will announce.
    more: bool,
    output: VecDeque<Vec<u8>>,
    waiting: usize,
    written: usize,
}

impl Wire {
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

    /// Queues a frame and writes as much as the socket takes.
    pub fn send(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let mut frame = Vec::with_capacity(HEADER + body.len());
        frame.extend(length.to_le_bytes());
        frame.extend(body);
        self.waiting += frame.len();
        self.output.push_back(frame);
        self.flush();
    }

    /// Whether the guest reads fast enough for more frames.
    pub fn has_room(&self) -> bool {
        self.waiting < MAX_OUTPUT
    }

    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Writes as much as the socket takes. If the guest is gone, the next read notices.
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

    /// Starts to watch for room; `false` on failure.
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
            // The caller writes until the socket is full, so the next event is a new one.
            ready.clear_ready();
        }
    }

    /// Resolves when there may be input.
    pub async fn readable(&self) {
        if self.more {
            return;
        }
        if let Ok(mut ready) = self.channel.readable().await {
            // The caller reads until the socket is empty, so the next event is a new one.
            ready.clear_ready();
        }
    }

    /// Reads available input; `false` if there was none.
    ///
    /// # Errors
    /// `Closed` if the guest is gone.
    pub fn fill(&mut self) -> Result<bool, WireError> {
        self.more = false;
        let mut read = 0;
        // A read may end early at descriptors, so only the kernel knows whether there is more input.
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

    /// Reads the input that arrived between two runs and drops its whole frames. The guest is stopped, so the socket's
    /// buffer limits the input.
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

    /// The next whole frame in the buffer, with its size. Large frames are parsed on another thread, a few at a time.
    ///
    /// # Errors
    /// `Protocol` if the frame is too large or malformed.
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

/// Reads the bytes left in a pipe when its run is over. Reads from the kernel directly, because the runtime may not
/// have noticed bytes written before the run's last frame. During runs, use [`drain_pipe`].
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

/// Reads the bytes that a pipe holds now into `take`; `false` at the pipe's end.
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
