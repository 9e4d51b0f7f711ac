//! H, this host: what a probe finds planted on it, what must not change, and which guest processes remain.

use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::bait::Bait;

/// Longest wait for processes to vanish, on a machine under load.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);
/// The planted folder, relative to the directory of all planted files.
const FOLDER: &str = "folder";

pub(crate) struct Host {
    /// Part of names, files and the command line of every process that a probe leaves on purpose.
    pub(crate) token: String,
    directory: tempfile::TempDir,
    listener: UnixListener,
    bait: Bait,
    /// An idle process of the host.
    victim: Child,
    before: (Vec<u8>, u32, i64, i64),
}

impl Host {
    /// Plants a file with a secret, listens on an abstract socket, starts a process.
    pub(crate) fn plant() -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("codeyard-attack-").tempdir()?;
        let token = directory
            .path()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        fs::write(directory.path().join("canary"), format!("secret of {token}"))?;
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&token)?)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the victim is this process's own child and dies with it"
        )]
        let mut victim = Command::new("sleep");
        // In its own process group, which a program may try to signal.
        let victim = victim
            .arg("600")
            .process_group(0)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut host = Self {
            token,
            bait: Bait::lay(&directory.path().join(FOLDER))?,
            directory,
            listener,
            victim,
            before: Default::default(),
        };
        host.before = host.look()?;
        Ok(host)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.directory.path().join(FOLDER)
    }

    fn canary(&self) -> PathBuf {
        self.directory.path().join("canary")
    }

    fn look(&self) -> io::Result<(Vec<u8>, u32, i64, i64)> {
        let status = fs::metadata(self.canary())?;
        let times = (status.mtime_nsec(), status.ctime_nsec());
        Ok((fs::read(self.canary())?, status.mode(), times.0, times.1))
    }

    /// What an attacker may know of this host, so that it need not search.
    pub(crate) fn given(&self) -> Value {
        json!({
            "victim": self.victim.id(),
            "abstract": self.token,
            "file": self.canary(),
            "directory": self.directory.path(),
            "folder": self.folder(),
        })
    }

    /// The first forbidden change.
    pub(crate) fn changes(&self) -> Option<String> {
        let unchanged = self.look().is_ok_and(|now| now == self.before);
        // A connection would wait here; there must be none.
        let reached = self.listener.set_nonblocking(true).is_ok() && self.listener.accept().is_ok();
        let reached = reached || self.bait.take() > 0;
        match (unchanged, reached) {
            (true, false) => None,
            (false, _) => Some("a file of the host has changed".to_owned()),
            (true, true) => Some("a socket or a FIFO of the host was reached".to_owned()),
        }
    }

    /// Discards what a control has sent; a control may reach the host.
    pub(crate) fn forget_controls(&self) {
        if self.listener.set_nonblocking(true).is_ok() {
            while self.listener.accept().is_ok() {}
        }
        while self.bait.take() > 0 {}
    }

    /// B's tenant. Its name must not contain the token, because B's paths may appear in command lines.
    pub(crate) fn neighbour(&self) -> String {
        let own = self.token.rsplit('-').next().unwrap_or_default();
        format!("neighbour-{own}")
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        processes(&self.token)
    }

    /// Waits until no process has the token in its command line or name; returns the number that remain.
    pub(crate) async fn leftovers(&self) -> usize {
        let start = Instant::now();
        loop {
            let left = processes(&self.token).len();
            if left == 0 || start.elapsed() > PATIENCE {
                return left;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits for a process with the token in its command line or name.
    async fn wait_for_process(&self) -> Option<u32> {
        let start = Instant::now();
        loop {
            let found = processes(&self.token).first().copied();
            if found.is_some() || start.elapsed() > PATIENCE {
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Kills the attacker's zygote and reports the attacker's surviving processes.
    pub(crate) async fn kill_zygote(&self) -> Option<String> {
        let Some(zygote) = self.wait_for_process().await.and_then(parent_of_ours) else {
            return Some("none of the attacker's processes can be seen".to_owned());
        };
        if let Err(error) = kill_process(zygote, Signal::KILL) {
            return Some(format!("the zygote cannot be killed: {error}"));
        }
        match self.leftovers().await {
            0 => None,
            left => Some(format!("{left} processes outlive their zygote")),
        }
    }
}

pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// In bytes.
const MOST_NAME: usize = 15;

/// Other processes with the word in their command line, or with its end as their name.
fn processes(word: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let end = word.as_bytes();
    let end = &end[end.len().saturating_sub(MOST_NAME)..];
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            let is_in = |line: Vec<u8>| line.windows(word.len()).any(|part| part == word.as_bytes());
            let is_named = |name: Vec<u8>| name.trim_ascii_end() == end;
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(is_in)
                || fs::read(format!("/proc/{pid}/comm")).is_ok_and(is_named)
        })
        .collect()
}

/// The parent; it is the zygote if `pid` is a session's first process.
fn parent_of_ours(pid: u32) -> Option<Pid> {
    let zygote = parent(pid)?;
    let is_ours = zygote > 1 && zygote != std::process::id();
    i32::try_from(zygote)
        .ok()
        .filter(|_| is_ours)
        .and_then(Pid::from_raw)
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}
