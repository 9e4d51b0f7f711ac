//! Counts during a run the tokens that a model would spend if it made the tool calls itself.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use accounting::{AnswerTokens, CountedCall, DirectCalls, TokenTableError, Tokenizer};
use broker::{CallEnd, CallObserver, ObservedCall};
use sandbox::BoxFuture;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use types::ToolRef;

use crate::counter::TokenCounter;

/// KiB of a run's texts that may wait to be counted; enough for the longest answer of a server.
const ROOM: u32 = 16 * 1024;
/// Bytes of texts counted for one run, some seconds of one core. Texts above the budget are not counted.
const BUDGET: usize = 24 * 1024 * 1024;
/// Longest wait of a text for room; after that the text is not counted.
const PATIENCE: Duration = Duration::from_secs(5);
/// Calls of one run that are active or wait to be counted; above the limit of concurrent calls.
const MAX_CALLS: usize = 4096;
/// Bytes kept of a name; above the limit for listed names, because a program can invent names.
const MAX_NAME: usize = 256;

/// Counts one run's calls until dropped.
#[derive(Debug)]
pub(crate) struct CallMeter {
    queue: mpsc::Sender<CountJob>,
    room: TextRoom,
}

/// Memory bound of a run's uncounted texts, with the byte budget of all texts. Cheap to clone.
#[derive(Debug, Clone)]
struct TextRoom {
    free_kib: Arc<Semaphore>,
    /// Bytes left of the budget.
    budget: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum CountJob {
    Arguments(ArgumentText),
    Call(EndedCall),
    Total(oneshot::Sender<Result<DirectCalls, TokenTableError>>),
}

/// Arguments are counted before the call ends, so that open calls take no room.
#[derive(Debug)]
struct ArgumentText {
    text: String,
    tokens: ArgumentTokens,
    /// Room released once the arguments are counted.
    _room: OwnedSemaphorePermit,
}

/// Set once the arguments are counted. Their job is queued before the job of the call.
type ArgumentTokens = Arc<OnceLock<u64>>;

#[derive(Debug)]
struct EndedCall {
    tool: ToolRef,
    arguments: ArgumentTokens,
    failed: bool,
    answer: AnswerText,
}

#[derive(Debug)]
enum AnswerText {
    /// The run ended before the call did.
    GivenUp,
    /// No room was free in time.
    NoRoom,
    Text {
        text: String,
        count: CountAnswer,
        /// Room released once the answer is counted.
        _room: OwnedSemaphorePermit,
    },
}

/// Counts a `CallToolResult`, or the message of a call that was not answered.
type CountAnswer = fn(&Tokenizer, &str) -> AnswerTokens;

#[derive(Debug)]
struct MeteredCall {
    room: TextRoom,
    /// Its slot in the queue; `None` if the call is not counted.
    slot: Option<mpsc::OwnedPermit<CountJob>>,
    arguments: ArgumentTokens,
}

// === impl CallMeter ===

impl CallMeter {
    /// Starts the counting task; needs a runtime.
    pub(crate) fn new(counter: Arc<TokenCounter>) -> CallMeter {
        let (queue, jobs) = mpsc::channel(MAX_CALLS);
        tokio::spawn(count_all(counter, jobs));
        CallMeter {
            queue,
            room: TextRoom {
                free_kib: Arc::new(Semaphore::new(ROOM as usize)),
                budget: Arc::new(AtomicUsize::new(BUDGET)),
            },
        }
    }

    /// Sums over all ended calls, once counted.
    ///
    /// # Errors
    /// If tokens cannot be counted at all.
    pub(crate) async fn total(&self) -> Result<DirectCalls, TokenTableError> {
        let (sender, total) = oneshot::channel();
        // The counting task lives as long as this meter, so an answer will follow.
        let _ = self.queue.send(CountJob::Total(sender)).await;
        total.await.unwrap_or_else(|_| Ok(DirectCalls::default()))
    }

    /// Waits while the queue is full.
    async fn meter(&self, arguments: &Value) -> MeteredCall {
        MeteredCall {
            room: self.room.clone(),
            arguments: self.count_arguments(arguments).await,
            // The counting task lives as long as this meter, so a slot becomes free.
            slot: self.queue.clone().reserve_owned().await.ok(),
        }
    }

