//! Splits a stream of bytes into lines of limited length; pure.

/// Maximum bytes of a line, the same as in the MCP libraries.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its line end; never blank.
    Whole(Vec<u8>),
    /// The first [`MAX_LINE`] bytes of a longer line; the rest is discarded.
    TooLong(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct LineBuffer {
    max: usize,
    partial: Vec<u8>,
    /// The current line was reported as too long; its rest is discarded.
    skipping: bool,
}

impl LineBuffer {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            partial: Vec::new(),
            skipping: false,
        }
    }

    /// Adds bytes; returns the lines completed by them.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.add(&bytes[..end], &mut lines);
            lines.extend(self.end());
            bytes = &bytes[end + 1..];
        }
        self.add(bytes, &mut lines);
        lines
    }

    /// Ends the stream: a last line without a line end counts as a line.
    pub(crate) fn finish(mut self) -> Option<Line> {
        self.end()
    }

    fn add(&mut self, bytes: &[u8], lines: &mut Vec<Line>) {
        if self.skipping {
            return;
        }
        let room = self.max - self.partial.len();
        if bytes.len() <= room {
            self.partial.extend_from_slice(bytes);
            return;
        }
        // Report the line at once: a client that sends an endless line also waits for a response.
        self.partial.extend_from_slice(&bytes[..room]);
        lines.push(Line::TooLong(std::mem::take(&mut self.partial)));
        self.skipping = true;
    }

    fn end(&mut self) -> Option<Line> {
        self.skipping = false;
        let line = std::mem::take(&mut self.partial);
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(Line::Whole(line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(max: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = LineBuffer::new(max);
        let mut out: Vec<Line> = chunks.iter().flat_map(|chunk| lines.push(chunk)).collect();
        out.extend(lines.finish());
        out.iter()
            .map(|line| match line {
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::TooLong(bytes) => format!("{}...", String::from_utf8_lossy(bytes)),
            })
            .collect()
    }

    #[test]
    fn lines_end_with_a_newline_or_with_the_stream() {
        assert_eq!(cut(9, &[b"a\nb", b"c\n", b"d"]), ["a", "bc", "d"]);
        assert_eq!(cut(9, &[b"\n \t\n\r\n", b"a\r\n", b"\n"]), ["a\r"]);
    }

    #[test]
    fn a_long_line_is_reported_at_once_and_its_rest_is_skipped() {
        let mut lines = LineBuffer::new(3);
        assert_eq!(lines.push(b"abcd"), [Line::TooLong(b"abc".to_vec())]);
        assert_eq!(lines.push(b"efgh"), []);
        assert_eq!(lines.push(b"ij\nok\n"), [Line::Whole(b"ok".to_vec())]);
        assert_eq!(cut(3, &[b"abc\nabcd\nabc"]), ["abc", "abc...", "abc"]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_arrive(text in "[ab\n\r]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut start = 0;
            for end in cuts {
                chunks.push(&bytes[start..end]);
                start = end;
            }
            prop_assert_eq!(cut(7, &chunks), cut(7, &[bytes]));
        }
    }
}
