//! Frames over the channel and bytes of the output pipes, without ever blocking and in bounded memory.

use std::collections::VecDeque;
use std::io;

use guest::frames::{GuestFrame, MAX_GUEST_FRAME};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What connects host and guest.
#[derive(Debug)]
pub struct Channels {
    /// Carries frames both ways.
    pub channel: UnixStream,
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

/// Bytes of a frame's length.
const HEADER: usize = 4;
/// Bytes read at once; the buffer grows with what arrives, never with what a header claims.
const PIECE: usize = 64 * 1024;

/// Bytes that wait for a guest beyond which nothing more is done for it until it reads.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Reads and writes frames of one channel.
#[derive(Debug)]
pub struct Wire {
    channel: UnixStream,
    input: Vec<u8>,
    taken: usize,
    output: VecDeque<Vec<u8>>,
    waiting: usize,
    written: usize,
}

impl Wire {
    /// Takes over a channel.
    pub fn new(channel: UnixStream) -> Self {
        Self {
            channel,
            input: Vec::new(),
            taken: 0,
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
        while let Some(frame) = self.output.front() {
            match self.channel.try_write(&frame[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.output.clear();
                    self.waiting = 0;
                    self.written = 0;
                    return;
                }
            }
            if self.written == frame.len() {
                self.waiting -= frame.len();
                self.output.pop_front();
                self.written = 0;
            }
        }
    }

    /// Resolves when the socket takes more output.
    pub async fn writable(&self) {
        // An error shows at the next write.
        let _ = self.channel.writable().await;
    }

    /// Resolves when there may be input.
    pub async fn readable(&self) {
        // An error shows at the next read.
        let _ = self.channel.readable().await;
    }

    /// Reads what is there; `false` if nothing was.
    ///
    /// # Errors
    /// `Closed` if the guest is gone.
    pub fn fill(&mut self) -> Result<bool, WireError> {
        self.input.drain(..self.taken);
        self.taken = 0;
        let before = self.input.len();
        self.input.resize(before + PIECE, 0);
        let read = self.channel.try_read(&mut self.input[before..]);
        self.input.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(WireError::Closed),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(_) => Err(WireError::Closed),
        }
    }

    /// The next whole frame of what was read, with its size.
    ///
    /// # Errors
    /// `Protocol` if it is too large or no frame.
    pub fn next_frame(&mut self) -> Result<Option<(GuestFrame, usize)>, WireError> {
        let rest = &self.input[self.taken..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if length > MAX_GUEST_FRAME {
            return Err(WireError::Protocol(format!("a frame of {length} bytes")));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = serde_json::from_slice(body).map_err(|error| WireError::Protocol(error.to_string()))?;
        self.taken += HEADER + length;
        Ok(Some((frame, length)))
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
