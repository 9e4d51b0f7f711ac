//! The entry point of recording: passes rows to the writer, which starts with the first row.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use accounting::RecordedReceipt;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use types::{RunId, ToolRef};

use crate::arguments::Arguments;
use crate::clock::Clock;
use crate::config::RecordsConfig;
use crate::queue::{MOST, Queue, RecordsQueue};
use crate::record::RunRecord;
use crate::rows::{
    Attempt, Call, CallMade, Change, Code, DRIFT, Event, FILE_DENIED, Refused, Row, Run, TASK,
};
use crate::trouble::Trouble;
use crate::writer::Writer;

/// Longest wait of a reader for queued rows.
const SETTLING: Duration = Duration::from_secs(1);

/// Longest time to write the queued rows when the process ends.
const CLOSING: Duration = Duration::from_secs(5);

/// Records runs. Cheap to clone; records nothing without a configuration.
#[derive(Debug, Clone, Default)]
pub struct Records {
    shared: Option<Arc<SharedRecords>>,
}

/// The configuration requires a record, and the record cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`record = \"required\"` is set and {0}")]
pub struct NotRecorded(pub String);

#[derive(Debug)]
pub(crate) struct SharedRecords {
    pub(crate) config: RecordsConfig,
    pub(crate) queue: Queue,
    pub(crate) clock: Clock,
    writer: Mutex<Option<JoinHandle<()>>>,
}

// === impl Records ===

impl Records {
    /// Prepares recording; opens nothing yet.
    pub fn new(config: RecordsConfig) -> Records {
        let shared = SharedRecords {
            config,
            queue: Queue::new(MOST),
            clock: Clock::default(),
            writer: Mutex::default(),
        };
        Records {
            shared: Some(Arc::new(shared)),
        }
    }

    /// A handle that records nothing.
    pub fn off() -> Records {
        Records::default()
    }

    /// Whether anything is recorded.
    pub fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// The rows that wait to be written now.
    pub fn queued(&self) -> RecordsQueue {
        let shared = self.shared.as_ref();
        shared.map_or_else(RecordsQueue::default, |shared| shared.queue.figures())
    }

    /// Opens the database in the background, ahead of the first run.
    pub fn warm(&self) {
        if let Some(shared) = &self.shared {
            shared.start();
        }
    }

    /// Starts the record of an attempt.
    pub fn attempt(&self, attempt: Attempt) -> RunRecord {
        RunRecord::new(self.shared.clone(), attempt)
    }

    /// Records an attempt that was refused before a session accepted it.
    pub async fn refused(&self, attempt: Attempt, why: Refused) -> Result<(), NotRecorded> {
        self.attempt(attempt).refuse(why).await
    }

    /// Reduces a program to the recorded data; `None` if nothing is recorded, because hashing would be in vain.
    pub fn code(&self, text: &str) -> Option<Code> {
        let shared = self.shared.as_ref()?;
        Some(Code::of(text, shared.config.execution))
    }

    /// Reduces a call's arguments to the recorded data; `is_declared` returns whether a name is a parameter of the
    /// tool.
    pub fn arguments(&self, arguments: &Value, is_declared: impl Fn(&str) -> bool) -> Arguments {
        match &self.shared {
            Some(shared) => Arguments::of(arguments, is_declared, shared.config.recording.arguments()),
            None => Arguments::default(),
        }
    }

    /// Waits before a call while the queue is full.
    pub async fn room(&self) {
        if let Some(shared) = &self.shared {
            shared.queue.room().await;
        }
    }

    /// Records one call of a run.
    pub fn call(&self, run: &RunId, made: CallMade) {
        let Some(shared) = &self.shared else { return };
        let (now_ms, _) = shared.clock.now();
        if made.outcome == "denied" {
            shared.event(Some(run), "call_denied", format!("{}.{}", made.server, made.tool));
        }
        shared.push(Row::Call(Box::new(Call {
            run: run.clone(),
            begun_ms: now_ms - i64::try_from(made.duration.as_millis()).unwrap_or_default(),
            made,
        })));
    }

    /// Records a run's cost.
    pub fn receipt(&self, run: &RunId, receipt: RecordedReceipt) {
        if let Some(shared) = &self.shared {
            shared.push(Row::Receipt(run.clone(), Box::new(receipt)));
        }
    }

    /// Whether recordings of runs are kept.
    pub fn keeps_recordings(&self) -> bool {
        let shared = self.shared.as_ref();
        shared.is_some_and(|shared| shared.config.recording.is_replayable())
    }

