//! Splits the bytes from a guest into frames; pure.

use super::parse::parse;
use super::{GuestFrame, MAX_GUEST_FRAME};

/// Bytes of a frame's length.
pub const HEADER: usize = 4;

/// Buffer bytes kept between frames.
const KEPT: usize = 256 * 1024;

/// Largest body parsed immediately; a larger one is returned as bytes.
const SMALL: usize = 64 * 1024;

/// The body of one frame.
#[derive(Debug)]
pub enum Body {
    /// A parsed small frame and its body's size in bytes.
    Frame(GuestFrame, usize),
    /// A large body, whose parsing would delay other sessions.
    Large(LargeBody),
}

/// The bytes of a large frame.
#[derive(Debug)]
pub struct LargeBody {
    bytes: Vec<u8>,
}

impl LargeBody {
    /// Slow: not for a thread that serves others.
    ///
    /// # Errors
    /// As [`Incoming::take`].
    pub fn parse(self) -> Result<(GuestFrame, usize), NoFrame> {
        let body = &self.bytes[HEADER..];
        Ok((parse(body)?, body.len()))
    }
}

/// Received bytes that nobody has taken yet.
#[derive(Debug, Default)]
pub struct Incoming {
    bytes: Vec<u8>,
    taken: usize,
}

/// Bytes that no guest of ours sends; the bytes after them are meaningless.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum NoFrame {
    #[error("a frame of {0} bytes")]
    TooLarge(usize),
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
}

impl Incoming {
    /// Adds bytes in order of arrival; holds only bytes that were added and not taken.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        if self.bytes.is_empty() && self.bytes.capacity() > KEPT {
            // Frees the memory of a long frame.
            self.bytes = Vec::new();
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete frame.
    ///
    /// # Errors
    /// The frame is too large or malformed; a header that claims too much is refused before the body arrives.
    pub fn take(&mut self) -> Result<Option<Body>, NoFrame> {
        let Some(body) = self.next_body()? else {
            return Ok(None);
        };
        let length = body.len();
        if length > SMALL {
            return Ok(Some(Body::Large(self.split(HEADER + length))));
        }
        let frame = parse(body)?;
        self.taken += HEADER + length;
        Ok(Some(Body::Frame(frame, length)))
    }

    /// Drops the next frame unparsed, if complete.
    ///
    /// # Errors
    /// The frame is too large.
    pub fn skip(&mut self) -> Result<bool, NoFrame> {
        let Some(length) = self.next_body()?.map(<[u8]>::len) else {
            return Ok(false);
        };
        self.taken += HEADER + length;
        Ok(true)
    }

    /// The body of the next complete frame.
    fn next_body(&self) -> Result<Option<&[u8]>, NoFrame> {
        let rest = &self.bytes[self.taken..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if length > MAX_GUEST_FRAME {
            return Err(NoFrame::TooLarge(length));
        }
        Ok(rest.get(..length))
    }

    /// Takes the next `length` bytes without copying them; the bytes after them are few.
    fn split(&mut self, length: usize) -> LargeBody {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        let rest = self.bytes.split_off(length);
        LargeBody {
            bytes: std::mem::replace(&mut self.bytes, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the frames of these bytes, in pieces of each size, and the error after them.
    fn check(bytes: &[u8], expected: &[&str]) {
        for size in 1..=bytes.len().max(1) {
            let mut incoming = Incoming::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(size) {
                incoming.push(piece);
                while let Some(next) = incoming.take().transpose() {
                    let stop = next.is_err();
                    seen.push(next.map_or_else(|error| error.to_string(), shown));
                    if stop {
                        assert_eq!(seen, expected, "{bytes:?} in pieces of {size}");
                        return;
                    }
                }
            }
            assert_eq!(seen, expected, "{bytes:?} in pieces of {size}");
        }
    }

    fn shown(body: Body) -> String {
        let parsed = match body {
            Body::Frame(frame, size) => Ok((frame, size)),
            Body::Large(large) => large.parse(),
        };
        parsed.map_or_else(|error| error.to_string(), |(frame, _)| format!("{frame:?}"))
    }

    fn frame(body: &str) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap();
        [&length.to_le_bytes(), body.as_bytes()].concat()
    }

    #[test]
    fn frames_are_cut_however_they_arrive() {
        check(b"", &[]);
        check(&[5, 0, 0], &[]);
        check(&frame(r#"{"t":"warmed"}"#), &["Warmed"]);
        let two = [
            frame(r#"{"t":"warmed"}"#),
            frame(r#"{"t":"jail","step":1,"errno":2}"#),
        ]
        .concat();
        check(&two, &["Warmed", "Jail { step: 1, errno: 2 }"]);
        check(&two[..two.len() - 1], &["Warmed"]);
    }

    #[test]
    fn memory_of_a_long_frame_is_given_back() {
        let name = "x".repeat(1 << 20);
        let mut incoming = Incoming::default();
        incoming.push(&frame(&format!(
            r#"{{"t":"call","id":1,"name":"{name}","args":{{}}}}"#
        )));
        assert!(incoming.take().unwrap().is_some());
        incoming.push(&frame(r#"{"t":"warmed"}"#));
        assert!(incoming.bytes.capacity() < KEPT);
    }

    #[test]
    fn too_long_a_list_of_reads_is_dropped_and_the_result_stays() {
        let done = |reads: &str| {
            let body = format!(r#"{{"t":"done","id":1,"result":5,"reads":{reads}}}"#);
            let mut incoming = Incoming::default();
            incoming.push(&frame(&body));
            shown(incoming.take().expect("a frame").expect("a body"))
        };
        let kept = done(r#"{"wall":[7]}"#);
        assert!(kept.contains("wall") && kept.contains("result"), "{kept}");
        let dropped = done(&format!("[{}1]", "1,".repeat(200_000)));
        assert_eq!(dropped, done("null"));
    }

    #[test]
    fn what_is_no_frame_is_refused_at_its_header_or_its_body() {
        check(&[0xff; 4], &["a frame of 4294967295 bytes"]);
        check(&frame("{}"), &["missing field `t` at line 1 column 2"]);
        check(&frame(""), &["EOF while parsing a value at line 1 column 0"]);
    }
}
