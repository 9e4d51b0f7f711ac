//! Evaluates filters with the crates of `jaq`, on a thread of its own that can be given up.
//!
//! What is bounded, and what is not, was tried with jaq 3.1.2:
//! - Time: jaq has no limit and calls nobody while it runs, but it clones its context at every step. [`Watch`] looks at
//!   the run's time there, and unwinds the thread. Its own `range` and the results are watched, too. A single call of
//!   a built-in filter, as on a number of a million digits, is not interrupted: the thread is left behind.
//! - Depth: filters that call themselves too deep are stopped at the same place, by how much of the stack is used.
//!   Documents and results have a greatest depth. But jaq frees values, paths and closures by recursion: a value that
//!   a filter nests some hundred thousand levels deep overflows the stack, and that ends the process.
//! - Memory: unbounded. `"x" * 1e9` or `[., .]` forty times over take what there is.

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

/// Bytes of the thread's stack. Half of them are for jaq's own recursion between two steps.
const STACK: usize = 64 << 20;

/// Between two looks at the time.
const LOOK: Duration = Duration::from_millis(2);

/// Evaluates filters in this process.
#[derive(Debug)]
pub struct Jaq(());

/// What a filter has printed so far. The thread may be left behind, so both sides hold it.
type SharedOutput = Arc<Mutex<Vec<u8>>>;

/// A thread that evaluates a filter.
struct Evaluation {
    thread: JoinHandle<Result<(), JqError>>,
    /// Disconnected when the thread ends, in whichever way.
    end: Receiver<()>,
    output: SharedOutput,
    is_stopped: Arc<AtomicBool>,
}

// === impl Jaq ===

impl Jaq {
    /// To be used only where the operating system bounds the memory, and where the process may end at any filter: see
    /// the head of the module.
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
