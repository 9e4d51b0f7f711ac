//! Bytes that a command reads: the previous command's output, or files in order.

use std::collections::VecDeque;
use std::io::{self, Cursor, ErrorKind, Read};

use memchr::memchr;

use crate::failure::{Failure, Stop};
use crate::path::VirtualPath;
use crate::surroundings::Surroundings;
use crate::virtual_files::FileError;

/// Longest searched part of a line, in bytes.
pub(crate) const MAX_LINE: usize = 16 << 20;

/// Bytes per read. Each read checks the run's time.
const CHUNK: usize = 64 << 10;

/// A command's output for the next command.
#[derive(Debug)]
pub(crate) enum Piped {
    /// No previous command.
    Nothing,
    Text(Vec<u8>),
    /// Files that `cat` names. The next command reads their contents, in pieces.
    Files(Vec<VirtualPath>),
}

/// Reads bytes, and stops when the run's time is over.
pub(crate) struct Input<'a> {
    around: &'a Surroundings<'a>,
    left: VecDeque<VirtualPath>,
    current: Option<Opened<'a>>,
    /// Whether the last byte read was something other than a newline.
    is_within_line: bool,
}

struct Opened<'a> {
    reader: Box<dyn Read + 'a>,
    /// `None` for a command's output.
    path: Option<VirtualPath>,
}

/// Splits an input into lines.
pub(crate) struct InputLines<'a> {
    input: Input<'a>,
    buffer: Vec<u8>,
    /// Start of the next line in the buffer.
    start: usize,
    /// Position from which to search the buffer for a line end.
    unseen: usize,
    is_at_end: bool,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InputLine<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) extent: Extent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// The line is longer than [`MAX_LINE`].
    Start,
}

// === impl Input ===

impl<'a> Input<'a> {
    pub(crate) fn new(around: &'a Surroundings<'a>, piped: Piped) -> Input<'a> {
        let (text, files) = match piped {
            Piped::Nothing => (None, Vec::new()),
            Piped::Text(text) => (Some(text), Vec::new()),
            Piped::Files(files) => (None, files),
        };
        Input {
            around,
            left: files.into(),
            current: text.map(|text| Opened {
                reader: Box::new(Cursor::new(text)),
                path: None,
            }),
            is_within_line: false,
        }
    }

    pub(crate) fn of_file(around: &'a Surroundings<'a>, path: VirtualPath) -> Result<Input<'a>, FileError> {
        let reader = around.files.open(&path)?;
        Ok(Input {
            around,
            left: VecDeque::new(),
            current: Some(Opened {
                reader,
                path: Some(path),
            }),
            is_within_line: false,
        })
    }

    /// Appends some bytes; 0 at the end. Each file starts on a new line.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<usize, Stop> {
        loop {
            self.around.check_time()?;
            let Some(opened) = &mut self.current else {
                let Some(path) = self.left.pop_front() else {
                    return Ok(0);
                };
                let opened = self.around.files.open(&path);
                let reader = opened.map_err(|error| error.at(&path))?;
                self.current = Some(Opened {
                    reader,
                    path: Some(path),
                });
                if self.is_within_line {
                    self.is_within_line = false;
                    buffer.push(b'\n');
                    return Ok(1);
                }
                continue;
            };
            let before = buffer.len();
            match opened.read_chunk(buffer)? {
                0 => self.current = None,
                count => {
                    self.is_within_line = buffer[before..].last() != Some(&b'\n');
                    return Ok(count);
                }
            }
        }
    }

    /// Reads to the end, but at most one byte more than `most`.
    pub(crate) fn read_to_end(mut self, most: usize) -> Result<Vec<u8>, Stop> {
        let mut bytes = Vec::new();
        while bytes.len() <= most && self.read(&mut bytes)? > 0 {}
        bytes.truncate(most.saturating_add(1));
        Ok(bytes)
    }

    pub(crate) fn lines(self) -> InputLines<'a> {
        InputLines {
            input: self,
            buffer: Vec::new(),
            start: 0,
            unseen: 0,
            is_at_end: false,
        }
    }
}

// === impl Opened ===

impl Opened<'_> {
    fn read_chunk(&mut self, buffer: &mut Vec<u8>) -> Result<usize, Failure> {
        let before = buffer.len();
        buffer.resize(before + CHUNK, 0);
        let read = loop {
            match self.reader.read(&mut buffer[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = *read.as_ref().unwrap_or(&0);
        buffer.truncate(before + count);
        read.map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::Unreadable {
            path: self.path.as_ref().map(ToString::to_string).unwrap_or_default(),
            cause: error.to_string(),
        }
    }
}

// === impl InputLines ===

impl InputLines<'_> {
    pub(crate) fn next(&mut self) -> Result<Option<InputLine<'_>>, Stop> {
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.unseen..]) {
                let end = self.unseen + at;
                return Ok(Some(self.line(end, end + 1)));
            }
            self.unseen = self.buffer.len();
            if self.buffer.len() - self.start > MAX_LINE {
                return self.long_line().map(Some);
            }
            if self.is_at_end {
                let end = self.buffer.len();
                return Ok((end > self.start).then(|| self.line(end, end)));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), Stop> {
        self.buffer.drain(..self.start);
        self.unseen -= self.start;
        self.start = 0;
        self.is_at_end = self.input.read(&mut self.buffer)? == 0;
        Ok(())
    }

    fn line(&mut self, end: usize, next: usize) -> InputLine<'_> {
        let start = std::mem::replace(&mut self.start, next);
        self.unseen = next;
        let text = &self.buffer[start..end];
        InputLine {
            text: text.strip_suffix(b"\r").unwrap_or(text),
            extent: Extent::Whole,
        }
    }

    /// Skips the rest of a long line whose beginning is in the buffer.
    fn long_line(&mut self) -> Result<InputLine<'_>, Stop> {
        let end = self.start + MAX_LINE;
        loop {
            self.buffer.truncate(end);
            self.is_at_end = self.input.read(&mut self.buffer)? == 0;
            let found = memchr(b'\n', &self.buffer[end..]);
            if found.is_some() || self.is_at_end {
                let next = found.map_or(self.buffer.len(), |at| end + at + 1);
                let text = std::mem::replace(&mut self.start, next)..end;
                self.unseen = next;
                return Ok(InputLine {
                    text: &self.buffer[text],
                    extent: Extent::Start,
                });
            }
        }
    }
}
