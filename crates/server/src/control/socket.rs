//! The control socket of this process: private, for few clients at once, and off the path of serving.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use upstream::Status as Running;

use super::Facts;
use super::protocol::{Ask, LONGEST_QUESTION, Question, Reply, ServerReport, Status, VERSION};
use crate::Caller;

/// Concurrent clients; more are closed at once.
const CLIENTS: usize = 8;
/// Longest time for a client to send its question and read the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause after a failed accept, for example when the process has no free descriptor.
const BREATH: Duration = Duration::from_millis(200);
/// Processes with one number, in different containers, that share a data directory.
const MOST_NAMES: u32 = 1000;
/// Longest path that fits into a socket's address, in bytes.
const LONGEST_PATH: usize = 100;

/// The socket file, removed on drop.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode. Another process may own a file of this name when the socket is dropped.
    identity: (u64, u64),
}

/// Creates this process's socket and removes stale ones.
pub(super) fn listen(directory: &Path) -> io::Result<(UnixListener, SocketFile)> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    for socket in sockets(directory)? {
        if is_stale(&socket) {
            // Another process may have removed the file first.
            let _ = fs::remove_file(&socket);
        }
    }
    // Other commands expect a visible socket to accept connections, so the socket gets its name after it listens.
    let (listener, new) = bind(directory)?;
    let published =
        fs::set_permissions(&new, Permissions::from_mode(0o600)).and_then(|()| publish(directory, &new));
    let removed = fs::remove_file(&new);
    let place = published?;
    removed?;
    Ok((listener, place))
}

/// Binds a socket under a name that other processes ignore.
fn bind(directory: &Path) -> io::Result<(UnixListener, PathBuf)> {
    first_free(|number| {
        let path = directory.join(format!("{}.new", name(number)));
        let address = Address::of(&path)?;
        Ok((UnixListener::bind(&address.path)?, path))
    })
}

/// Links the socket under this process's number. The socket of another container's process with this number is left
/// alone.
fn publish(directory: &Path, new: &Path) -> io::Result<SocketFile> {
    let metadata = fs::metadata(new)?;
    first_free(|number| {
        let path = directory.join(format!("{}.sock", name(number)));
        fs::hard_link(new, &path)?;
        Ok(SocketFile {
            path,
            identity: (metadata.dev(), metadata.ino()),
        })
    })
}

/// `4711`, then `4711-1` and so on.
fn name(number: u32) -> String {
    match (std::process::id(), number) {
        (pid, 0) => pid.to_string(),
        (pid, number) => format!("{pid}-{number}"),
    }
}

/// The process id in a socket's name.
pub(super) fn pid_of(socket: &Path) -> Option<u32> {
    let name = socket.file_stem()?.to_str()?;
    name.split('-').next()?.parse().ok()
}

/// Tries one name after another while the name is taken.
fn first_free<T>(mut take: impl FnMut(u32) -> io::Result<T>) -> io::Result<T> {
    let mut taken = io::Error::from(io::ErrorKind::AddrInUse);
    for number in 0..MOST_NAMES {
        match take(number) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::AlreadyExists | io::ErrorKind::AddrInUse
                ) =>
            {
                taken = error;
            }
            tried => return tried,
        }
    }
    Err(taken)
}

pub(super) fn sockets(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut sockets: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sock"))
        .collect();
    sockets.sort();
    Ok(sockets)
}

/// Whether no process listens.
pub(super) fn is_stale(socket: &Path) -> bool {
    let connected = Address::of(socket).and_then(|address| connect(&address.path));
    connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Connects without waiting, so that a stopped process does not block.
fn connect(path: &Path) -> io::Result<()> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(())
}

/// A path that fits into a socket's address. A long path is opened through a descriptor of its directory.
pub(super) struct Address {
    pub(super) path: PathBuf,
    _directory: Option<OwnedFd>,
}

impl Address {
    pub(super) fn of(path: &Path) -> io::Result<Address> {
        if path.as_os_str().len() <= LONGEST_PATH {
            return Ok(Address {
                path: path.to_path_buf(),
                _directory: None,
            });
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(directory, flags, Mode::empty())?;
        let short = format!("/proc/self/fd/{}", directory.as_raw_fd());
        Ok(Address {
            path: Path::new(&short).join(name),
            _directory: Some(directory),
        })
    }
}

// === impl SocketFile ===

impl Drop for SocketFile {
    fn drop(&mut self) {
        let found = fs::metadata(&self.path).map(|metadata| (metadata.dev(), metadata.ino()));
        if found.is_ok_and(|found| found == self.identity) {
            // If the file is missing, another process removed it as stale.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Answers clients until dropped.
pub(super) async fn serve(listener: UnixListener, server: Caller, facts: Facts) {
    let places = Arc::new(Semaphore::new(CLIENTS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        if !is_ours(&stream) {
            continue;
        }
        let (server, facts) = (server.clone(), facts.clone());
        tokio::spawn(async move {
            // A client that disconnects or sends nothing gets no answer.
            let _ = timeout(PATIENCE, answer(stream, &server, &facts)).await;
            drop(place);
        });
    }
}

/// Accepts only this process's user and root, whatever the file's permissions are at this moment.
fn is_ours(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

async fn answer(stream: UnixStream, server: &Caller, facts: &Facts) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::with_capacity(LONGEST_QUESTION, read);
    let mut line = Vec::new();
    loop {
        line.clear();
        let longest = LONGEST_QUESTION as u64;
        (&mut read).take(longest).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Ok(());
        }
        let is_whole = line.ends_with(b"\n");
        let answer = match serde_json::from_slice::<Question>(&line) {
            Ok(Question {
                codeyard: VERSION,
                ask: Ask::Status,
            }) => encode(&reply(status(server, facts))),
            Ok(Question {
                codeyard: VERSION,
                ask: Ask::Servers,
            }) => encode(&reply(reports(server))),
            Ok(Question { codeyard, .. }) => encode(&refused(format!(
                "this codeyard speaks version {VERSION}, not {codeyard}"
            ))),
            Err(error) => encode(&refused(format!("not a valid question: {error}"))),
        };
        write.write_all(&answer).await?;
        if !is_whole {
            return Ok(());
        }
    }
}

fn reply<T>(answer: T) -> Reply<T> {
    Reply {
        codeyard: VERSION,
        answer: Some(answer),
        error: None,
    }
}

fn refused(error: String) -> Reply<()> {
    Reply {
        codeyard: VERSION,
        answer: None,
        error: Some(error),
    }
}

fn encode(answer: &impl Serialize) -> Vec<u8> {
    // Text and numbers always serialize.
    let mut bytes = serde_json::to_vec(answer).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn status(server: &Caller, facts: &Facts) -> Status {
    let shared = &server.shared;
    let states = shared.hub.states();
    let running = states.iter().filter(|state| state.status == Running::Running);
    let since = facts.since.duration_since(UNIX_EPOCH).unwrap_or_default();
    let figures = shared.sessions.figures();
    Status {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        surface: facts.surface.to_owned(),
        since_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        client: server.client.get().cloned(),
        sessions: figures.open,
        runs: figures.runs,
        servers_running: running.count(),
        servers: states.len(),
        configuration: facts.configuration(),
    }
}

fn reports(server: &Caller) -> Vec<ServerReport> {
    let states = server.shared.hub.states();
    states.into_iter().map(ServerReport::from).collect()
}
