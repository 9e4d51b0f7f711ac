//! Captured output in bounded memory: the beginning and the end are kept, the middle is counted.

use std::collections::VecDeque;

use types::Text;

/// One stream of one run.
#[derive(Debug)]
pub struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Capture {
    /// Keeps at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        let half = usize::try_from(limit / 2).unwrap_or(usize::MAX);
        Self {
            half,
            head: Vec::new(),
            tail: VecDeque::new(),
            cut: 0,
        }
    }

    /// Takes bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Of a piece longer than the tail only its end can stay.
        let skipped = rest.len().saturating_sub(self.half);
        self.cut += skipped as u64;
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.cut += over as u64;
        self.tail.drain(..over);
    }

    /// The text, cut in the middle if it was too long. `full_copy` names where all of it is, if it is anywhere.
    pub fn finish(self, full_copy: Option<&str>) -> Text {
        let Self {
            mut head, tail, cut, ..
        } = self;
        let tail: Vec<u8> = tail.into();
        if cut == 0 {
            head.extend(tail);
            return Text {
                text: String::from_utf8_lossy(&head).into_owned(),
                cut,
                copy: None,
            };
        }
        let whole = full_copy.map_or_else(String::new, |copy| {
            format!("; the whole output is in {copy} if the program printed it itself")
        });
        let text = format!(
            "{}\n[{cut} bytes cut here{whole}]\n{}",
            String::from_utf8_lossy(whole_characters_at_end(&head)),
            String::from_utf8_lossy(whole_characters_at_start(&tail)),
        );
        Text {
            text,
            cut,
            copy: None,
        }
    }
}

/// Most bytes of a character that a cut can leave behind.
const MAX_PARTIAL: usize = 3;

/// Without the first bytes of a character that the cut split.
fn whole_characters_at_end(bytes: &[u8]) -> &[u8] {
    for cut in 1..=MAX_PARTIAL.min(bytes.len()) {
        let at = bytes.len() - cut;
        let wanted = match bytes[at] {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0x80..=0xbf => continue,
            _ => return bytes,
        };
        return if wanted > cut { &bytes[..at] } else { bytes };
    }
    bytes
}

/// Without the last bytes of a character that the cut split.
fn whole_characters_at_start(bytes: &[u8]) -> &[u8] {
    let partial = bytes
        .iter()
        .take(MAX_PARTIAL)
        .take_while(|byte| (0x80..=0xbf).contains(*byte))
        .count();
    &bytes[partial..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: u64, pieces: &[&str], expected: &str) {
        let mut capture = Capture::new(limit);
        pieces.iter().for_each(|piece| capture.push(piece.as_bytes()));
        assert_eq!(capture.finish(Some("/results/all")).text, expected);
    }

    #[test]
    fn short_output_is_whole() {
        check(8, &["ab", "cd", "efgh"], "abcdefgh");
        check(8, &[], "");
    }

    #[test]
    fn long_output_keeps_both_ends() {
        let marker = |n| {
            format!(
                "\n[{n} bytes cut here; the whole output is in /results/all if the program printed it itself]\n"
            )
        };
        check(4, &["abcdefgh"], &format!("ab{}gh", marker(4)));
        check(4, &["a", "bc", "d", "e", "fgh"], &format!("ab{}gh", marker(4)));
        check(4, &["aé", "xxxx", "éb"], &format!("a{}b", marker(6)));
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_without_being_counted(
            limit in 2u64..64,
            pieces in proptest::collection::vec(proptest::collection::vec(b'a'..=b'z', 0..100), 0..10),
        ) {
            let mut capture = Capture::new(limit);
            pieces.iter().for_each(|piece| capture.push(piece));
            let total: usize = pieces.iter().map(Vec::len).sum();
            let kept = capture.head.len() + capture.tail.len();
            proptest::prop_assert_eq!(kept as u64 + capture.cut, total as u64);
            proptest::prop_assert!(kept as u64 <= limit);
        }
    }
}
