//! Asks every serving process of this data directory.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::directory;
use super::protocol::{Ask, Question, Reply, ServerReport, Status, VERSION};
use super::socket::{Address, is_stale, pid_of, sockets};

/// Longest wait for one process; a process that takes longer is reported as hanging.
const PATIENCE: Duration = Duration::from_secs(2);
/// In bytes.
const LONGEST_ANSWER: u64 = 16 * 1024 * 1024;

/// Reply of one process.
#[derive(Debug)]
pub struct ProcessReply<T> {
    /// Process id.
    pub pid: u32,
    /// The answer, or why there is none.
    pub answer: Result<T, String>,
}

/// State and activity of each process, sorted by process id.
///
/// # Errors
/// If the directory of the sockets cannot be read.
pub async fn statuses(data: &Path) -> io::Result<Vec<ProcessReply<Status>>> {
    all(data, Ask::Status).await
}

/// The servers of each process.
///
/// # Errors
/// If the directory of the sockets cannot be read.
pub async fn servers(data: &Path) -> io::Result<Vec<ProcessReply<Vec<ServerReport>>>> {
    all(data, Ask::Servers).await
}

async fn all<T: DeserializeOwned + Send + 'static>(
    data: &Path,
    ask: Ask,
) -> io::Result<Vec<ProcessReply<T>>> {
    let mut asking = JoinSet::new();
    for socket in sockets(&directory(data))? {
        let Some(pid) = pid_of(&socket) else {
            continue;
        };
        if is_stale(&socket) {
            // Another process may have removed the file first.
            let _ = std::fs::remove_file(&socket);
            continue;
        }
        asking.spawn(async move {
            let answer = match timeout(PATIENCE, one(&socket, ask)).await {
                Ok(answer) => answer,
                Err(_elapsed) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
            };
            ProcessReply { pid, answer }
        });
    }
    let mut all = asking.join_all().await;
    all.sort_by_key(|asked| asked.pid);
    Ok(all)
}

async fn one<T: DeserializeOwned>(socket: &Path, ask: Ask) -> Result<T, String> {
    let question = Question {
        codeyard: VERSION,
        ask,
    };
    let mut line = serde_json::to_vec(&question).map_err(|error| error.to_string())?;
    line.push(b'\n');
    let bytes = exchange(socket, &line).await.map_err(|error| error.to_string())?;
    let answer: Reply<T> =
        serde_json::from_slice(&bytes).map_err(|error| format!("its answer cannot be read: {error}"))?;
    let none = answer.error.unwrap_or_else(|| "it answered nothing".to_owned());
    answer.answer.ok_or(none)
}

async fn exchange(socket: &Path, line: &[u8]) -> io::Result<Vec<u8>> {
    let address = Address::of(socket)?;
    let mut stream = UnixStream::connect(&address.path).await?;
    stream.write_all(line).await?;
    // The process answers one line, reads the end of the stream and closes.
    stream.shutdown().await?;
    let mut bytes = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut bytes).await?;
    Ok(bytes)
}
