//! The task that writes: one transaction after another, the removal of what is old in between.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::{Connection as _, SqliteConnection};

use crate::clock::now_ms;
use crate::database::{self, Purpose};
use crate::queue::Batch;
use crate::records::SharedRecords;
use crate::rows::{Event, Row};
use crate::trouble::Trouble;
use crate::{insert, prune};

/// Between two attempts to use a database that could not be used.
const RETRY: Duration = Duration::from_secs(2);
/// How long rows wait for a database that somebody else is writing to, before they are given up.
const LOCKED: Duration = Duration::from_secs(10);
/// The same when codeyard ends.
const LOCKED_AT_THE_END: Duration = Duration::from_secs(5);
/// Between two looks for records that are too old or too many.
const PRUNE_EVERY: Duration = Duration::from_secs(10);

/// Whether the database is tried again at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgency {
    /// Not before [`RETRY`] has passed since it failed.
    Retry,
    /// At once: codeyard ends.
    LastChance,
}

/// Writes what the queue holds.
pub(crate) struct Writer {
    shared: Arc<SharedRecords>,
    book: Option<Book>,
    /// This process's number in the database, once it was open; it keeps it when the database is opened again.
    process: Option<i64>,
    failing: Option<Failing>,
    told_of_clock: bool,
}

/// The open database.
struct Book {
    connection: SqliteConnection,
    /// This process's number in it.
    process: i64,
    pruned: Option<Instant>,
}

/// Why nothing can be written, since when, and how much was lost.
struct Failing {
    trouble: Trouble,
    tried: Instant,
    lost: usize,
}

// === impl Writer ===

impl Writer {
    pub(crate) fn new(shared: Arc<SharedRecords>) -> Writer {
        Writer {
            shared,
            book: None,
            process: None,
            failing: None,
            told_of_clock: false,
        }
    }

    /// Writes until the queue is closed and empty.
    pub(crate) async fn run(mut self) {
        // Early, so that the first rows find it open.
        let _ = self.ready(Urgency::Retry).await;
        loop {
            let mut batch = self.shared.queue.next().await;
            let is_last = batch.is_last;
            if !batch.is_empty() {
                // Without those that the writer adds.
                let rows = batch.rows.len();
                self.look_at_clock(&mut batch);
                let written = self.write_patiently(&mut batch).await;
                if written.is_err() {
                    self.lose(rows);
                }
                batch.tell(&written);
            }
            if is_last {
                break;
            }
            self.prune().await;
        }
        if let Some(Book {
            mut connection,
            process,
            ..
        }) = self.book.take()
        {
            // Nobody is left to tell: the process is ending, and its rows are written.
            let _ = insert::farewell(&mut connection, process).await;
            let _ = connection.close().await;
        }
    }

    /// Writes, and waits its turn: many codeyards may write to one database. What comes meanwhile stays in the queue.
    async fn write_patiently(&mut self, batch: &mut Batch) -> Result<(), Trouble> {
        let start = Instant::now();
        let lost = self.failing.as_ref().map_or(0, |failing| failing.lost);
        if lost > 0 {
            batch.rows.push(Row::Event(Event {
                run: None,
                at_ms: now_ms(),
                kind: "records_lost",
                detail: lost.to_string(),
            }));
        }
        let mut is_closing = batch.is_last;
        loop {
            let urgency = if is_closing {
                Urgency::LastChance
            } else {
                Urgency::Retry
            };
            let written = self.write(batch, urgency).await;
            is_closing = self.shared.queue.is_closed();
            let patience = if is_closing { LOCKED_AT_THE_END } else { LOCKED };
            match written {
                Err(trouble) if trouble.is_locked() && start.elapsed() < patience => {}
                written => return written,
            }
        }
    }

    async fn write(&mut self, batch: &Batch, urgency: Urgency) -> Result<(), Trouble> {
        self.ready(urgency).await?;
        let Some(book) = &mut self.book else { return Ok(()) };
        match insert::batch(&mut book.connection, book.process, &batch.rows).await {
            Ok(()) => {
                if let Some(Failing { lost, .. }) = self.failing.take() {
                    tracing::warn!(lost, "records are written again");
                }
                Ok(())
            }
            Err(error) => {
                let trouble = Trouble::of(&self.shared.config.file, &error);
                self.fail(trouble.clone()).await;
                Err(trouble)
            }
        }
    }

