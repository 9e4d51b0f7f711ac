//! The sinks of this process and the sender of its spans: one task each, from the start to the end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::sinks::{Delivery, Sender, SinkConfig, SinkCounts, SinkFigures, SpanDelivery};
use store::{Sinks, Trouble};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use traces::SpanCounts;

use crate::span_outlet::SpanOutlet;

/// Longest time for all sinks to send their last records and end.
const CLOSING: Duration = Duration::from_secs(3);

/// All sinks, once they are open.
#[derive(Debug, Default)]
pub(crate) struct GatewaySinks {
    open: Mutex<OpenSinks>,
}

#[derive(Debug, Default)]
struct OpenSinks {
    tasks: JoinSet<()>,
    ended: CancellationToken,
    counts: Vec<(String, Arc<SinkCounts>)>,
    spans: Option<Arc<SpanCounts>>,
}

/// Why sinks could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum SinkStartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] Trouble),
    /// The operating system has no random numbers.
    #[error("no id could be made for this process: {0}")]
    NoId(#[from] getrandom::Error),
}

// === impl GatewaySinks ===

impl GatewaySinks {
    /// Notes each sink in the database, then sends in the background.
    pub(crate) async fn open(&self, store: &Sinks, configs: Vec<SinkConfig>) -> Result<(), SinkStartError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        let sender = Sender::new(hex::encode(id));
        let mut deliveries = Vec::with_capacity(configs.len());
        for config in configs {
            let name = config.name.clone();
            let mut delivery = Delivery::new(store.clone(), config, sender.clone());
            delivery.prepare().await?;
            deliveries.push((name, delivery));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, delivery) in deliveries {
            open.counts.push((name, delivery.counts()));
            let ended = open.ended.clone();
            open.tasks.spawn(delivery.run(ended));
        }
        Ok(())
    }

    /// Sends spans in the background.
    pub(super) fn open_spans(&self, outlet: SpanOutlet) -> Result<(), SinkStartError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        let SpanOutlet { queue, target } = outlet;
        let counts = queue.counts();
        let delivery = SpanDelivery::new(queue, target, Sender::new(hex::encode(id)));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = open.ended.clone();
        open.tasks.spawn(delivery.run(ended));
        open.spans = Some(counts);
        Ok(())
    }

    /// What became of spans: sent and lost ones. `None` if nobody sends any.
    pub(super) fn spans(&self) -> Option<(u64, u64)> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = open.spans.as_ref()?;
        Some((counts.sent(), counts.lost()))
    }

    /// What each sink has done.
    pub(super) fn figures(&self) -> Vec<(String, SinkFigures)> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let figures = open.counts.iter();
        figures
            .map(|(name, counts)| (name.clone(), counts.figures()))
            .collect()
    }

    /// Sends the last records, as far as that takes no time.
    pub(crate) async fn close(&self) {
        let mut open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        open.ended.cancel();
        // What is left waits for the next start.
        let _ = timeout(CLOSING, async { while open.tasks.join_next().await.is_some() {} }).await;
    }
}
