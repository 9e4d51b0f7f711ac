//! Runs a process: a short one with a time limit, or a long one whose output is read line by line.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// Most bytes of output that are read; a real Python's answer is shorter.
const ANSWER_LIMIT: u64 = 64 * 1024;
/// Lines at the end of the output that an error may show.
const TAIL_LINES: usize = 30;
/// Bytes after which a line is cut, to limit the memory for output without newlines.
const LINE_LIMIT: u64 = 4096;

#[derive(Debug)]
pub(crate) struct ChildOutput {
    pub(crate) stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: ExitStatus,
}

impl ChildOutput {
    pub(crate) fn is_success(&self) -> bool {
        self.status.success()
    }

    pub(crate) fn output_tail(&self) -> String {
        [&self.stderr, &self.stdout]
            .into_iter()
            .find_map(|bytes| {
                let text = String::from_utf8_lossy(bytes);
                let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
                Some(line.trim().chars().take(200).collect())
            })
            .unwrap_or_else(|| self.status.to_string())
    }
}

#[derive(Debug)]
pub(crate) enum AskError {
    NotStarted(io::Error),
    TimedOut,
}

/// Runs `program` in its own process group. Does not run it in the current directory, because files there could choose
/// the version of a shim.
pub(crate) fn ask(program: &Path, args: &[&str], timeout: Duration) -> Result<ChildOutput, AskError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the Pythons it starts and ends their group"
    )]
    let mut command = Command::new(program);
    command.args(args).current_dir("/").process_group(0);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(AskError::NotStarted)?;
    let stdout = child.stdout.take().map(read_in_background);
    let stderr = child.stderr.take().map(read_in_background);
    let ended = wait_until(&child, Instant::now() + timeout);
    // The group's leader is not reaped yet, so the kernel cannot have reused the group's number.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let status = child.wait().map_err(AskError::NotStarted)?;
    if !ended.map_err(AskError::NotStarted)? {
        return Err(AskError::TimedOut);
    }
    let collect = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        reader.and_then(|it| it.join().ok()).unwrap_or_default()
    };
    Ok(ChildOutput {
        stdout: collect(stdout),
        stderr: collect(stderr),
        status,
    })
}

fn read_in_background(source: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Keep the output before an error.
        let _ = source.take(ANSWER_LIMIT).read_to_end(&mut bytes);
        bytes
    })
}

/// Whether the child ended before the deadline. Does not reap the child.
fn wait_until(child: &Child, deadline: Instant) -> io::Result<bool> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now()))
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct ReportedProcess<'a> {
    /// Command line before the program, such as a supervisor that ends the child when codeyard dies.
    pub(crate) prefix: &'a [OsString],
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [&'a OsStr],
    pub(crate) directory: &'a Path,
}

#[derive(Debug)]
pub(crate) struct StepEnd {
    pub(crate) status: ExitStatus,
    /// The last lines of both streams.
    pub(crate) tail: Vec<String>,
}

impl ReportedProcess<'_> {
    /// Runs the program to its end and passes each line of both streams to `on_line`.
    pub(crate) fn run(&self, on_line: &mut dyn FnMut(&str)) -> io::Result<StepEnd> {
        let mut child = self.command().spawn()?;
        let (sender, lines) = sync_channel(64);
        let readers = [
            child
                .stdout
                .take()
                .map(|stream| send_lines(stream, sender.clone())),
            child.stderr.take().map(|stream| send_lines(stream, sender)),
        ];
        let mut tail = VecDeque::with_capacity(TAIL_LINES);
        for line in lines {
            on_line(&line);
            if tail.len() == TAIL_LINES {
                tail.pop_front();
            }
            tail.push_back(line);
        }
        for reader in readers.into_iter().flatten() {
            // A reader ends with its stream and cannot fail.
            let _ = reader.join();
        }
        Ok(StepEnd {
            status: child.wait()?,
            tail: tail.into(),
        })
    }

    fn command(&self) -> Command {
        let mut words = self
            .prefix
            .iter()
            .map(OsString::as_os_str)
            .chain([self.program.as_os_str()]);
        let first = words.next().unwrap_or(self.program.as_os_str());
        #[expect(
            clippy::disallowed_methods,
            reason = "pip runs once, in the foreground, for the person who asked"
        )]
        let mut command = Command::new(first);
        command.args(words).args(self.args).current_dir(self.directory);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // The user's pip settings choose the index and the proxy, but not the target directory.
        for name in [
            "PIP_TARGET",
            "PIP_PREFIX",
            "PIP_ROOT",
            "PIP_REQUIREMENT",
            "PIP_CONSTRAINT",
            "PYTHONHOME",
            "PYTHONPATH",
        ] {
            command.env_remove(name);
        }
        command
            .env("PIP_USER", "0")
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .env("PIP_NO_INPUT", "1");
        command
    }
}

fn send_lines(stream: impl Read + Send + 'static, sender: SyncSender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut stream).take(LINE_LIMIT).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    if !text.is_empty() && sender.send(text).is_err() {
                        return;
                    }
                }
            }
        }
    })
}
