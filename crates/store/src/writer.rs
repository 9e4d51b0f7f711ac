//! The writer task: writes one transaction after another, and removes old records in between.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::backoff::Backoff;
use crate::clock::now_ms;
use crate::connection::{Connection, Purpose};
use crate::lease::{self, Registration};
use crate::partitions::Days;
use crate::queue::Batch;
use crate::records::SharedRecords;
use crate::rows::{Event, Row};
use crate::trouble::Trouble;
use crate::{insert, prune};

/// Pause between attempts to use a failed database.
const RETRY: Duration = Duration::from_secs(2);
/// Rows wait this long for another process's lock before the rows are dropped.
const LOCKED: Duration = Duration::from_secs(10);
/// Rows wait this long for an unreachable server, if no task waits for the rows.
const UNREACHABLE: Duration = Duration::from_secs(30);
/// Rows wait this long for an unreachable server, if a task waits for the rows.
const UNREACHABLE_IN_A_HURRY: Duration = Duration::from_secs(2);
/// Rows wait this long for a lock or a server when codeyard ends.
const AT_THE_END: Duration = Duration::from_secs(5);
/// Longest time for one batch on a server.
const ANSWER: Duration = Duration::from_secs(10);
const PRUNE_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgency {
    /// Retry no earlier than [`RETRY`] after the failure.
    Retry,
    /// Retry at once: rows wait for an error that may pass, or codeyard ends.
    Now,
}

pub(crate) struct Writer {
    shared: Arc<SharedRecords>,
    book: Option<Book>,
    /// Registration of this process in the database, from the first opening; reopening keeps it.
    registration: Option<Registration>,
    /// Number of the batch being written.
    batch: i64,
    failing: Option<Failing>,
    told_of_clock: bool,
}

struct Book {
    connection: Connection,
    registration: Registration,
    days: Days,
    pruned: Option<Instant>,
}

/// A failure of the database: its error, its start and the number of lost rows.
struct Failing {
    trouble: Trouble,
    tried: Instant,
    is_told: bool,
    lost: usize,
}

// === impl Writer ===

impl Writer {
    pub(crate) fn new(shared: Arc<SharedRecords>) -> Writer {
        Writer {
            shared,
            book: None,
            registration: None,
            batch: 0,
            failing: None,
            told_of_clock: false,
        }
    }

    /// Writes until the queue is closed and empty.
    pub(crate) async fn run(mut self) {
        // Open the database early, so that the first rows need not wait.
        let _ = self.ready(Urgency::Retry).await;
        loop {
            let Ok(mut batch) = timeout(lease::RENEW_EVERY, self.shared.queue.next()).await else {
                self.renew().await;
                continue;
            };
            let is_last = batch.is_last;
            if !batch.is_empty() {
                // Count without the rows that the writer adds.
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
        if let Some(mut book) = self.book.take() {
            // The process is ending and its rows are written, so a failure is not reported.
            let _ = lease::farewell(&mut book.connection, book.registration.process).await;
            book.connection.close().await;
        }
    }

    /// Writes the batch; waits if another writer holds the database. Rows that arrive meanwhile stay in the queue.
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
        self.batch += 1;
        let mut urgency = match batch.is_last {
            true => Urgency::Now,
            false => Urgency::Retry,
        };
        let mut backoff = Backoff::default();
        loop {
            let Err(trouble) = self.write(batch, urgency).await else {
                return Ok(());
            };
            if !trouble.is_passing() || start.elapsed() >= self.patience(&trouble, batch) {
                self.tell();
                return Err(trouble);
            }
            // SQLite has already waited for a locked file.
            if trouble.is_unreachable() {
                backoff.wait().await;
            }
            urgency = Urgency::Now;
        }
    }

    /// How long rows wait for an error that may pass.
    fn patience(&self, trouble: &Trouble, batch: &Batch) -> Duration {
        let queue = &self.shared.queue;
        if queue.is_closed() {
            return AT_THE_END;
        }
        if !trouble.is_unreachable() {
            return LOCKED;
        }
        if self.failing.as_ref().is_some_and(|failing| failing.is_told) {
            return Duration::ZERO;
        }
        match batch.tellers.is_empty() && !queue.is_hurried() {
            true => UNREACHABLE,
            false => UNREACHABLE_IN_A_HURRY,
        }
    }

    async fn write(&mut self, batch: &Batch, urgency: Urgency) -> Result<(), Trouble> {
        self.ready(urgency).await?;
        let Some(book) = &mut self.book else { return Ok(()) };
        match book.write(self.batch, &batch.rows).await {
            Ok(()) => {
                if let Some(Failing {
                    lost, is_told: true, ..
                }) = self.failing.take()
                {
                    tracing::warn!(lost, "records are written again");
                }
                Ok(())
            }
            Err(error) => {
                let trouble = Trouble::of(&self.shared.config.database, &error);
                self.fail(trouble.clone());
                Err(trouble)
            }
        }
    }

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
        match Book::open(&self.shared, self.registration).await {
            Ok(book) => {
                self.registration = Some(book.registration);
                self.book = Some(book);
                Ok(())
            }
            Err(trouble) => {
                self.fail(trouble.clone());
                Err(trouble)
            }
        }
    }