    /// Opens the database if it is not.
    async fn ready(&mut self, urgency: Urgency) -> Result<(), Trouble> {
        if self.book.is_some() {
            return Ok(());
        }
        if let Some(failing) = &self.failing
            && failing.tried.elapsed() < RETRY
            && !failing.trouble.is_locked()
            && urgency == Urgency::Retry
        {
            return Err(failing.trouble.clone());
        }
        match Book::open(&self.shared, self.process).await {
            Ok(book) => {
                self.process = Some(book.process);
                self.book = Some(book);
                Ok(())
            }
            Err(trouble) => {
                self.fail(trouble.clone()).await;
                Err(trouble)
            }
        }
    }

    /// Gives the database up for now and says so once.
    async fn fail(&mut self, trouble: Trouble) {
        if let Some(book) = self.book.take() {
            // It could not be written; that it cannot be closed says no more.
            let _ = book.connection.close().await;
        }
        let before = self.failing.take();
        if before.as_ref().is_none_or(|before| before.trouble != trouble) {
            if self.shared.config.recording.is_required() {
                tracing::error!("no program is run: {trouble}");
            } else {
                tracing::warn!("programs run without being recorded: {trouble}");
            }
        }
        self.failing = Some(Failing {
            trouble,
            tried: Instant::now(),
            lost: before.map_or(0, |before| before.lost),
        });
    }

    fn lose(&mut self, rows: usize) {
        if let Some(failing) = &mut self.failing {
            failing.lost += rows;
        }
    }

    /// Says once that times are not in order, and records it.
    fn look_at_clock(&mut self, batch: &mut Batch) {
        let (at_ms, behind) = self.shared.clock.now();
        let Some(behind) = behind else {
            self.told_of_clock = false;
            return;
        };
        if !self.told_of_clock {
            self.told_of_clock = true;
            let seconds = behind.as_secs();
            tracing::warn!(
                "this machine's clock is {seconds} s behind the newest record, so the times of records are not in order; set it right"
            );
            batch.rows.push(Row::Event(Event {
                run: None,
                at_ms,
                kind: "clock_went_back",
                detail: format!("{seconds} s"),
            }));
        }
    }

    /// Removes what is too old or too much, a little at a time.
    async fn prune(&mut self) {
        let config = &self.shared.config;
        let Some(book) = &mut self.book else { return };
        if book.pruned.is_some_and(|pruned| pruned.elapsed() < PRUNE_EVERY) {
            return;
        }
        // Whoever waits to be recorded goes first.
        while !self.shared.queue.has_rows() {
            match prune::step(&mut book.connection, config.keep_for, config.keep_size).await {
                Ok(prune::Left::More) => continue,
                Ok(prune::Left::Nothing) => {}
                Err(error) => {
                    let trouble = Trouble::of(&config.file, &error);
                    tracing::warn!("old records could not be removed: {trouble}");
                }
            }
            book.pruned = Some(Instant::now());
            break;
        }
    }
}

impl Drop for Writer {
    /// However it ends, nobody waits for it any longer.
    fn drop(&mut self) {
        self.shared.queue.give_up();
    }
}

// === impl Book ===

impl Book {
    async fn open(shared: &SharedRecords, before: Option<i64>) -> Result<Book, Trouble> {
        let config = &shared.config;
        let purpose = if config.recording.is_required() {
            Purpose::WriteDurably
        } else {
            Purpose::Write
        };
        let mut connection = database::open(&config.file, purpose).await?;
        let entered = async {
            prune::close_interrupted(&mut connection).await?;
            let newest = prune::newest(&mut connection).await?;
            let process = insert::process(&mut connection, before).await?;
            Ok::<_, sqlx::Error>((newest, process))
        };
        let (newest, process) = entered.await.map_err(|error| Trouble::of(&config.file, &error))?;
        if let Some(newest) = newest {
            shared.clock.saw(newest);
        }
        Ok(Book {
            connection,
            process,
            pruned: None,
        })
    }
}
