//! Evaluates filters with the crates of `jaq`, on a separate thread that the caller may abandon.
//!
//! The bounds, tested with jaq 3.1.2:
//! - Time: jaq has no time limit and no callback, but it clones its context at every step. There [`Watch`] checks
//!   whether to stop, and unwinds the thread. jaq's own `range` and the results are checked too. A single call of a
//!   built-in filter, such as on a number of a million digits, is not interrupted: the thread is abandoned.
//! - Depth: the same check stops filters that recurse too deep, by the used stack. Documents and results have a
//!   maximum depth. But jaq frees values, paths and closures recursively: a value some hundred thousand levels deep
//!   overflows the stack and ends the process.
//! - Memory: unbounded. `"x" * 1e9`, or `. + .` forty times over, takes all available memory.

mod builtins;
mod documents;
mod program;
mod results;
mod watch;

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

use crate::evaluated::MAX_OUTPUT;
use crate::jq::{Filtered, Jq, JqError};

use watch::{TooDeep, Watch};

/// Bytes of the thread's stack. Half is for jaq's own recursion between two steps.
const STACK: usize = 64 << 20;

/// Interval between two checks of the time.
const LOOK: Duration = Duration::from_millis(2);

/// Evaluates filters in this process.
#[derive(Debug)]
pub struct Jaq(());

/// Output of a filter so far. Both sides hold it, because the caller may abandon the thread.
type SharedOutput = Arc<Mutex<Vec<u8>>>;

/// A thread that evaluates a filter.
struct Evaluation {
    thread: JoinHandle<Result<(), JqError>>,
    /// Disconnected when the thread ends, even by unwinding.
    end: Receiver<()>,
    output: SharedOutput,
    is_stopped: Arc<AtomicBool>,
}

// === impl Jaq ===

impl Jaq {
    /// For a process with a memory limit of the operating system, which a filter may kill: a value a million levels
    /// deep overflows the stack, and `"x" * 1e9` takes the memory.
    pub fn in_disposable_process() -> Jaq {
        Jaq(())
    }
}

impl Jq for Jaq {
    fn filter(&self, filter: &str, documents: Vec<u8>, is_over: &dyn Fn() -> bool) -> Filtered {
        match Evaluation::start(filter.to_owned(), documents) {
            Ok(evaluation) => evaluation.filtered(is_over),
            Err(cause) => Filtered {
                output: Vec::new(),
                error: Some(JqError::Limit(format!("no thread for the filter: {cause}"))),
            },
        }
    }
}

// === impl Evaluation ===

impl Evaluation {
    fn start(filter: String, documents: Vec<u8>) -> io::Result<Evaluation> {
        let output = SharedOutput::default();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (alive, end) = sync_channel(1);
        let (printed, watched) = (output.clone(), is_stopped.clone());
        let thread = thread::Builder::new().name("jq".to_owned()).stack_size(STACK);
        let thread = thread.spawn(move || {
            let _alive: SyncSender<()> = alive;
            let watch = Watch::new(watched, STACK / 2);
            program::run(&filter, &documents, &watch, |line| print(&printed, line))
        })?;
        Ok(Evaluation {
            thread,
            end,
            output,
            is_stopped,
        })
    }

    fn filtered(self, is_over: &dyn Fn() -> bool) -> Filtered {
        let is_in_time = loop {
            if is_over() {
                break false;
            }
            if self.end.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected) {
                break true;
            }
        };
        self.is_stopped.store(true, Ordering::Relaxed);
        let end = if is_in_time {
            self.thread
                .join()
                .unwrap_or_else(|unwound| Err(reason(unwound.as_ref())))
        } else {
            Err(JqError::TimeIsOver)
        };
        Filtered {
            output: std::mem::take(&mut self.output.lock()),
            error: end.err(),
        }
    }
}

/// Why a thread was unwound.
fn reason(unwound: &(dyn Any + Send)) -> JqError {
    let cause = if unwound.is::<TooDeep>() {
        "the filter calls itself too deep"
    } else {
        "the filter could not be evaluated, by a fault of the interpreter"
    };
    JqError::Limit(cause.to_owned())
}

fn print(output: &SharedOutput, line: &[u8]) -> Result<(), JqError> {
    let mut output = output.lock();
    let room = MAX_OUTPUT - output.len();
    output.extend_from_slice(&line[..line.len().min(room)]);
    if line.len() > room {
        return Err(JqError::OutputTooLarge);
    }
    Ok(())
}
