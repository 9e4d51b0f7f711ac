//! A server's standard error, from all processes that use the server.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use environment::Machine;
use upstream_wire::{MAX_LOG_BYTES, log_file, log_file_before};

use super::definitions::unknown;
use crate::cli::ServerLogs;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

/// Polling interval of the file.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Shows the log's end, then follows it.
pub(super) async fn run(context: &Context, arguments: &ServerLogs) -> anyhow::Result<Exit> {
    let directory = context.load_settings()?.data_dir.join("logs");
    let name = &arguments.name;
    let path = log_file(&directory, name);
    let before = log_file_before(&directory, name);
    let all = registry::list_definitions(&context.sources(), &Machine);
    let is_known = all.iter().any(|defined| defined.name == *name) || path.exists() || before.exists();
    if !is_known {
        let names: Vec<&str> = all.iter().map(|defined| defined.name.as_str()).collect();
        return Err(Failure::new(Exit::Usage, unknown(name, &names)).into());
    }
    let unreadable = |error: io::Error| Failure::new(Exit::Broken, format!("{}: {error}", path.display()));
    let mut tail = Tail::new(path.clone());
    let mut bytes = read_whole(&before).map_err(unreadable)?;
    bytes.extend(tail.news().map_err(unreadable)?);
    let kept = usize::try_from(MAX_LOG_BYTES).unwrap_or(usize::MAX);
    let start = bytes.len().saturating_sub(kept);
    context
        .output
        .foreign(&String::from_utf8_lossy(whole_lines(&bytes, start)))?;
    if !arguments.follow {
        if bytes.is_empty() {
            context.output.tell(&format!("`{name}` has not been started yet"));
        }
        return Ok(Exit::Done);
    }
    let interrupt = Interrupt::watch()?;
    while !interrupt.token.is_cancelled() {
        let news = tail.news().map_err(unreadable)?;
        if !news.is_empty() {
            context.output.foreign(&String::from_utf8_lossy(&news))?;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = interrupt.token.cancelled() => {}
        }
    }
    Ok(interrupt.exit(Exit::Done))
}

/// The bytes from `start`, without a leading partial line.
fn whole_lines(bytes: &[u8], start: usize) -> &[u8] {
    let rest = &bytes[start..];
    match rest.iter().position(|byte| *byte == b'\n') {
        Some(end) if start > 0 => &rest[end + 1..],
        _ => rest,
    }
}

fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// A growing file that may be replaced.
struct Tail {
    path: PathBuf,
    file: Option<File>,
}

// === impl Tail ===

impl Tail {
    fn new(path: PathBuf) -> Tail {
        Tail { path, file: None }
    }

    /// The bytes written since the last call.
    fn news(&mut self) -> io::Result<Vec<u8>> {
        let mut news = Vec::new();
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut news)?;
        }
        match File::open(&self.path) {
            Ok(mut now) => {
                let is_same = match &self.file {
                    Some(file) => file.metadata()?.ino() == now.metadata()?.ino(),
                    None => false,
                };
                if !is_same {
                    now.read_to_end(&mut news)?;
                    self.file = Some(now);
                }
                Ok(news)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(news),
            Err(error) => Err(error),
        }
    }
}