    /// Keeps the recording of a run: sealed, in base64. While the database is slow, a recording is dropped rather than
    /// that runs wait for it; returns whether it is kept.
    pub fn recording(&self, run: &RunId, sealed: String) -> bool {
        let Some(shared) = &self.shared else { return false };
        let has_room = shared.queue.figures().bytes + sealed.len() <= MOST;
        if has_room {
            shared.push(Row::Recording(run.clone(), sealed));
        }
        has_room
    }

    /// Records that a run saved or removed a tool or memory; never records its content.
    pub fn changed(&self, run: Option<&RunId>, change: Change, name: &str) {
        if let Some(shared) = &self.shared {
            shared.event(run, change.name(), name.to_owned());
        }
    }

    /// Records that a result differs from the declared or observed shape: tool, place and kind,
    /// never a value.
    pub fn drifted(&self, run: &RunId, tool: &ToolRef, kind: &str, path: &str) {
        if let Some(shared) = &self.shared {
            shared.event(Some(run), DRIFT, format!("{tool} {kind} {path}"));
        }
    }

    /// Records a denial on a session's files: of a request, or of files that a run left. `run` is `None` for a request
    /// without a run.
    pub fn file_denied(&self, run: Option<&RunId>, why: &str) {
        if let Some(shared) = &self.shared {
            shared.event(run, FILE_DENIED, why.to_owned());
        }
    }

    /// Records the words of the task that caused the run.
    pub fn described(&self, run: &RunId, task: &str) {
        if let Some(shared) = &self.shared {
            shared.event(Some(run), TASK, task.to_owned());
        }
    }

    /// Waits until the queued rows are written, so that a reader finds them. Waits at most 1 s.
    pub async fn settle(&self) {
        let Some(shared) = &self.shared else { return };
        // After a time-out, the reader finds older rows only.
        let _ = timeout(SETTLING, shared.committed()).await;
    }

    /// Writes the queued rows and ends within a few seconds, even if the disk hangs.
    pub async fn close(&self) {
        let Some(shared) = &self.shared else { return };
        shared.queue.close();
        let writer = shared.writer().take();
        let Some(mut writer) = writer else { return };
        if timeout(CLOSING, &mut writer).await.is_err() {
            tracing::warn!(
                "the last records could not be written within {} s",
                CLOSING.as_secs()
            );
            writer.abort();
        }
    }
}

// === impl SharedRecords ===

impl SharedRecords {
    fn writer(&self) -> std::sync::MutexGuard<'_, Option<JoinHandle<()>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the writer, unless it is running.
    fn start(self: &Arc<Self>) {
        let mut writer = self.writer();
        if writer.is_none()
            && !self.queue.is_closed()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            *writer = Some(runtime.spawn(Writer::new(self.clone()).run()));
        }
    }

    /// Adds a row; drops the row if recording has ended.
    pub(crate) fn push(self: &Arc<Self>, row: Row) {
        if self.queue.push(row) {
            self.start();
        }
    }

    pub(crate) fn event(self: &Arc<Self>, run: Option<&RunId>, kind: &'static str, detail: String) {
        let at_ms = self.clock.now().0;
        self.push(Row::Event(Event {
            run: run.cloned(),
            at_ms,
            kind,
            detail,
        }));
    }

    /// Waits until all pushed rows are committed.
    pub(crate) async fn committed(self: &Arc<Self>) -> Result<(), NotRecorded> {
        self.start();
        let told = self.queue.flush().await;
        told.unwrap_or_else(|_| Err(self.ended()))
            .map_err(|trouble| NotRecorded(trouble.to_string()))
    }

    fn ended(&self) -> Trouble {
        let why = "codeyard is ending";
        Trouble::new(&self.config.database, crate::trouble::TroubleKind::Other, why)
    }

    /// Fails if the clock would record times out of order.
    pub(crate) fn clock_is_right(&self) -> Result<(), NotRecorded> {
        match self.clock.now().1 {
            None => Ok(()),
            Some(behind) => Err(NotRecorded(format!(
                "this machine's clock is {} s behind the newest record; correct the clock",
                behind.as_secs()
            ))),
        }
    }

    /// A run's row, with the current time as the time of the request.
    pub(crate) fn run_now(&self, attempt: Arc<Attempt>, session: Option<String>) -> Run {
        Run {
            attempt,
            session,
            asked_ms: self.clock.now().0,
        }
    }
}
