//! Counts runs by their outcome, for `/metrics`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use session::SessionError;
use surfaces::RunReport;

/// The outcome of runs that did not begin: their session took no more, or ended.
const NOT_BEGUN: &str = "not_begun";

/// Runs of a host and of all its virtual servers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunCounts {
    runs: Family<RunLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RunLabels {
    outcome: &'static str,
}

// === impl RunCounts ===

impl RunCounts {
    pub(crate) fn note(&self, ended: &Result<RunReport, SessionError>) {
        let outcome = ended
            .as_ref()
            .map_or(NOT_BEGUN, |report| report.outcome.status.name());
        self.runs.get_or_create(&RunLabels { outcome }).inc();
    }

    /// The counters, as a registry takes them.
    pub(crate) fn family(&self) -> Family<RunLabels, Counter> {
        self.runs.clone()
    }
}
