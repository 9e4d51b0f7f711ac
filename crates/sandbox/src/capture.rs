//! Captured output in bounded memory: keeps the beginning and the end, counts the middle.

use std::collections::VecDeque;

use types::Text;

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

    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // If a piece is longer than the tail, only the end of the piece can stay.
        let skipped = rest.len().saturating_sub(self.half);
        self.cut += skipped as u64;
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.cut += over as u64;
        self.tail.drain(..over);
    }

    /// The text. A text that is too long is cut in the middle at line ends, unless that drops more than half of the
    /// kept bytes. `copy` is the path of the full text, if there is one.
    pub fn finish(self, copy: Option<String>) -> Text {
        let Self {
            mut head, tail, cut, ..
        } = self;
        let tail: Vec<u8> = tail.into();
        if cut == 0 {
            head.extend(tail);
            return Text {
                copy,
                ..Text::whole(String::from_utf8_lossy(&head))
            };
        }
        let (first, last) = (whole_lines_at_start(&head), whole_lines_at_end(&tail));
        let lost = head.len() - first.len() + tail.len() - last.len();
        Text {
            head: String::from_utf8_lossy(first).into_owned(),
            tail: String::from_utf8_lossy(last).into_owned(),
            cut: cut + lost as u64,
            copy,
        }
    }
}

/// Most bytes of a partial character that a cut can leave behind.
const MAX_PARTIAL: usize = 3;

/// Removes the line that the cut split, if at least half of the text remains; otherwise removes only the split
/// character.
fn whole_lines_at_start(head: &[u8]) -> &[u8] {
    let end = head
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    if end >= head.len() / 2 && end > 0 {
        &head[..end]
    } else {
        whole_characters_at_end(head)
    }
}

fn whole_lines_at_end(tail: &[u8]) -> &[u8] {
    let begin = tail
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(tail.len(), |at| at + 1);
    if begin <= tail.len() / 2 {
        &tail[begin..]
    } else {
        whole_characters_at_start(tail)
    }
}

/// Removes the leading bytes of a character that the cut split.
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

/// Removes the trailing bytes of a character that the cut split.
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

    fn check(limit: u64, pieces: &[&str], (head, cut, tail): (&str, u64, &str)) {
        let mut capture = Capture::new(limit);
        pieces.iter().for_each(|piece| capture.push(piece.as_bytes()));
        let text = capture.finish(None);
        assert_eq!(
            (&*text.head, text.cut, &*text.tail),
            (head, cut, tail),
            "{pieces:?}"
        );
    }

    #[test]
    fn short_output_is_whole() {
        check(8, &["ab", "cd", "efgh"], ("abcdefgh", 0, ""));
        check(8, &[], ("", 0, ""));
    }

    #[test]
    fn long_output_keeps_both_ends() {
        check(4, &["abcdefgh"], ("ab", 4, "gh"));
        check(4, &["a", "bc", "d", "e", "fgh"], ("ab", 4, "gh"));
        check(4, &["aé", "xxxx", "éb"], ("a", 8, "b"));
    }

    #[test]
    fn a_cut_is_at_line_ends_if_there_are_any_nearby() {
        check(12, &["abc\nde\nf", "\nghi\njkl\nmno\n"], ("abc\n", 13, "mno\n"));
        check(12, &["a\nbcdefgh", "ijklmn\no"], ("a\nbcde", 5, "klmn\no"));
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_without_being_counted(
            limit in 2u64..64,
            pieces in proptest::collection::vec("[a-z\\n]{0,100}", 0..10),
        ) {
            let mut capture = Capture::new(limit);
            pieces.iter().for_each(|piece| capture.push(piece.as_bytes()));
            let total: usize = pieces.iter().map(String::len).sum();
            let text = capture.finish(None);
            proptest::prop_assert_eq!(text.bytes(), total as u64);
            proptest::prop_assert!((text.head.len() + text.tail.len()) as u64 <= limit);
        }
    }
}
