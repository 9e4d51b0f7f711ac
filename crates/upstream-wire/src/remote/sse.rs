//! Parses a stream of server-sent events from chunks of any size.
//!
//! Pure.

use std::time::Duration;

use crate::transport::{Line, SkippedMessage};

const FIELD: usize = b"data: ".len();

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// `message` by default.
    pub kind: String,
    /// Left out if the data exceeds the limit.
    pub data: Line,
}

/// Keeps the state of one stream.
#[derive(Debug, Default)]
pub struct SseParser {
    limit: usize,
    line: Vec<u8>,
    /// What the current line holds, if the line is too long to be stored.
    cut: Option<TruncatedLine>,
    data: Vec<u8>,
    has_data: bool,
    /// An event that exceeds the limit, until its end.
    skipped: Option<SkippedMessage>,
    kind: String,
    id: Option<String>,
    /// Whether the last byte was a carriage return; a line feed then belongs to the same line end.
    after_return: bool,
    is_first_line: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

/// A line whose beginning was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TruncatedLine {
    Data,
    Other,
}

impl SseParser {
    /// A parser that returns at most `limit` bytes of data for an event.
    pub fn new(limit: usize) -> SseParser {
        SseParser {
            limit,
            is_first_line: true,
            ..SseParser::default()
        }
    }

    /// The last event's id, from which the stream resumes.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The server's pause before resuming.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Bytes read so far of an event that exceeds the limit.
    pub fn skipped(&self) -> Option<u64> {
        self.skipped.as_ref().map(|skipped| skipped.length)
    }

    /// Reads more bytes; returns the events they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.add(&bytes[..end]);
            let ended_by = bytes[end];
            bytes = &bytes[end + 1..];
            if ended_by == b'\r' {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            events.extend(self.take_line());
        }
        self.add(bytes);
        events
    }

    fn add(&mut self, bytes: &[u8]) {
        match (self.cut, &mut self.skipped) {
            (Some(TruncatedLine::Data), Some(skipped)) => skipped.add(bytes),
            (Some(_), _) => {}
            (None, _) => self.line.extend_from_slice(bytes),
        }
        if self.line.len() > self.limit + FIELD {
            let line = std::mem::take(&mut self.line);
            self.cut = Some(match line.strip_prefix(b"data:") {
                Some(value) => {
                    self.has_data = true;
                    self.skip(value.strip_prefix(b" ").unwrap_or(value));
                    TruncatedLine::Data
                }
                None => TruncatedLine::Other,
            });
        }
    }

    /// Drops the current event's data but scans it for the id.
    fn skip(&mut self, value: &[u8]) {
        let skipped = self.skipped.get_or_insert_default();
        skipped.add(&std::mem::take(&mut self.data));
        skipped.add(value);
    }

    fn take_line(&mut self) -> Option<SseEvent> {
        if self.cut.take().is_some() {
            return None;
        }
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first_line) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                if self.skipped.is_some() || self.data.len() + value.len() > self.limit {
                    self.skip(value);
                } else {
                    self.data.extend_from_slice(value);
                }
            }
            b"event" => self.kind = text(),
            b"id" if !value.contains(&0) => self.id = Some(text()),
            b"retry" => {
                let milliseconds = text().parse().ok();
                self.retry = milliseconds.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        if let Some(id) = self.id.take() {
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        let kind = std::mem::take(&mut self.kind);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        let data = std::mem::take(&mut self.data);
        let data = match self.skipped.take() {
            Some(skipped) => skipped.into_line(),
            None => Line::Whole(data),
        };
        let kind = if kind.is_empty() {
            "message".to_owned()
        } else {
            kind
        };
        Some(SseEvent { kind, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(data: &Line) -> String {
        match data {
            Line::Whole(data) => String::from_utf8_lossy(data).into_owned(),
            Line::TooLong { length, id } => format!("{length} bytes of {id:?}"),
        }
    }

    fn events(stream: &[u8]) -> String {
        let mut parser = SseParser::new(1000);
        let events = parser.push(stream);
        let shown = events
            .iter()
            .map(|event| format!("{}={}", event.kind, text(&event.data)));
        let shown = shown.collect::<Vec<_>>().join(" ");
        format!("{shown};{:?};{:?}", parser.last_id(), parser.retry())
    }

    fn check(stream: &str, expected: &str) {
        assert_eq!(events(stream.as_bytes()), expected, "{stream:?}");
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        check("data: {}\n\n", "message={};None;None");
        check("event: endpoint\r\ndata:/x\r\n\r\n", "endpoint=/x;None;None");
        check("data: a\rdata: b\r\r", "message=a\nb;None;None");
        check(": comment\n\ndata\n\n", "message=;None;None");
        check(
            "id: 7\nretry: 250\ndata:  x\n\n",
            "message= x;Some(\"7\");Some(250ms)",
        );
        check("id: 7\n\nid\n\n", ";None;None");
        check("id: 7\ndata: x", ";None;None");
        check("retry: soon\nunknown: 1\n\n", ";None;None");
        check("\u{feff}data: x\n\n", "message=x;None;None");
    }

    #[test]
    fn a_long_event_is_dropped_and_its_id_is_reported() {
        let check = |stream: &str, expected: &[&str]| {
            for size in 1..=stream.len() {
                let mut parser = SseParser::new(10);
                let chunks = stream.as_bytes().chunks(size);
                let events: Vec<SseEvent> = chunks.flat_map(|chunk| parser.push(chunk)).collect();
                let found: Vec<String> = events.iter().map(|event| text(&event.data)).collect();
                assert_eq!(found, expected, "{stream:?} in chunks of {size}");
            }
        };
        check("data: 1234567890\n\n", &["1234567890"]);
        check(
            "data: {\"x\":1, \"id\":7}\n\ndata: next\n\n",
            &["15 bytes of Some(7)", "next"],
        );
        check(
            "data: {\"id\":7,\ndata: \"x\":123456}\n\n",
            &["19 bytes of Some(7)"],
        );
        check("data: 12345\r\ndata: 123456\r\n\r\n", &["12 bytes of None"]);
        check("event: much too long a name\ndata: x\n\n", &["x"]);
        check(": much too long a comment\n\ndata: x\n\n", &["x"]);
    }

    #[test]
    fn a_long_event_is_reported_before_its_end() {
        let mut parser = SseParser::new(10);
        assert_eq!(parser.push(b"data: 1234567890"), []);
        assert_eq!(parser.skipped(), None);
        assert_eq!(parser.push(b"1234567890"), []);
        assert!(parser.skipped() >= Some(20));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_arrive(
            stream in "(data: ?[a-z\\{]{0,5}|id:[0-9]|event: x|:c|retry: 5|\r|\n|\r\n|[a:\n\r]){0,30}",
            cut in 0_usize..120,
        ) {
            let bytes = stream.as_bytes();
            let mut whole = SseParser::new(1000);
            let expected = whole.push(bytes);
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut parser = SseParser::new(1000);
            let mut found = parser.push(first);
            found.extend(parser.push(second));
            prop_assert_eq!(found, expected.clone());
            let mut parser = SseParser::new(1000);
            let found: Vec<SseEvent> = bytes
                .chunks(1)
                .flat_map(|byte| parser.push(byte))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
