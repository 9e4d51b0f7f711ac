//! Splits a server's output into lines of limited length, with bounded memory.

use std::io;

use tokio::net::unix::pipe;

/// Longest line in bytes. Of a longer line, only the length and `id` are kept.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// Default capacity of a pipe in bytes, so that one read empties it.
const CHUNK: usize = 64 * 1024;

/// A line without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The complete line.
    Whole(Vec<u8>),
    /// The line exceeds the limit and is left out.
    TooLong {
        /// In bytes.
        length: u64,
        /// The number in the message's `id`, if any.
        id: Option<i64>,
    },
}

/// Dropping a future of [`LineReader::next`] loses no data.
#[derive(Debug)]
pub(super) struct LineReader {
    pipe: pipe::Receiver,
    splitter: Splitter,
}

/// Splits chunks into lines.
#[derive(Debug, Default)]
pub struct Splitter {
    limit: usize,
    /// Bytes not yet returned.
    buffer: Vec<u8>,
    /// Returned bytes at the buffer's start.
    taken: usize,
    /// Bytes at the buffer's start without a line feed.
    searched: usize,
    /// A line that exceeds the limit, until its end.
    skipped: Option<SkippedMessage>,
}

/// Only length and `id` of a message that exceeds the limit.
#[derive(Debug, Default)]
pub(crate) struct SkippedMessage {
    pub(crate) length: u64,
    scanner: IdScanner,
}

impl LineReader {
    pub(super) fn new(pipe: pipe::Receiver) -> LineReader {
        LineReader {
            pipe,
            splitter: Splitter::new(MAX_LINE),
        }
    }

    /// The next line; `None` at the end of the stream. The last line needs no line feed.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.splitter.line() {
                return Ok(Some(line));
            }
            self.pipe.readable().await?;
            match self.pipe.try_read_buf(self.splitter.space()) {
                Ok(0) => return Ok(self.splitter.rest()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

// === impl Splitter ===

impl Splitter {
    /// Returns no line longer than `limit` bytes.
    pub fn new(limit: usize) -> Splitter {
        Splitter {
            limit,
            ..Splitter::default()
        }
    }

    /// The buffer, with room for one more chunk at its end.
    pub fn space(&mut self) -> &mut Vec<u8> {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > 4 * CHUNK {
            // Frees the memory of one long message.
            self.buffer = Vec::new();
        }
        self.buffer.reserve(CHUNK);
        &mut self.buffer
    }

    /// The next complete line.
    pub fn line(&mut self) -> Option<Line> {
        let end = self.buffer[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| self.searched + end) else {
            self.searched = self.buffer.len();
            if self.skipped.is_some() || self.buffer.len() - self.taken > self.limit {
                self.skip(self.buffer.len());
                self.clear();
            }
            return None;
        };
        if self.skipped.is_some() || end - self.taken > self.limit {
            self.skip(end);
            self.advance(end + 1);
            return self.skipped.take().map(SkippedMessage::into_line);
        }
        let line = self.take(end);
        Some(Line::Whole(line))
    }

    /// The stream after its last line feed, unless empty.
    pub fn rest(&mut self) -> Option<Line> {
        if let Some(skipped) = self.skipped.take() {
            return Some(skipped.into_line());
        }
        let rest = self.buffer.split_off(self.taken);
        self.clear();
        (!rest.is_empty()).then_some(Line::Whole(rest))
    }

    fn take(&mut self, end: usize) -> Vec<u8> {
        if self.taken == 0 && end + 1 == self.buffer.len() && end > CHUNK {
            // A long message leaves in its own buffer, without a copy.
            let mut line = std::mem::take(&mut self.buffer);
            line.truncate(end);
            self.clear();
            return line;
        }
        let line = self.buffer[self.taken..end].to_vec();
        self.advance(end + 1);
        line
    }

    fn skip(&mut self, end: usize) {
        let bytes = &self.buffer[self.taken..end];
        self.skipped.get_or_insert_default().add(bytes);
    }

    fn advance(&mut self, to: usize) {
        self.taken = to;
        self.searched = to;
    }

    fn clear(&mut self) {
        self.buffer = Vec::new();
        self.taken = 0;
        self.searched = 0;
    }
}

impl SkippedMessage {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.scanner.scan(bytes);
    }

    pub(crate) fn into_line(self) -> Line {
        Line::TooLong {
            length: self.length,
            id: self.scanner.id,
        }
    }
}

/// The number in the object's `id`, even if the object is invalid later on.
pub(super) fn id_of(object: &[u8]) -> Option<i64> {
    let mut scanner = IdScanner::default();
    scanner.scan(object);
    scanner.id
}

/// Finds the number in an object's `id` without storing the object.
#[derive(Debug, Default)]
struct IdScanner {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The current member's name, then its value; at most `MAX_TOKEN` bytes.
    token: Vec<u8>,
    in_id: bool,
    id: Option<i64>,
}

impl IdScanner {
    /// In bytes.
    const MAX_TOKEN: usize = 24;

    fn scan(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => self.keep(byte),
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 {
                    self.token.clear();
                }
            }
            b':' if self.depth == 1 => {
                self.in_id = self.token == b"id";
                self.token.clear();
            }
            b',' if self.depth == 1 => self.end_member(),
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < Self::MAX_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.in_id && self.id.is_none() {
            self.id = std::str::from_utf8(&self.token)
                .ok()
                .and_then(|text| text.parse().ok());
        }
        self.in_id = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the text in chunks of each size and expects the same lines every time.
    fn check(text: &str, limit: usize, expected: &[Line]) {
        for size in 1..=text.len().max(1) {
            let mut splitter = Splitter::new(limit);
            let mut lines = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                splitter.space().extend_from_slice(chunk);
                lines.extend(std::iter::from_fn(|| splitter.line()));
            }
            lines.extend(splitter.rest());
            assert_eq!(lines, expected, "{text:?} in chunks of {size}");
        }
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_split_at_their_ends_however_they_arrive() {
        check("", 8, &[]);
        check("one\ntwo\n", 8, &[whole("one"), whole("two")]);
        check("one\n\ntwo", 8, &[whole("one"), whole(""), whole("two")]);
        check("12345678\n", 8, &[whole("12345678")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_ones_arrive() {
        let long = |length, id| Line::TooLong { length, id };
        check("123456789\nnext\n", 8, &[long(9, None), whole("next")]);
        check(
            "a\n{\"id\":7,\"x\":1}\nb\n",
            8,
            &[whole("a"), long(14, Some(7)), whole("b")],
        );
        check("{\"x\":{\"id\":9},\"id\":3}", 8, &[long(21, Some(3))]);
        check(
            "{\"x\":\"\\\"id\\\":1,\",\"id\" : \"42\" }\n",
            8,
            &[long(30, Some(42))],
        );
        check("{\"id\":null,\"a\":[1,2]}\n", 8, &[long(21, None)]);
        check("{\"a\":\"id\",\"b\":5}\n", 8, &[long(16, None)]);
    }

    #[test]
    fn memory_of_a_long_line_is_given_back() {
        let mut splitter = Splitter::new(1 << 20);
        splitter.space().extend_from_slice(&vec![b'x'; 1 << 20]);
        splitter.space().push(b'\n');
        assert!(matches!(splitter.line(), Some(Line::Whole(line)) if line.len() == 1 << 20));
        assert!(splitter.space().capacity() < 1 << 18);
    }
}
