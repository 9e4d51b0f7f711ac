//! Counts runs by their outcome, for `/metrics`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use session::SessionError;
use surfaces::RunReport;

use crate::execution_metrics::ExecutionMetrics;

/// The outcome of runs that did not begin: their session took no more, or ended.
const NOT_BEGUN: &str = "not_begun";

/// Runs of a host and of all its virtual servers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunCounts {
    runs: Family<RunLabels, Counter>,
    executions: ExecutionMetrics,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RunLabels {
    outcome: &'static str,
}

// === impl RunCounts ===

impl RunCounts {
    /// Counts a run that a client of this name asked for.
    pub(crate) fn note(&self, client: Option<&String>, ended: &Result<RunReport, SessionError>) {
        match ended {
            Ok(report) => self.executions.ended(client, &report.outcome),
            Err(_) => self.executions.refused(client),
        }
        let outcome = ended
            .as_ref()
            .map_or(NOT_BEGUN, |report| report.outcome.status.name());
        self.runs.get_or_create(&RunLabels { outcome }).inc();
    }

    /// Counts a run that was refused before a session was asked.
    pub(crate) fn note_refused(&self, client: Option<&String>) {
        self.executions.refused(client);
    }

    /// The metrics of executions, as a registry takes them.
    pub(crate) fn executions(&self) -> ExecutionMetrics {
        self.executions.clone()
    }

    /// The counters, as a registry takes them.
    pub(crate) fn family(&self) -> Family<RunLabels, Counter> {
        self.runs.clone()
    }
}
