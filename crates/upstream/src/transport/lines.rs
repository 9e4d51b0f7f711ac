//! Splits what a server writes into lines, none longer than the limit, at a bounded cost in memory.

use std::io;

use tokio::net::unix::pipe;

/// Longest line that is read whole; longer ones are counted, searched for the number they answer, and left out.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;

/// What a pipe holds by default: one read takes all of it.
const CHUNK: usize = 64 * 1024;

/// A line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// More than the limit, and left out.
    TooLong {
        /// Its bytes.
        length: u64,
        /// The number in the message's `id`, if it has one.
        id: Option<i64>,
    },
}

/// Reads lines from a pipe. Dropping a future of [`Lines::next`] loses nothing.
#[derive(Debug)]
pub(super) struct Lines {
    pipe: pipe::Receiver,
    splitter: Splitter,
}

/// The lines of a stream of chunks.
#[derive(Debug)]
pub struct Splitter {
    limit: usize,
    /// Bytes that are not handed out yet.
    buffer: Vec<u8>,
    /// How much of the buffer's start has been handed out.
    taken: usize,
    /// How much of the buffer has been searched for the end of a line.
    searched: usize,
    /// The line that is too long, while its end has not come.
    skipped: Option<Skipped>,
}

#[derive(Debug, Default)]
struct Skipped {
    length: u64,
    scanner: IdScanner,
}

impl Lines {
    pub(super) fn new(pipe: pipe::Receiver) -> Lines {
        Lines {
            pipe,
            splitter: Splitter::new(MAX_LINE),
        }
    }

    /// The next line; `None` at the end of the stream, where a line without an end counts as one.
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
    /// Nothing yet; no line longer than `limit` bytes will be handed out.
    pub fn new(limit: usize) -> Splitter {
        Splitter {
            limit,
            buffer: Vec::new(),
            taken: 0,
            searched: 0,
            skipped: None,
        }
    }

    /// The buffer with room at its end for one more chunk.
    pub fn space(&mut self) -> &mut Vec<u8> {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > 4 * CHUNK {
            // What one long message needed is not kept for ever.
            self.buffer = Vec::new();
        }
        self.buffer.reserve(CHUNK);
        &mut self.buffer
    }

    /// The next line whose end has come.
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
            return self.skipped.take().map(Skipped::into_line);
        }
        let line = self.take(end);
        Some(Line::Whole(line))
    }

    /// At the end of the stream: the line without an end, if there is one.
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
            // A long message is handed out in its own buffer, not copied.
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
        let skipped = self.skipped.get_or_insert_default();
        skipped.length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        skipped.scanner.scan(bytes);
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

impl Skipped {
    fn into_line(self) -> Line {
        Line::TooLong {
            length: self.length,
            id: self.scanner.id,
        }
    }
}

/// Finds the `id` of a JSON object without keeping the object: only its outermost members count.
#[derive(Debug, Default)]
pub(crate) struct IdScanner {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The member's name, then its value, as far as they may be an `id`.
    token: Vec<u8>,
    in_id: bool,
    pub(crate) id: Option<i64>,
}

impl IdScanner {
    /// Longest name or number of interest.
    const MAX_TOKEN: usize = 24;

    pub(crate) fn scan(&mut self, bytes: &[u8]) {
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

    /// Feeds the text in chunks of each size up to its length and expects the same lines every time.
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
