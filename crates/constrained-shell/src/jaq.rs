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

mod documents;
mod natives;
mod program;
mod results;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::ended::MAX_OUTPUT;
use crate::jq::{Filtered, Jq, JqError};

use watch::{TooDeep, Watch};

/// Bytes of the thread's stack. Half of them are for jaq's own recursion between two steps.
const STACK: usize = 64 << 20;

/// Results that wait to be collected.
const WAITING: usize = 64;

/// Between two looks at the time while there is no result.
const LOOK: Duration = Duration::from_millis(2);

/// Evaluates filters in this process.
#[derive(Debug)]
pub struct Jaq(());

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
        let filter = filter.to_owned();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (sender, results) = sync_channel(WAITING);
        let watched = is_stopped.clone();
        let thread = thread::Builder::new().name("jq".to_owned()).stack_size(STACK);
        let thread = thread.spawn(move || {
            let watch = Watch::new(watched, STACK / 2);
            program::run(&filter, &documents, &watch, |result| send(&sender, result))
        });
        match thread {
            Ok(thread) => {
                let filtered = collect(&results, thread, is_over);
                is_stopped.store(true, Ordering::Relaxed);
                filtered
            }
            Err(cause) => Filtered {
                output: Vec::new(),
                error: Some(JqError::Limit(format!("no thread for the filter: {cause}"))),
            },
        }
    }
}

fn send(sender: &SyncSender<Vec<u8>>, result: Vec<u8>) -> Result<(), JqError> {
    sender.send(result).map_err(|_| JqError::TimeIsOver)
}

fn collect(
    results: &Receiver<Vec<u8>>,
    thread: JoinHandle<Result<(), JqError>>,
    is_over: &dyn Fn() -> bool,
) -> Filtered {
    let mut output = Vec::new();
    let error = loop {
        match results.recv_timeout(LOOK) {
            Ok(result) => output.extend(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break end_of(thread).err(),
        }
        if output.len() > MAX_OUTPUT {
            output.truncate(MAX_OUTPUT);
            break Some(JqError::OutputTooLarge);
        }
        if is_over() {
            break Some(JqError::TimeIsOver);
        }
    };
    Filtered { output, error }
}

/// The thread has dropped its sender, so it is at its end.
fn end_of(thread: JoinHandle<Result<(), JqError>>) -> Result<(), JqError> {
    thread.join().unwrap_or_else(|unwound| {
        let cause = match unwound.downcast_ref::<TooDeep>() {
            Some(_) => "the filter calls itself too deep",
            None => "the filter could not be evaluated, by a fault of the interpreter",
        };
        Err(JqError::Limit(cause.to_owned()))
    })
}
