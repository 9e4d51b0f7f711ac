//! Forwards programs' requests to the host, from a FIFO that every process of the session can open.
//!
//! A request is one line, which names the FIFO for the answer. The kernel writes lines up to `PIPE_BUF` bytes
//! atomically. A program that writes anything else harms only its own session: the host does not trust this process
//! either.

mod wire;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use guest_session::{CallQueue, Reply};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use wire::ask;

/// Maximum number of waiting requests. Further programs block until there is room.
const MOST_WAITING: usize = 64;
/// Bytes per read.
const CHUNK: usize = 64 * 1024;
/// Host calls that programs may make.
const NAMES: [&str; 4] = ["tool", "search", "describe", "manual"];

/// The requests of a session.
pub struct Requests {
    temporary: String,
    directory: PathBuf,
    fifo: Option<OwnedFd>,
    incoming: Vec<u8>,
    queue: CallQueue,
    next: u64,
    /// Paths for the answers to requests sent to the host.
    awaiting_reply: HashMap<u64, PathBuf>,
    answers: Vec<Answer>,
}

/// An answer that its program has not read completely.
struct Answer {
    fifo: OwnedFd,
    text: Vec<u8>,
    written: usize,
}

impl Requests {
    /// The variable that names the directory.
    pub const VARIABLE: &str = "CODEYARD_REQUESTS";

    /// Requests through a directory in the session's own file system.
    pub fn new(temporary: &str) -> Self {
        Self {
            temporary: temporary.to_owned(),
            directory: Path::new(temporary).join(wire::DIRECTORY),
            fifo: None,
            incoming: Vec::new(),
            queue: CallQueue::default(),
            next: 1,
            awaiting_reply: HashMap::new(),
            answers: Vec::new(),
        }
    }

    /// The session's own file system.
    pub fn temporary(&self) -> &str {
        &self.temporary
    }

    /// The directory of the FIFOs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins a run with at most this many concurrent host calls.
    ///
    /// # Errors
    /// If the session's own file system cannot hold a FIFO.
    pub fn begin(&mut self, most: u32) -> io::Result<()> {
        self.queue = CallQueue {
            most,
            ..CallQueue::default()
        };
        self.awaiting_reply.clear();
        self.answers.clear();
        self.incoming.clear();
        // An earlier program may have removed or replaced it.
        let path = self.directory.join(wire::FIFO);
        if self.fifo.is_none() || !path.symlink_metadata().is_ok_and(|found| is_fifo(&found)) {
            self.make(&path)?;
        }
        Ok(())
    }

    fn make(&mut self, path: &Path) -> io::Result<()> {
        if !self
            .directory
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir())
        {
            // A program may have put a file here.
            let _ = fs::remove_file(&self.directory);
            fs::create_dir_all(&self.directory)?;
        }
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        wire::make_fifo(path)?;
        // Also open for writing, so that a program's end does not look like the end of the FIFO.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        self.fifo = Some(rustix::fs::open(path, flags, Mode::empty())?);
        Ok(())
    }

    /// Reads the arrived requests; returns the frames that may be sent to the host.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        if self.has_room() {
            self.receive();
        }
        let mut frames = Vec::new();
        while let Some(frame) = self.queue.take() {
            frames.push(frame);
        }
        frames
    }

    fn has_room(&self) -> bool {
        self.queue.waiting.len() < MOST_WAITING
    }

    fn receive(&mut self) {
        let Some(fifo) = &self.fifo else { return };
        let mut chunk = [0; CHUNK];
        if let Ok(length) = rustix::io::read(fifo, &mut chunk) {
            self.incoming.extend_from_slice(&chunk[..length]);
        }
        while let Some(end) = self.incoming.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.incoming.drain(..=end).collect();
            self.add(&line);
        }
        if self.incoming.len() > wire::MAX_LINE {
            self.incoming.clear();
        }
    }

    /// Queues one request. Ignores other lines, because they name no FIFO for an answer.
    fn add(&mut self, line: &[u8]) {
        let Some(request) = wire::read(line, &self.directory) else {
            return;
        };
        let answer = request.answer;
        if !NAMES.contains(&request.name.as_str()) {
            let message = format!("unknown request {:?}", request.name);
            self.answer(
                &answer,
                json!({"err": {"kind": "unknown_call", "message": message}}).to_string(),
            );
            return;
        }
        let id = self.next;
        self.next += 1;
        let (name, args) = (Value::from(request.name), request.args);
        let frame = format!(r#"{{"t":"call","id":{id},"name":{name},"args":{args}}}"#);
        self.awaiting_reply.insert(id, answer);
        self.queue.waiting.push_back(frame.into_bytes());
    }

    /// Starts to deliver an answer of the host.
    pub fn reply(&mut self, reply: &Reply) {
        let Some(path) = self.awaiting_reply.remove(&reply.id) else {
            return;
        };
        self.queue.flying = self.queue.flying.saturating_sub(1);
        let text = |raw: Option<&RawValue>| raw.map_or("null", RawValue::get).to_owned();
        let answer = match &reply.err {
            Some(error) => format!(r#"{{"err":{}}}"#, text(Some(error))),
            None => format!(r#"{{"ok":{}}}"#, text(reply.ok.as_deref())),
        };
        self.answer(&path, answer);
    }

    fn answer(&mut self, path: &Path, text: String) {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // A program that has ended does not read its answer.
        let Ok(fifo) = rustix::fs::open(path, flags, Mode::empty()) else {
            return;
        };
        let is_fifo = rustix::fs::fstat(&fifo)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
        if is_fifo {
            let text = [format!("{}\n", text.len()).into_bytes(), text.into_bytes()].concat();
            self.answers.push(Answer {
                fifo,
                text,
                written: 0,
            });
            self.flush();
        }
    }

    /// Writes as much as the programs read now.
    pub fn flush(&mut self) {
        self.answers.retain_mut(Answer::has_more);
    }

    /// Descriptors to poll: requests, and FIFOs with unwritten answers.
    pub fn waiting(&self) -> impl Iterator<Item = PollFd<'_>> {
        let requests = self.fifo.iter().filter(|_| self.has_room());
        let requests = requests.map(|fifo| PollFd::new(fifo, PollFlags::IN));
        let answers = self.answers.iter();
        requests.chain(answers.map(|answer| PollFd::new(&answer.fifo, PollFlags::OUT)))
    }

    /// Drops the requests of a finished run.
    pub fn end(&mut self) {
        self.awaiting_reply.clear();
        self.answers.clear();
        if let Some(fifo) = &self.fifo {
            let mut file = [0; CHUNK];
            while rustix::io::read(fifo, &mut file).is_ok_and(|length| length > 0) {}
        }
    }
}

impl Answer {
    /// Writes as much as the program reads now; returns whether more remains.
    fn has_more(&mut self) -> bool {
        while let Some(rest) = self.text.get(self.written..).filter(|rest| !rest.is_empty()) {
            match rustix::io::write(&self.fifo, rest) {
                Ok(written) => self.written += written,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
        false
    }
}

fn is_fifo(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    found.file_type().is_fifo()
}

/// Opens a program's file of arguments.
fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}