    /// Stops using the database for now. An unreachable server is reported only when rows are dropped, because it may
    /// only be restarting.
    fn fail(&mut self, trouble: Trouble) {
        let is_told_later = trouble.is_unreachable();
        self.book = None;
        let before = self.failing.take();
        self.failing = Some(Failing {
            is_told: before
                .as_ref()
                .is_some_and(|before| before.is_told && before.trouble.kind == trouble.kind),
            trouble,
            tried: Instant::now(),
            lost: before.map_or(0, |before| before.lost),
        });
        if !is_told_later {
            self.tell();
        }
    }

    fn tell(&mut self) {
        let Some(failing) = &mut self.failing else { return };
        if std::mem::replace(&mut failing.is_told, true) {
            return;
        }
        let trouble = &failing.trouble;
        if self.shared.config.recording.is_required() {
            tracing::error!("no program is run: {trouble}");
        } else {
            tracing::warn!("programs run without being recorded: {trouble}");
        }
    }

    /// Renews the lease while no rows are written.
    async fn renew(&mut self) {
        let Some(book) = &mut self.book else { return };
        match timeout(ANSWER, lease::renewed(&mut book.connection, book.registration)).await {
            Ok(Ok(Some(_))) => {}
            // Another process marked this process as dead; register again.
            Ok(Ok(None)) => self.book = None,
            Ok(Err(error)) => match Trouble::of(&self.shared.config.database, &error) {
                // No row is queued, so no row can be lost.
                trouble if trouble.is_passing() => self.book = None,
                trouble => self.fail(trouble),
            },
            Err(_) => self.book = None,
        }
    }

    fn lose(&mut self, rows: usize) {
        if let Some(failing) = &mut self.failing {
            failing.lost += rows;
        }
    }

    /// If times are out of order, reports it once and records it.
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
                "this machine's clock is {seconds} s behind the newest record; records are out of order; correct the clock"
            );
            batch.rows.push(Row::Event(Event {
                run: None,
                at_ms,
                kind: "clock_went_back",
                detail: format!("{seconds} s"),
            }));
        }
    }

    /// Removes records beyond the limits, a few at a time.
    async fn prune(&mut self) {
        let config = &self.shared.config;
        let Some(book) = &mut self.book else { return };
        if book.pruned.is_some_and(|pruned| pruned.elapsed() < PRUNE_EVERY) {
            return;
        }
        // Write queued rows first.
        while !self.shared.queue.has_rows() {
            match prune::step(&mut book.connection, config.keep_for, config.keep_size).await {
                Ok(prune::Left::More) => continue,
                Ok(prune::Left::Nothing) => {}
                Err(error) => {
                    let trouble = Trouble::of(&config.database, &error);
                    if !trouble.is_passing() {
                        tracing::warn!("old records could not be removed: {trouble}");
                    }
                    // The connection's state is unknown.
                    self.book = None;
                    break;
                }
            }
            book.pruned = Some(Instant::now());
            break;
        }
    }
}

impl Drop for Writer {
    /// Releases every waiting task, however the writer ends.
    fn drop(&mut self) {
        self.shared.queue.give_up();
    }
}

// === impl Book ===

impl Book {
    async fn open(shared: &SharedRecords, before: Option<Registration>) -> Result<Book, Trouble> {
        let config = &shared.config;
        let purpose = if config.recording.is_required() {
            Purpose::WriteDurably
        } else {
            Purpose::Write
        };
        let mut connection = Connection::open(&config.database, purpose).await?;
        let entered = async {
            lease::close_interrupted(&mut connection).await?;
            let newest = prune::newest(&mut connection).await?;
            let registration = lease::register(&mut connection, before).await?;
            Ok::<_, sqlx::Error>((newest, registration))
        };
        let (newest, registration) = entered
            .await
            .map_err(|error| Trouble::of(&config.database, &error))?;
        if let Some(newest) = newest {
            shared.clock.saw(newest);
        }
        Ok(Book {
            connection,
            registration,
            days: Days::default(),
            pruned: None,
        })
    }

    /// Writes the rows as this batch of the process. If an earlier commit got no answer, the batch may already exist.
    async fn write(&mut self, batch: i64, rows: &[Row]) -> Result<(), sqlx::Error> {
        if self.registration.batch >= batch {
            return Ok(());
        }
        let work = async {
            self.days.prepare(&mut self.connection, rows).await?;
            insert::batch(&mut self.connection, self.registration.process, batch, rows).await
        };
        timeout(ANSWER, work).await.unwrap_or_else(|_| {
            let silence =
                std::io::Error::new(std::io::ErrorKind::TimedOut, "no answer to a batch of records");
            Err(sqlx::Error::Io(silence))
        })?;
        self.registration.batch = batch;
        Ok(())
    }
}
