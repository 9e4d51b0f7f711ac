//! Sends spans from their queue in memory.
//!
//! No run waits for a collector: spans that do not fit are lost, and counted.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use traces::{EndedSpan, SpanCounts, SpanQueue};

use crate::Sender;
use crate::config::OtlpTarget;
use crate::error::SendError;
use crate::otlp::Collector;

/// Most spans in a request.
const BATCH: usize = 512;

/// How long spans are collected before a request.
const GATHER: Duration = Duration::from_millis(200);

/// Longest time for one request.
const SENDING: Duration = Duration::from_secs(5);

/// Shortest and longest wait after a failure.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Longest time for the last spans when the process ends.
const ENDING: Duration = Duration::from_secs(2);

/// Sends the spans of this process to one collector.
#[derive(Debug)]
pub struct SpanDelivery {
    queue: SpanQueue,
    counts: Arc<SpanCounts>,
    place: String,
    collector: Collector,
    /// Spans that were taken from the queue and not sent yet.
    batch: Vec<EndedSpan>,
    wait: Duration,
    /// The failure that was reported last; `None` while all goes well.
    failing: Option<String>,
}

// === impl SpanDelivery ===

impl SpanDelivery {
    /// Prepares; sends nothing yet.
    pub fn new(queue: SpanQueue, target: OtlpTarget, sender: Sender) -> SpanDelivery {
        SpanDelivery {
            counts: queue.counts(),
            queue,
            place: target.url.to_string(),
            collector: Collector::new(target, sender),
            batch: Vec::new(),
            wait: BACKOFF.0,
            failing: None,
        }
    }

    /// Sends until `ended` is triggered, then what is left within two seconds.
    pub async fn run(mut self, ended: CancellationToken) {
        while !ended.is_cancelled() {
            let wait = ended.run_until_cancelled(self.step()).await;
            ended.run_until_cancelled(sleep(wait.unwrap_or_default())).await;
        }
        let _ = timeout(ENDING, async {
            while !(self.batch.is_empty() && self.queue.is_empty()) && self.send().await.is_ok() {
                self.fill().await;
            }
        })
        .await;
        self.counts.add_lost((self.batch.len() + self.queue.len()) as u64);
    }

    /// Waits for spans and sends them. Returns the time until the next step.
    async fn step(&mut self) -> Duration {
        if self.batch.is_empty() {
            if self.queue.receive(&mut self.batch, BATCH).await == 0 {
                // Every tracer is gone, so the process ends.
                return BACKOFF.1;
            }
            if self.batch.len() < BATCH {
                sleep(GATHER).await;
            }
        }
        self.fill().await;
        match self.send().await {
            Ok(()) => Duration::ZERO,
            Err(error) => self.failed(&error),
        }
    }

    /// Adds what waits already.
    async fn fill(&mut self) {
        let room = BATCH.saturating_sub(self.batch.len()).min(self.queue.len());
        if room > 0 {
            self.queue.receive(&mut self.batch, room).await;
        }
    }

    /// Sends the batch. A refused one is lost.
    async fn send(&mut self) -> Result<(), SendError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let sent = timeout(SENDING, self.collector.send_spans(&self.batch)).await;
        let spans = self.batch.len() as u64;
        let refused = match sent {
            Ok(Ok(refused)) => refused.min(spans),
            Ok(Err(SendError::Refused(why))) => {
                tracing::warn!(
                    "the collector of traces at {} refused {spans} spans: {why}",
                    self.place
                );
                spans
            }
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                let why = format!("no answer within {} s", SENDING.as_secs());
                return Err(SendError::unavailable(why));
            }
        };
        self.batch.clear();
        self.counts.add_sent(spans - refused);
        self.counts.add_lost(refused);
        self.wait = BACKOFF.0;
        if self.failing.take().is_some() {
            tracing::warn!("spans are sent again to {}", self.place);
        }
        Ok(())
    }

    /// Reports a failure, unless it is that of the attempt before. Returns the time until the next attempt.
    fn failed(&mut self, error: &SendError) -> Duration {
        let why = error.to_string();
        if self.failing.as_ref() != Some(&why) {
            tracing::warn!(
                "the collector of traces at {} fails, and spans get lost: {why}",
                self.place
            );
            self.failing = Some(why);
        }
        let retry_after = match error {
            SendError::Unavailable { retry_after, .. } => *retry_after,
            SendError::Refused(_) => None,
        };
        let wait = self.wait.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.wait = (self.wait * 2).min(BACKOFF.1);
        wait.max(retry_after.unwrap_or_default())
    }
}
