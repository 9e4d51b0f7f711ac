//! The end of what a server wrote to standard error, kept for messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::watch;

use crate::error::StderrTail;
use crate::logs::Log;

/// Bytes kept of one life of a server.
const KEPT: usize = 64 * 1024;
/// Bytes of it that a message shows.
const SHOWN: usize = 2 * 1024;
/// Bytes of a line that are kept together.
const LONGEST_LINE: usize = 64 * 1024;
/// Shorter values are words like `true`, and hiding them would garble the text.
const SHORTEST_SECRET: usize = 6;

/// A ring of the last bytes.
#[derive(Debug)]
pub(crate) struct Stderr {
    ring: Mutex<VecDeque<u8>>,
    /// Values of the definition's `env`: a message may reach a model, and they are not for it.
    secrets: Vec<String>,
    ended: watch::Sender<bool>,
}

impl Stderr {
    /// Reads the stream to its end in the background.
    pub(crate) fn keep(
        stream: ChildStderr,
        secrets: impl IntoIterator<Item = String>,
        log: Option<Log>,
    ) -> Arc<Stderr> {
        let secrets = secrets
            .into_iter()
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .collect();
        let (ended, _) = watch::channel(false);
        let stderr = Arc::new(Stderr {
            ring: Mutex::default(),
            secrets,
            ended,
        });
        tokio::spawn(read(Arc::clone(&stderr), stream, log));
        stderr
    }

    /// That of a server which has none.
    pub(crate) fn none() -> Arc<Stderr> {
        Arc::new(Stderr {
            ring: Mutex::default(),
            secrets: Vec::new(),
            ended: watch::channel(true).0,
        })
    }

    /// Ends when the server and all its children have closed the stream.
    pub(crate) async fn ended(&self) {
        // The sender lives in `self`, so that waiting cannot fail.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// The last lines, without control characters and without the definition's secrets.
    pub(crate) fn tail(&self) -> StderrTail {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = ring.iter().copied().collect();
        drop(ring);
        StderrTail(shown(&bytes, &self.secrets))
    }

    fn without_secrets(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes;
        }
        hidden(&bytes, &self.secrets).into_bytes()
    }

    fn push(&self, bytes: &[u8]) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.extend(bytes);
        let surplus = ring.len().saturating_sub(KEPT);
        ring.drain(..surplus);
    }
}

async fn read(stderr: Arc<Stderr>, mut stream: ChildStderr, log: Option<Log>) {
    let mut chunk = vec![0; 8 * 1024];
    // What of a line has come, so that no secret is cut in two before it is hidden.
    let mut begun = Vec::new();
    while let Ok(count) = stream.read(&mut chunk).await
        && count > 0
    {
        stderr.push(&chunk[..count]);
        if let Some(log) = &log {
            begun.extend_from_slice(&chunk[..count]);
            let whole = match begun.iter().rposition(|byte| *byte == b'\n') {
                Some(end) => end + 1,
                None if begun.len() > LONGEST_LINE => begun.len(),
                None => continue,
            };
            let rest = begun.split_off(whole);
            log.write(stderr.without_secrets(std::mem::replace(&mut begun, rest)));
        }
    }
    if let Some(log) = log
        && !begun.is_empty()
    {
        begun.push(b'\n');
        log.write(stderr.without_secrets(begun));
    }
    stderr.ended.send_replace(true);
}

fn shown(bytes: &[u8], secrets: &[String]) -> String {
    // Before anything is cut, so that no part of a secret is left at an edge.
    let text = hidden(bytes, secrets);
    let text = without_escapes(&text);
    let text = text.trim();
    let start = text.len().saturating_sub(SHOWN);
    let Some(start) = (start..text.len()).find(|start| text.is_char_boundary(*start)) else {
        return String::new();
    };
    let tail = &text[start..];
    match tail.split_once('\n') {
        // The first line is only part of one.
        Some((_, whole_lines)) if start > 0 => whole_lines.to_owned(),
        _ => tail.to_owned(),
    }
}

fn hidden(bytes: &[u8], secrets: &[String]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    for secret in secrets {
        text = text.replace(secret.as_str(), "[hidden]");
    }
    text
}

/// The text without terminal escapes and other control characters.
fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                if characters.next_if_eq(&'[').is_some() {
                    while characters.next_if(|next| !('@'..='~').contains(next)).is_some() {}
                    characters.next();
                }
            }
            '\n' | '\t' => clean.push(character),
            other if other.is_control() => {}
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: &str) {
        assert_eq!(
            shown(written.as_bytes(), &["s3cr3t-value".to_owned()]),
            expected,
            "{written:?}"
        );
    }

    #[test]
    fn the_end_is_shown_clean_and_without_secrets() {
        check("", "");
        check("Traceback:\n  boom\n", "Traceback:\n  boom");
        check("\u{1b}[31mred\u{1b}[0m\r\n\u{7}bell\n", "red\nbell");
        check("token=s3cr3t-value;", "token=[hidden];");
        let long = "first\n".repeat(1000);
        let tail = shown(long.as_bytes(), &[]);
        assert!(
            tail.len() <= SHOWN && tail.starts_with("first\n") && tail.ends_with("first"),
            "{tail}"
        );
        let cut = format!("s3cr3t-value{}", "é".repeat(SHOWN / 2 - 4));
        assert!(!shown(cut.as_bytes(), &["s3cr3t-value".to_owned()]).contains("3t-value"));
    }
}
