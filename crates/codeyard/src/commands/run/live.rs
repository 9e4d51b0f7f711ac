//! Prints a program's output during the run, and the rest afterwards.

use std::sync::mpsc;
use std::thread::JoinHandle;

use sandbox::Stream;
use server::Printed;
use types::Text;

use crate::output::Output;

/// Queued pieces of output; the rest is printed after the program's end.
const WAITING: usize = 256;

/// A printing thread, so that a blocked terminal delays only the printing.
pub struct Live {
    thread: JoinHandle<anyhow::Result<Shown>>,
}

/// Printed length of each stream.
#[derive(Debug, Default)]
pub struct Shown {
    stdout: StreamProgress,
    stderr: StreamProgress,
}

#[derive(Debug, Default)]
struct StreamProgress {
    /// Bytes of text.
    shown: usize,
    /// An incomplete UTF-8 character.
    rest: Vec<u8>,
    in_line: bool,
}

impl Live {
    /// Prints what arrives on the channel until the sender is dropped.
    pub fn start(output: Output) -> (Live, mpsc::SyncSender<Printed>) {
        let (sender, heard) = mpsc::sync_channel::<Printed>(WAITING);
        let thread = std::thread::spawn(move || {
            let mut shown = Shown::default();
            for printed in heard {
                match printed.stream {
                    Stream::Stdout => output.foreign(&shown.stdout.take(&printed.bytes))?,
                    Stream::Stderr => output.tell_part(&shown.stderr.take(&printed.bytes)),
                }
            }
            Ok(shown)
        });
        (Live { thread }, sender)
    }

    /// Waits until everything is printed.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn finish(self) -> anyhow::Result<Shown> {
        self.thread.join().unwrap_or_else(|_| Ok(Shown::default()))
    }
}

impl Shown {
    /// The unprinted rest of both streams.
    pub fn rest(&self, stdout: &Text, stderr: &Text) -> (String, String) {
        let stderr = self.stderr.rest(stderr);
        let ended = if self.stderr.in_line && !stderr.starts_with('\n') {
            "\n"
        } else {
            ""
        };
        (self.stdout.rest(stdout), format!("{ended}{stderr}"))
    }
}

impl StreamProgress {
    /// Decodes whole characters only; invalid UTF-8 is replaced, as in the outcome.
    fn take(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let mut text = String::new();
        let mut chunks = self.rest.utf8_chunks().peekable();
        let mut kept = Vec::new();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let is_begun = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && is_begun {
                kept = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.rest = kept;
        self.shown += text.len();
        if !text.is_empty() {
            self.in_line = !text.ends_with('\n');
        }
        text
    }

    fn rest(&self, text: &Text) -> String {
        let from = self.shown.min(text.head.len());
        text.shown().get(from..).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_and_the_rest_are_the_whole_text(bytes in proptest::collection::vec(any::<u8>(), 0..60), words in "[aé日\n]{0,20}", at in 0_usize..80, heard in 0_usize..80) {
            let bytes = [bytes.as_slice(), words.as_bytes()].concat();
            let heard = &bytes[..heard.min(bytes.len())];
            let (first, second) = heard.split_at(at.min(heard.len()));
            let mut part = StreamProgress::default();
            let shown = part.take(first) + &part.take(second);
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            prop_assert_eq!(shown + &part.rest(&Text::whole(whole.clone())), whole);
        }
    }
}