    /// Queues the arguments if there is room.
    async fn count_arguments(&self, arguments: &Value) -> ArgumentTokens {
        let tokens = ArgumentTokens::default();
        // Reserve the slot first: a text that holds room must not wait for anything else.
        if let Ok(slot) = self.queue.reserve().await
            && let Some(room) = self.room.take(json_length(arguments)).await
        {
            slot.send(CountJob::Arguments(ArgumentText {
                text: arguments.to_string(),
                tokens: tokens.clone(),
                _room: room,
            }));
        }
        tokens
    }
}

impl CallObserver for CallMeter {
    fn begin<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Box<dyn ObservedCall>> {
        Box::pin(async { Box::new(self.meter(arguments).await) as Box<dyn ObservedCall> })
    }
}

// === impl MeteredCall ===

impl MeteredCall {
    /// Copies the answer if there is room, and queues the call.
    async fn finish(self, tool: &ToolRef, end: CallEnd<'_>) {
        let (text, failed, count): (_, _, CountAnswer) = match end {
            CallEnd::Answered(result) => (Some(result.get()), false, AnswerTokens::of_result),
            CallEnd::ToolError(result) => (Some(result.get()), true, AnswerTokens::of_result),
            CallEnd::Failed(message) => (Some(message), true, AnswerTokens::of_text),
            CallEnd::Cancelled => (None, true, AnswerTokens::of_text),
            CallEnd::ToolFile => return,
        };
        let answer = match text {
            None => AnswerText::GivenUp,
            Some(text) => match self.room.take(text.len()).await {
                None => AnswerText::NoRoom,
                Some(room) => AnswerText::Text {
                    text: text.to_owned(),
                    count,
                    _room: room,
                },
            },
        };
        let Some(slot) = self.slot else { return };
        drop(slot.send(CountJob::Call(EndedCall {
            tool: with_bounded_names(tool),
            arguments: self.arguments,
            failed,
            answer,
        })));
    }
}

impl ObservedCall for MeteredCall {
    fn end<'a>(self: Box<Self>, tool: &'a ToolRef, end: CallEnd<'a>) -> BoxFuture<'a, ()> {
        Box::pin(self.finish(tool, end))
    }
}

// === impl TextRoom ===

impl TextRoom {
    /// Reserves room for a text, if the budget allows and room becomes free in time.
    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024)).ok()?.max(1);
        if kib > ROOM || !self.spend(bytes) {
            return None;
        }
        let taken = timeout(PATIENCE, self.free_kib.clone().acquire_many_owned(kib));
        taken.await.ok()?.ok()
    }

    fn spend(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// Bytes as JSON, counted without a buffer.
fn json_length(value: &Value) -> usize {
    struct Length(usize);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    // This writer never fails.
    let _ = serde_json::to_writer(&mut length, value);
    length.0
}

fn with_bounded_names(tool: &ToolRef) -> ToolRef {
    let cut = |name: &str| name[..name.floor_char_boundary(MAX_NAME)].to_owned();
    ToolRef::new(cut(&tool.server), cut(&tool.tool))
}

/// Counts jobs until the meter is dropped.
async fn count_all(counter: Arc<TokenCounter>, mut jobs: mpsc::Receiver<CountJob>) {
    let mut sums = Ok(DirectCalls::default());
    while let Some(job) = jobs.recv().await {
        if jobs.sender_strong_count() == 0 {
            // The receiver dropped: the answer was sent without the sums.
            break;
        }
        if let CountJob::Total(sender) = job {
            let _ = sender.send(sums.clone());
            continue;
        }
        let counter = counter.clone();
        let counted =
            tokio::task::spawn_blocking(move || Ok::<_, TokenTableError>(job.count(counter.tokenizer()?)));
        match (&mut sums, counted.await) {
            (Ok(sums), Ok(Ok(Some(call)))) => sums.add(call),
            (_, Ok(Err(unloadable))) => sums = Err(unloadable),
            // Arguments are added with their call. An unfinished task means that the runtime is shutting down.
            (_, Ok(Ok(None)) | Err(_)) | (Err(_), _) => {}
        }
    }
}

// === impl CountJob ===

impl CountJob {
    /// Counts the job's text; a call is returned with its counts.
    fn count(self, tokenizer: &Tokenizer) -> Option<CountedCall> {
        match self {
            CountJob::Arguments(arguments) => {
                // Only this job sets it.
                let _ = arguments.tokens.set(tokenizer.text(&arguments.text));
                None
            }
            CountJob::Call(call) => Some(CountedCall {
                tool: call.tool,
                failed: call.failed,
                arguments: call.arguments.get().copied(),
                answer: call.answer.count(tokenizer),
            }),
            CountJob::Total(_) => None,
        }
    }
}

// === impl AnswerText ===

impl AnswerText {
    fn count(&self, tokenizer: &Tokenizer) -> Option<AnswerTokens> {
        match self {
            AnswerText::GivenUp => Some(AnswerTokens::default()),
            AnswerText::NoRoom => None,
            AnswerText::Text { text, count, .. } => Some(count(tokenizer, text)),
        }
    }
}
