//! Log files of the servers' standard error: `NAME.log`, and `NAME.log.1` with the lines before it.
//!
//! One thread writes for all servers behind a bounded queue: a slow disk loses lines but never delays a
//! server.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Size at which a new file begins. The previous file stays, so at least this much can be read.
pub const MAX_LOG_BYTES: u64 = 256 * 1024;
/// Chunks of all servers together.
const QUEUE: usize = 256;
/// Longest wait for the queue when the hub ends.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);
/// In bytes, without the extension.
const MAX_NAME: usize = 120;

/// Path of a server's log file.
pub fn log_file(directory: &Path, server: &str) -> PathBuf {
    directory.join(format!("{}.log", file_name(server)))
}

/// The file that came before [`log_file`].
pub fn log_file_before(directory: &Path, server: &str) -> PathBuf {
    directory.join(format!("{}.log.1", file_name(server)))
}

/// Different servers or principals have different file names, whatever characters they hold.
pub(crate) fn file_name(text: &str) -> String {
    let mut name = String::new();
    for byte in text.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        // Writing to a string cannot fail.
        let _ = match byte {
            b'.' if !name.is_empty() => write!(name, "."),
            byte if is_plain => write!(name, "{}", char::from(byte)),
            byte => write!(name, "%{byte:02x}"),
        };
    }
    if name.len() > MAX_NAME {
        let digest = Sha256::digest(text.as_bytes());
        name.truncate(MAX_NAME - 17);
        name.push('~');
        name.push_str(&hex::encode(&digest[..8]));
    }
    if name.is_empty() {
        name.push('%');
    }
    name
}

/// The log files of all servers. Cheap to clone; without a directory, nothing is written.
#[derive(Debug, Clone, Default)]
pub struct Logs(Option<Arc<LogWriter>>);

#[derive(Debug)]
struct LogWriter {
    directory: PathBuf,
    /// The first chunk starts the writing thread.
    queue: OnceLock<mpsc::Sender<WriterCommand>>,
}

/// The log file of one server.
#[derive(Debug, Clone)]
pub struct Log {
    shared: Arc<LogWriter>,
    file: PathBuf,
    before: PathBuf,
    /// Chunks dropped since the last queued one.
    dropped: Arc<AtomicU64>,
}

enum WriterCommand {
    Write(Chunk),
    /// Replies when all earlier chunks are written.
    Flush(oneshot::Sender<()>),
}

struct Chunk {
    file: PathBuf,
    before: PathBuf,
    bytes: Vec<u8>,
}

// === impl Logs ===

impl Logs {
    /// Log files in this directory.
    pub fn new(directory: Option<PathBuf>) -> Logs {
        Logs(directory.map(|directory| {
            Arc::new(LogWriter {
                directory,
                queue: OnceLock::new(),
            })
        }))
    }

    /// Waits until all queued chunks are written, at most two seconds.
    pub async fn flush(&self) {
        let Some(queue) = self.0.as_ref().and_then(|shared| shared.queue.get()) else {
            return;
        };
        let (reply, written) = oneshot::channel();
        let flushed = async {
            if queue.send(WriterCommand::Flush(reply)).await.is_ok() {
                let _ = written.await;
            }
        };
        if timeout(FLUSH_TIMEOUT, flushed).await.is_err() {
            tracing::warn!("the last standard error of servers was not written: the disk is too slow");
        }
    }

    /// The log file of a server.
    pub fn of(&self, server: &str) -> Option<Log> {
        let shared = self.0.clone()?;
        Some(Log {
            file: log_file(&shared.directory, server),
            before: log_file_before(&shared.directory, server),
            dropped: Arc::default(),
            shared,
        })
    }
}

// === impl Log ===

