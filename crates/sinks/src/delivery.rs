//! The loop of one sink: takes the lease, reads a page, sends the page, stores the position.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::sinks::{Payloads, SinkBacklog, SinkHolder, SinkPage, SinkSelection};
use store::{Sinks, Trouble};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::Sender;
use crate::config::SinkConfig;
use crate::counts::SinkCounts;
use crate::error::SendError;
use crate::fields::kind;
use crate::losses::Losses;
use crate::target::Outlet;

/// Time until another process takes over from a process that ended or hangs. Exceeds the deadline of a batch.
const LEASE: Duration = Duration::from_secs(15);

/// Interval of renewals.
const RENEW_EVERY: Duration = Duration::from_secs(4);

/// Interval of polls for new records.
const POLL: Duration = Duration::from_millis(500);

/// Interval of polls for runs that dead processes left open.
const CLOSE_EVERY: Duration = Duration::from_secs(30);

/// Shortest and longest wait after a failure.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Maximum records in a batch.
const BATCH: i64 = 200;

/// Attempts to send a refused record before the sink skips the record.
const ATTEMPTS: u32 = 3;

/// Deadline of the last records when the process ends.
const ENDING: Duration = Duration::from_secs(2);

/// Sends the records of one sink. The position is in the database, so any process can continue.
#[derive(Debug)]
pub struct Delivery {
    store: Sinks,
    config: SinkConfig,
    holder: SinkHolder,
    outlet: Outlet,
    counts: Arc<SinkCounts>,
    leased: Option<Instant>,
    closed_interrupted: Option<Instant>,
    /// Maximum records in the next batch. A refusal halves the batch, to find the refused record.
    batch: i64,
    /// Number of refusals of a batch's single record.
    refusals: u32,
    wait: Duration,
    /// The last reported failure; `None` after a success.
    failing: Option<String>,
    removed: Losses,
    skipped: Losses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundEnd {
    /// Unsent records remain.
    More,
    Done,
}

/// Why a round stopped.
#[derive(Debug, thiserror::Error)]
enum RoundError {
    #[error("{0}")]
    Store(#[from] Trouble),
    #[error("{why}")]
    Unavailable {
        why: String,
        retry_after: Option<Duration>,
    },
    /// The collector refused a batch; the next batch is smaller.
    #[error("a batch was refused")]
    Halved,
}

// === impl Delivery ===

impl Delivery {
    /// Prepares a sink; sends nothing yet.
    pub fn new(store: Sinks, config: SinkConfig, sender: Sender) -> Delivery {
        Delivery {
            store,
            holder: SinkHolder {
                sink: config.name.clone(),
                process: sender.id.clone(),
            },
            outlet: Outlet::new(&config.target, sender),
            config,
            counts: Arc::default(),
            leased: None,
            closed_interrupted: None,
            batch: BATCH,
            refusals: 0,
            wait: BACKOFF.0,
            failing: None,
            removed: Losses::default(),
            skipped: Losses::default(),
        }
    }

    /// The sink's counters.
    pub fn counts(&self) -> Arc<SinkCounts> {
        Arc::clone(&self.counts)
    }

    /// Stores a new sink in the database, so that the sink receives every record from now on.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn prepare(&mut self) -> Result<(), Trouble> {
        self.holds().await.map(drop)
    }

    /// Sends until `ended` is triggered, then sends the remaining records within two seconds.
    pub async fn run(mut self, ended: CancellationToken) {
        while !ended.is_cancelled() {
            let wait = self.step().await;
            ended.run_until_cancelled(sleep(wait)).await;
        }
        // Records that remain are sent after the next start.
        let _ = timeout(ENDING, async {
            while let Ok(RoundEnd::More) = self.round().await {}
        })
        .await;
        // If this fails, the lease expires.
        let _ = self.store.release(&self.holder).await;
    }

    /// Runs one round. Returns the delay before the next round.
    async fn step(&mut self) -> Duration {
        match self.round().await {
            Ok(progress) => {
                self.recovered();
                match progress {
                    RoundEnd::More => Duration::ZERO,
                    RoundEnd::Done => POLL,
                }
            }
            Err(error) => self.failed(&error),
        }
    }

    /// Sends a batch of each source, if this process has the lease.
    async fn round(&mut self) -> Result<RoundEnd, RoundError> {
        if !self.holds().await? {
            self.counts.set_waiting(0);
            return Ok(RoundEnd::Done);
        }
        self.close_interrupted().await;
        let backlogs = self.store.backlog(&self.config.name).await?;
        let waiting: i64 = backlogs.iter().map(SinkBacklog::len).sum();
        self.counts.set_waiting(waiting);
        let mut sent = 0;
        for backlog in backlogs {
            if !self.holds().await? {
                return Ok(RoundEnd::Done);
            }
            sent += self.send(backlog).await?;
            self.counts.set_waiting(waiting - sent);
        }
        Ok(match waiting > sent {
            true => RoundEnd::More,
            false => RoundEnd::Done,
        })
    }

