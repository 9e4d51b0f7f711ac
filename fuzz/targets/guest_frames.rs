//! Frames of a guest and messages between host and zygote: the result does not depend on how the
//! bytes arrive.
//!
//! Input: a byte that sets how the bytes arrive, then the bytes. With its high bit set, the bytes
//! are a raw stream; otherwise each line is the body of one frame.

#![no_main]

use guest::frames::{Body, HEADER, Incoming, MAX_GUEST_FRAME};
use jail::session::wire::{ANSWER_BYTES, REQUEST_BYTES, Request, answer};
use libfuzzer_sys::fuzz_target;

const RAW: u8 = 0x80;

fuzz_target!(|data: &[u8]| {
    let Some((how, bytes)) = data.split_first() else {
        return;
    };
    let stream = if how & RAW == 0 {
        framed(bytes)
    } else {
        bytes.to_vec()
    };
    let whole = read(&stream, stream.len());
    assert_eq!(
        whole,
        read(&stream, usize::from(how & !RAW) + 1),
        "pieces change what is read"
    );
    zygote(bytes);
});

fn framed(bytes: &[u8]) -> Vec<u8> {
    let frame = |body: &[u8]| [&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes(), body].concat();
    bytes.split(|byte| *byte == b'\n').flat_map(frame).collect()
}

/// All frames of a stream that arrives in pieces of this size.
fn read(stream: &[u8], piece: usize) -> Vec<String> {
    let mut incoming = Incoming::default();
    let (mut seen, mut taken) = (Vec::new(), 0);
    for piece in stream.chunks(piece.max(1)) {
        incoming.push(piece);
        loop {
            match incoming.take() {
                Ok(None) => break,
                Ok(Some(body)) => {
                    let parsed = match body {
                        Body::Frame(frame, size) => Ok((frame, size)),
                        Body::Large(large) => large.parse(),
                    };
                    let (frame, size) = match parsed {
                        Ok(parsed) => parsed,
                        Err(wrong) => {
                            seen.push(wrong.to_string());
                            return seen;
                        }
                    };
                    assert!(size <= MAX_GUEST_FRAME);
                    taken += HEADER + size;
                    assert!(taken <= stream.len(), "more was read than arrived");
                    seen.push(format!("{frame:?}"));
                }
                Err(wrong) => {
                    seen.push(wrong.to_string());
                    return seen;
                }
            }
        }
    }
    seen
}

/// A request is exactly its bytes; an answer carries its error number.
fn zygote(bytes: &[u8]) {
    if let Some(request) = bytes.first_chunk::<REQUEST_BYTES>() {
        assert_eq!(Request::decode(request).encode(), *request);
    }
    if let Some(number) = bytes.first_chunk::<4>() {
        let errno = i32::from_le_bytes(*number);
        let answer: [u8; ANSWER_BYTES] = answer(errno);
        assert_eq!(&answer[4..], number);
    }
}