impl Log {
    /// Queues whole lines; never waits.
    pub(crate) fn write(&self, mut bytes: Vec<u8>) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            bytes.splice(
                ..0,
                line(&format!(
                    "{dropped} pieces were not written: the disk is too slow"
                )),
            );
        }
        let chunk = Chunk {
            file: self.file.clone(),
            before: self.before.clone(),
            bytes,
        };
        if self.shared.queue().try_send(WriterCommand::Write(chunk)).is_err() {
            self.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }

    /// Queues a line of codeyard's own, with a timestamp.
    pub(crate) fn note(&self, text: &str) {
        self.write(line(text));
    }
}

fn line(text: &str) -> Vec<u8> {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let time = i64::try_from(seconds)
        .ok()
        .and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    let time = time.map_or_else(String::new, |time| time.format("%Y-%m-%d %H:%M:%S").to_string());
    format!("--- {time} codeyard {}: {text}\n", std::process::id()).into_bytes()
}

// === impl LogWriter ===

impl LogWriter {
    fn queue(&self) -> &mpsc::Sender<WriterCommand> {
        self.queue.get_or_init(|| {
            let (queue, commands) = mpsc::channel(QUEUE);
            let directory = self.directory.clone();
            let started = std::thread::Builder::new()
                .name("server-logs".to_owned())
                .spawn(move || write_all(&directory, commands));
            if let Err(error) = started {
                tracing::warn!(%error, "the servers' standard error is not written to files");
            }
            queue
        })
    }
}

/// Ends when the last sender is dropped.
fn write_all(directory: &Path, mut commands: mpsc::Receiver<WriterCommand>) {
    let mut was_reported = false;
    while let Some(command) = commands.blocking_recv() {
        let chunk = match command {
            WriterCommand::Write(chunk) => chunk,
            WriterCommand::Flush(written) => {
                let _ = written.send(());
                continue;
            }
        };
        if let Err(error) = append(directory, &chunk)
            && !was_reported
        {
            was_reported = true;
            let file = chunk.file.display();
            tracing::warn!(%error, %file, "a server's standard error could not be written");
        }
    }
}

fn append(directory: &Path, chunk: &Chunk) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&chunk.file)?;
    file.write_all(&chunk.bytes)?;
    if file.metadata()?.len() < MAX_LOG_BYTES {
        return Ok(());
    }
    // Another process may have begun a new file in the meantime.
    match fs::metadata(&chunk.file) {
        Ok(now) if now.len() >= MAX_LOG_BYTES => fs::rename(&chunk.file, &chunk.before),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn chunk(directory: &Path, bytes: &[u8]) -> Chunk {
        Chunk {
            file: log_file(directory, "s"),
            before: log_file_before(directory, "s"),
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn names_become_files_and_stay_different() {
        assert_eq!(file_name("github"), "github");
        assert_eq!(file_name("a.b"), "a.b");
        assert_eq!(file_name("../up"), "%2e.%2fup");
        assert_eq!(file_name("a/b"), "a%2fb");
        assert_eq!(file_name(""), "%");
        assert_ne!(file_name("a%2fb"), file_name("a/b"));
        let (one, other) = (format!("{}1", "x".repeat(128)), format!("{}2", "x".repeat(128)));
        assert_eq!(file_name(&one).len(), MAX_NAME);
        assert_ne!(file_name(&one), file_name(&other));
    }

    #[test]
    fn the_last_bytes_are_kept_and_are_private() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let directory = home.path().join("logs");
        let lines = "0123456\n".repeat(1024);
        for _ in 0..200 {
            append(&directory, &chunk(&directory, lines.as_bytes())).expect("written");
        }
        append(&directory, &chunk(&directory, b"last\n")).expect("written");
        let file = log_file(&directory, "s");
        let now = fs::read(&file).expect("readable");
        let before = fs::metadata(log_file_before(&directory, "s")).expect("there");
        assert!(now.ends_with(b"last\n"));
        assert!(now.len() as u64 <= MAX_LOG_BYTES && before.len() >= MAX_LOG_BYTES);
        assert_eq!(fs::read_dir(&directory).expect("readable").count(), 2);
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&directory)), (0o600, 0o700));
    }
}