    /// Whether this process holds the sink's lease. Takes or renews the lease when due.
    async fn holds(&mut self) -> Result<bool, Trouble> {
        if self.leased.is_some_and(|at| at.elapsed() < RENEW_EVERY) {
            return Ok(true);
        }
        let begun = Instant::now();
        self.leased = None;
        if self.store.lease(&self.holder, LEASE).await? {
            self.leased = Some(begun);
        }
        Ok(self.leased.is_some())
    }

    /// Closes runs of dead processes, so that they become records. A failure or time-out does not stop the sink.
    async fn close_interrupted(&mut self) {
        if self
            .closed_interrupted
            .is_none_or(|at| at.elapsed() >= CLOSE_EVERY)
        {
            if let Err(trouble) = self.store.close_interrupted().await {
                tracing::warn!(%trouble, "interrupted runs were not closed");
            }
            self.closed_interrupted = Some(Instant::now());
        }
    }

    /// Sends the next batch of a source. Returns the number of records by which the position advanced.
    async fn send(&mut self, backlog: SinkBacklog) -> Result<i64, RoundError> {
        let selection = SinkSelection {
            limit: self.batch,
            payloads: match self.config.payloads {
                true => Payloads::Included,
                false => Payloads::Omitted,
            },
        };
        let mut page = self.store.page(backlog, selection).await?;
        let records = &mut page.records;
        records.retain(|record| self.config.records.contains(&kind(record)));
        let wanted = records.len() as u64;
        let refused = match records.is_empty() {
            true => 0,
            false => match self.outlet.send(records).await {
                Ok(refused) => refused.min(wanted),
                Err(SendError::Refused(why)) => self.skips(why)?,
                Err(SendError::Unavailable { why, retry_after }) => {
                    return Err(RoundError::Unavailable { why, retry_after });
                }
            },
        };
        self.batch = (self.batch * 2).min(BATCH);
        self.refusals = 0;
        if !self.store.sent(&self.holder, &page).await? {
            // Another process holds the lease and sends this page again.
            self.leased = None;
            return Ok(0);
        }
        self.note(&page, wanted - refused, refused);
        Ok(page.until - backlog.after)
    }

    /// Decides about a refused batch: halve the batch, retry, or skip the only record.
    fn skips(&mut self, why: String) -> Result<u64, RoundError> {
        if self.batch > 1 {
            self.batch /= 2;
            return Err(RoundError::Halved);
        }
        self.refusals += 1;
        if self.refusals < ATTEMPTS {
            return Err(RoundError::Unavailable {
                why,
                retry_after: None,
            });
        }
        Ok(1)
    }

    /// Counts the records of a page.
    fn note(&mut self, page: &SinkPage, sent: u64, refused: u64) {
        self.counts.add_sent(sent);
        self.counts.add_refused(refused);
        self.counts.add_removed(page.removed);
        self.skipped.add(refused);
        self.removed.add(page.removed);
    }

    /// Reports losses, each kind at most once a minute.
    fn report_losses(&mut self) {
        let name = &self.config.name;
        if let Some(records) = self.removed.due() {
            tracing::warn!(
                "sink \"{name}\": {records} records were removed before they could be sent; raise `keep_for` or \
                 `keep_size` in [records]"
            );
        }
        if let Some(records) = self.skipped.due() {
            tracing::warn!("sink \"{name}\": the collector refused {records} records, which were skipped");
        }
    }

    fn recovered(&mut self) {
        self.wait = BACKOFF.0;
        self.report_losses();
        if self.failing.take().is_some() {
            tracing::warn!("sink \"{}\": records are sent again", self.config.name);
        }
    }

    /// Reports a failure, unless it repeats the previous failure. Returns the delay before the next attempt.
    fn failed(&mut self, error: &RoundError) -> Duration {
        self.report_losses();
        self.counts.add_failure();
        let retry_after = match error {
            RoundError::Halved => return Duration::ZERO,
            RoundError::Unavailable { retry_after, .. } => *retry_after,
            RoundError::Store(_) => None,
        };
        let why = error.to_string();
        if self.failing.as_ref() != Some(&why) {
            let (name, target) = (&self.config.name, &self.config.target);
            tracing::warn!("sink \"{name}\": records wait in the database, because {target} fails: {why}");
            self.failing = Some(why);
        }
        let wait = self.wait.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.wait = (self.wait * 2).min(BACKOFF.1);
        wait.max(retry_after.unwrap_or_default())
    }
}
