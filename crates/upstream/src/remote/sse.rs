//! A stream of server-sent events, cut into events however its bytes arrive: pure.

use std::time::Duration;

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its type; `message` unless the server says otherwise.
    pub(super) kind: String,
    pub(super) data: Vec<u8>,
}

/// The event or the line is longer than the limit; this many bytes of it have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong(pub(super) u64);

/// What has come of the stream so far.
#[derive(Debug)]
pub(super) struct Parser {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    kind: String,
    id: Option<String>,
    /// The last line ended with a carriage return, so that a line feed belongs to its end.
    after_return: bool,
    is_first_line: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Parser {
    /// Nothing yet; no event with more than `limit` bytes will be handed out.
    pub(super) fn new(limit: usize) -> Parser {
        Parser {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            kind: String::new(),
            id: None,
            after_return: false,
            is_first_line: true,
            last_id: None,
            retry: None,
        }
    }

    /// The number of the last event, from which the stream can be taken up again.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server wants to be left alone before that.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes more bytes; gives the events that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&bytes[..end]);
            self.bound()?;
            let ended_by = bytes[end];
            bytes = &bytes[end + 1..];
            if ended_by == b'\r' {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            events.extend(self.take_line());
        }
        self.line.extend_from_slice(bytes);
        self.bound()?;
        Ok(events)
    }

    fn bound(&self) -> Result<(), TooLong> {
        let length = self.line.len() + self.data.len();
        if length > self.limit {
            return Err(TooLong(length.try_into().unwrap_or(u64::MAX)));
        }
        Ok(())
    }

    fn take_line(&mut self) -> Option<Event> {
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
                self.data.extend_from_slice(value);
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

    fn dispatch(&mut self) -> Option<Event> {
        if let Some(id) = self.id.take() {
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        let kind = std::mem::take(&mut self.kind);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        let data = std::mem::take(&mut self.data);
        let kind = if kind.is_empty() {
            "message".to_owned()
        } else {
            kind
        };
        Some(Event { kind, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(stream: &[u8]) -> String {
        let mut parser = Parser::new(1000);
        let events = parser.push(stream).expect("short events");
        let shown = events
            .iter()
            .map(|event| format!("{}={}", event.kind, String::from_utf8_lossy(&event.data)));
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
    fn what_is_too_long_is_told_before_it_has_an_end() {
        let mut parser = Parser::new(10);
        assert_eq!(parser.push(b"data: 123"), Ok(Vec::new()));
        assert_eq!(parser.push(b"45"), Err(TooLong(11)));
        let mut parser = Parser::new(10);
        assert_eq!(parser.push(b"data: 12345\ndata: 12345\n"), Err(TooLong(11)));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_arrive(
            stream in "(data: ?[a-z\\{]{0,5}|id:[0-9]|event: x|:c|retry: 5|\r|\n|\r\n|[a:\n\r]){0,30}",
            cut in 0_usize..120,
        ) {
            let bytes = stream.as_bytes();
            let mut whole = Parser::new(1000);
            let expected = whole.push(bytes).expect("short");
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut parser = Parser::new(1000);
            let mut found = parser.push(first).expect("short");
            found.extend(parser.push(second).expect("short"));
            prop_assert_eq!(found, expected.clone());
            let mut parser = Parser::new(1000);
            let found: Vec<Event> = bytes
                .chunks(1)
                .flat_map(|byte| parser.push(byte).expect("short"))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
