//! Evaluates filters of `jq` in a process of their own, because a short filter can ask for any amount of memory.
//!
//! The process is this program again. It receives the filter and the documents in a memory file, and answers over a
//! pipe: a line of JSON, then the output. It may die at any time.

pub(crate) mod inside;

use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use constrained_shell::{Filtered, Jq, JqError, MAX_OUTPUT};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;
use rustix::time::Timespec;
use session::CpuMeter;

/// The first argument of the process; the second is its time in milliseconds.
const ARGUMENT: &str = "__jq";

/// Bytes of an answer beside the output.
const MAX_HEADER: usize = 64 * 1024;

/// Between two looks at the time.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// For an answer whose time is just over.
const GRACE: Duration = Duration::from_millis(50);

/// Starts a process for each filter.
#[derive(Debug, Clone)]
pub(super) struct JqProcess {
    /// When the run's time is over.
    pub(super) deadline: Instant,
    /// Counts the duration of each process in the place of its CPU time.
    pub(super) meter: CpuMeter,
}

/// What came of the process.
enum Answer {
    Whole(Vec<u8>),
    TimeIsOver,
    /// More than any filter may print.
    TooLong,
}

// === impl JqProcess ===

impl Jq for JqProcess {
    fn filter(&self, filter: &str, documents: Vec<u8>, is_over: &dyn Fn() -> bool) -> Filtered {
        let begun = Instant::now();
        let filtered = self.start(filter, &documents).and_then(|mut child| {
            drop(documents);
            let answer = child.stdout.take().map_or_else(
                || Err(io::ErrorKind::BrokenPipe.into()),
                |stdout| self.answer(stdout, is_over),
            );
            // Ends it in any case: nothing of it may go on.
            let _ = child.kill();
            let status = child.wait()?;
            Ok(match answer? {
                Answer::Whole(bytes) => inside::parse(bytes).unwrap_or_else(|| died(status.signal())),
                Answer::TimeIsOver => failed(JqError::TimeIsOver),
                Answer::TooLong => failed(JqError::OutputTooLarge),
            })
        });
        self.meter.add_host(begun.elapsed());
        filtered.unwrap_or_else(|cause| failed(JqError::Limit(format!("no process for the filter: {cause}"))))
    }
}

impl JqProcess {
    #[expect(
        clippy::disallowed_methods,
        reason = "`filter` ends the process, which starts no other"
    )]
    fn start(&self, filter: &str, documents: &[u8]) -> io::Result<Child> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut input = std::fs::File::from(memfd_create("jq", MemfdFlags::CLOEXEC)?);
        inside::write_request(&mut input, filter, documents)?;
        input.rewind()?;
        Command::new("/proc/self/exe")
            .arg0("codeyard")
            .arg(ARGUMENT)
            .arg(left.as_millis().to_string())
            .env_clear()
            .current_dir("/")
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }

    /// Reads to the end, or until the time is over.
    fn answer(&self, mut stdout: ChildStdout, is_over: &dyn Fn() -> bool) -> io::Result<Answer> {
        let mut bytes = Vec::new();
        loop {
            let is_late = Instant::now() >= self.deadline + GRACE;
            // A caller that has cancelled waits for nothing.
            if is_late || (is_over() && Instant::now() < self.deadline) {
                return Ok(Answer::TimeIsOver);
            }
            match poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&LOOK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let before = bytes.len();
            bytes.resize(before + CHUNK, 0);
            let read = stdout.read(&mut bytes[before..])?;
            bytes.truncate(before + read);
            if read == 0 {
                return Ok(Answer::Whole(bytes));
            }
            if bytes.len() > MAX_OUTPUT + MAX_HEADER {
                return Ok(Answer::TooLong);
            }
        }
    }
}

fn failed(error: JqError) -> Filtered {
    Filtered {
        output: Vec::new(),
        error: Some(error),
    }
}

/// Why a process ended without an answer.
fn died(signal: Option<i32>) -> Filtered {
    let is_time = signal == Some(Signal::XCPU.as_raw());
    failed(match is_time {
        true => JqError::TimeIsOver,
        false => JqError::Limit("the filter needs too much memory".to_owned()),
    })
}
