//! Events of a server: the same events for pieces of any size, none longer than the limit.
//!
//! Input: a byte for the longest event, a byte for the size of pieces, then the server's bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use upstream_wire::{Line, SseEvent, SseParser};

fuzz_target!(|data: &[u8]| {
    let [limit, piece, sent @ ..] = data else {
        return;
    };
    let limit = usize::from(*limit) * 8 + 1;
    let mut parser = SseParser::new(limit);
    let events = read(&mut parser, sent, usize::from(*piece) + 1);
    let mut whole = SseParser::new(limit);
    assert_eq!(read(&mut whole, sent, sent.len().max(1)), events);
    assert_eq!(whole.last_id(), parser.last_id());
    assert_eq!(whole.retry(), parser.retry());
    assert_eq!(whole.skipped(), parser.skipped());
    if let Some(id) = parser.last_id() {
        assert!(!id.is_empty() && !id.contains(['\0', '\r', '\n']), "{id:?}");
    }
    let ends = sent.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    assert!(events.len() * 2 <= ends, "{} events of {ends} lines", events.len());
    for event in &events {
        assert!(!event.kind.is_empty() && !event.kind.contains(['\r', '\n']), "{event:?}");
        match &event.data {
            Line::Whole(data) => assert!(data.len() <= limit && !data.contains(&b'\r')),
            Line::TooLong { length, .. } => assert!(usize::try_from(*length).expect("a length") > limit),
        }
    }
});

fn read(parser: &mut SseParser, sent: &[u8], piece: usize) -> Vec<SseEvent> {
    sent.chunks(piece).flat_map(|piece| parser.push(piece)).collect()
}
