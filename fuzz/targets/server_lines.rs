//! Output of an upstream server: the lines do not depend on how they arrive, and each is classified
//! the same way.
//!
//! Input: a byte for the longest line, a byte for the size of pieces, then the server's bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;
use upstream_wire::{Frame, JsonRpcResponse, Line, Splitter};

fuzz_target!(|data: &[u8]| {
    let [limit, piece, written @ ..] = data else {
        return;
    };
    let limit = usize::from(*limit) * 8 + 1;
    let lines = split(written, limit, usize::from(*piece) + 1);
    let expected = expected(written);
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for (line, bytes) in lines.iter().zip(expected) {
        check(line, bytes, limit);
    }
    for line in written.split(|byte| *byte == b'\n') {
        parse(line);
    }
});

fn split(written: &[u8], limit: usize, piece: usize) -> Vec<Line> {
    let mut splitter = Splitter::new(limit);
    let mut lines = Vec::new();
    for piece in written.chunks(piece) {
        splitter.space().extend_from_slice(piece);
        lines.extend(std::iter::from_fn(|| splitter.line()));
    }
    lines.extend(splitter.rest());
    lines
}

/// The lines of the whole output; a last line without an end counts if it is not empty.
fn expected(written: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = written.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

fn check(line: &Line, bytes: &[u8], limit: usize) {
    match line {
        Line::Whole(line) => {
            assert_eq!(line, bytes);
            assert!(line.len() <= limit);
        }
        Line::TooLong { length, id } => {
            assert!(bytes.len() > limit);
            assert_eq!(usize::try_from(*length), Ok(bytes.len()));
            if let (Some(id), Some(said)) = (id, number(bytes)) {
                assert_eq!(
                    *id,
                    said,
                    "the wrong request would be told: {}",
                    String::from_utf8_lossy(bytes)
                );
            }
        }
    }
}

/// The `id` of a message, if a JSON library finds exactly one plain number at the top level.
fn number(bytes: &[u8]) -> Option<i64> {
    let message: Value = serde_json::from_slice(bytes).ok()?;
    let names = String::from_utf8_lossy(bytes);
    // Readers differ on escaped or repeated names.
    if names.contains('\\') || names.matches("\"id\"").count() != 1 {
        return None;
    }
    message.get("id")?.as_i64()
}

fn parse(line: &[u8]) {
    match Frame::parse(line) {
        Frame::Answer(JsonRpcResponse { id, outcome }) => {
            if let (Some(id), Some(said)) = (id, number(line)) {
                assert_eq!(id, said);
            }
            if let Ok(result) = outcome {
                let text = String::from_utf8_lossy(line);
                assert!(text.contains(&result), "a result is the server's own text");
                // Half a surrogate pair is valid JSON but not text, so a `Value` may reject it.
                assert!(serde_json::from_str::<IgnoredAny>(&result).is_ok(), "{result}");
            }
        }
        Frame::Notification { method, .. } => assert!(is_object(line), "{method}"),
        Frame::Request(_) => assert!(is_object(line)),
        Frame::Broken { .. } | Frame::Noise => {}
    }
}

fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
}
