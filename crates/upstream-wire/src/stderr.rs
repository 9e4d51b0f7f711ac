//! The end of a server's standard error, kept for error messages.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::watch;

use crate::error::StderrTail;
use crate::logs::Log;
use crate::secrets::Secrets;

/// Per process.
const MAX_KEPT: usize = 64 * 1024;
/// Bytes that a message shows.
const MAX_SHOWN: usize = 2 * 1024;
/// Longest line that is logged in one piece, in bytes.
const MAX_LOG_LINE: usize = 64 * 1024;

/// The last bytes of a server's standard error.
#[derive(Debug)]
pub struct Stderr {
    ring: Mutex<VecDeque<u8>>,
    /// Hidden in messages, which may reach a model.
    secrets: Arc<Secrets>,
    ended: watch::Sender<bool>,
}

impl Stderr {
    /// Reads the stream to its end in the background.
    pub(crate) fn keep(stream: ChildStderr, secrets: Arc<Secrets>, log: Option<Log>) -> Arc<Stderr> {
        let (ended, _) = watch::channel(false);
        let stderr = Arc::new(Stderr {
            ring: Mutex::default(),
            secrets,
            ended,
        });
        tokio::spawn(read(Arc::clone(&stderr), stream, log));
        stderr
    }

    /// For a remote server.
    pub(crate) fn none() -> Arc<Stderr> {
        Arc::new(Stderr {
            ring: Mutex::default(),
            secrets: Arc::default(),
            ended: watch::channel(true).0,
        })
    }

    /// Waits until the server and all its children have closed the stream.
    pub async fn ended(&self) {
        // `self` holds the sender, so waiting cannot fail.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// The last lines, without control characters and secrets.
    pub fn tail(&self) -> StderrTail {
        let ring = self.ring.lock();
        let bytes: Vec<u8> = ring.iter().copied().collect();
        drop(ring);
        StderrTail(shown(&bytes, &self.secrets))
    }

    fn push(&self, bytes: &[u8]) {
        let mut ring = self.ring.lock();
        ring.extend(bytes);
        let surplus = ring.len().saturating_sub(MAX_KEPT);
        ring.drain(..surplus);
    }
}

async fn read(stderr: Arc<Stderr>, mut stream: ChildStderr, log: Option<Log>) {
    let mut chunk = vec![0; 8 * 1024];
    // The beginning of a line waits for its end, so that no secret is split before it is hidden.
    let mut line = Vec::new();
    while let Ok(count) = stream.read(&mut chunk).await
        && count > 0
    {
        stderr.push(&chunk[..count]);
        if let Some(log) = &log {
            line.extend_from_slice(&chunk[..count]);
            let Some(end) = complete(&line, &stderr.secrets) else {
                continue;
            };
            let rest = line.split_off(end);
            log.write(stderr.secrets.hide_bytes(&line));
            line = rest;
        }
    }
    if let Some(log) = log
        && !line.is_empty()
    {
        line.push(b'\n');
        log.write(stderr.secrets.hide_bytes(&line));
    }
    stderr.ended.send_replace(true);
}

/// The end of the bytes to write now: whole lines, or most of a line too long to wait for.
fn complete(line: &[u8], secrets: &Secrets) -> Option<usize> {
    let last = line.iter().rposition(|byte| *byte == b'\n');
    last.map(|end| end + 1).or_else(|| {
        let end = line.len().checked_sub(secrets.max_incomplete())?;
        (end > MAX_LOG_LINE).then(|| secrets.cut(line, end))
    })
}

fn shown(bytes: &[u8], secrets: &Secrets) -> String {
    // Hide secrets before the cut, so that no part of one is left there,
    let text = secrets.hide_bytes(bytes);
    // and again after escapes are removed, because an escape may split a secret.
    let text = secrets.hide(&without_escapes(&String::from_utf8_lossy(&text)));
    let text = text.trim();
    let start = text.len().saturating_sub(MAX_SHOWN);
    let Some(start) = (start..text.len()).find(|start| text.is_char_boundary(*start)) else {
        return String::new();
    };
    let tail = &text[start..];
    match tail.split_once('\n') {
        // The first line is incomplete.
        Some((_, whole_lines)) if start > 0 => whole_lines.to_owned(),
        _ => tail.to_owned(),
    }
}

/// Without terminal escapes and other control characters.
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
    use crate::definition::{SecretValues, Transport};

    fn secrets() -> Secrets {
        Secrets::of(
            &SecretValues(["s3cr3t-value".to_owned()].into()),
            &Transport::default(),
        )
    }

    fn check(written: &str, expected: &str) {
        assert_eq!(shown(written.as_bytes(), &secrets()), expected, "{written:?}");
    }

    #[test]
    fn the_end_is_shown_clean_and_without_secrets() {
        check("", "");
        check("Traceback:\n  boom\n", "Traceback:\n  boom");
        check("\u{1b}[31mred\u{1b}[0m\r\n\u{7}bell\n", "red\nbell");
        check("token=s3cr3t-value;", "token=[hidden];");
        check("token=s3cr3t-\u{1b}[1mvalue;", "token=[hidden];");
        let long = "first\n".repeat(1000);
        let tail = shown(long.as_bytes(), &secrets());
        assert!(
            tail.len() <= MAX_SHOWN && tail.starts_with("first\n") && tail.ends_with("first"),
            "{tail}"
        );
        let cut = format!("s3cr3t-value{}", "é".repeat(MAX_SHOWN / 2 - 4));
        assert!(!shown(cut.as_bytes(), &secrets()).contains("3t-value"));
    }

    #[test]
    fn a_line_without_end_is_cut_beside_its_secrets() {
        let secrets = secrets();
        let line =
            |before: usize, after: usize| format!("{}s3cr3t-value{}", "x".repeat(before), "y".repeat(after));
        let check = |line: String, expected: Option<usize>| {
            assert_eq!(complete(line.as_bytes(), &secrets), expected);
        };
        check("one\ntwo\nthr".to_owned(), Some(8));
        check(line(100, MAX_LOG_LINE - 101), None);
        for before in MAX_LOG_LINE - 20..MAX_LOG_LINE + 20 {
            let line = line(before, 30);
            let end = complete(line.as_bytes(), &secrets).expect("long enough");
            let parts = [&line.as_bytes()[..end], &line.as_bytes()[end..]];
            let hidden = parts.map(|part| secrets.hide(&String::from_utf8_lossy(part)));
            assert_eq!(hidden.concat().matches("[hidden]").count(), 1, "{before}");
        }
    }
}
