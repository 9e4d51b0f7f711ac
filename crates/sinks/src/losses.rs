//! Batches reports of losses, so that a long backlog does not fill the log.

use std::time::{Duration, Instant};

const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Number of lost records that are not yet reported.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    records: u64,
    reported: Option<Instant>,
}

// === impl Losses ===

impl Losses {
    pub(crate) fn add(&mut self, records: u64) {
        self.records += records;
    }

    /// The number to report now, if any.
    pub(crate) fn due(&mut self) -> Option<u64> {
        let is_early = self.reported.is_some_and(|at| at.elapsed() < REPORT_EVERY);
        if self.records == 0 || is_early {
            return None;
        }
        self.reported = Some(Instant::now());
        Some(std::mem::take(&mut self.records))
    }
}
