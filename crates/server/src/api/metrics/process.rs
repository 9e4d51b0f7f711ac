//! Metrics of this process beside requests and runs: what is idle, what waits, what is queued.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use sandbox::BackendFigures;
use store::RecordsQueue;

use super::gauge;
use crate::fair_turns::TurnFigures;

/// What a process has at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::api) struct ProcessFigures {
    pub(in crate::api) sandbox: BackendFigures,
    pub(in crate::api) turns: TurnFigures,
    pub(in crate::api) records: RecordsQueue,
}

#[derive(Debug, Default)]
pub(super) struct ProcessMetrics {
    idle: Gauge,
    zygotes: Gauge,
    programs: Family<ProgramLabels, Gauge>,
    records: Gauge,
    records_bytes: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProgramLabels {
    state: &'static str,
}

// === impl ProcessMetrics ===

impl ProcessMetrics {
    pub(super) fn new(registry: &mut Registry) -> ProcessMetrics {
        let metrics = ProcessMetrics::default();
        let gauges = [
            (
                "codeyard_pool_idle_sessions",
                "Sessions that were made in advance and have no owner yet",
                &metrics.idle,
            ),
            (
                "codeyard_zygotes",
                "Processes from which sessions are cloned",
                &metrics.zygotes,
            ),
            (
                "codeyard_records_queued",
                "Rows that wait to be written to the database",
                &metrics.records,
            ),
            (
                "codeyard_records_queued_bytes",
                "Approximate memory of the rows that wait to be written to the database",
                &metrics.records_bytes,
            ),
        ];
        for (name, help, metric) in gauges {
            registry.register(name, help, metric.clone());
        }
        registry.register(
            "codeyard_programs",
            "Programs that run, and programs that wait for their user's turn",
            Family::clone(&metrics.programs),
        );
        metrics
    }

    pub(super) fn set(&self, figures: &ProcessFigures) {
        for (metric, value) in [
            (&self.idle, figures.sandbox.idle_sessions),
            (&self.zygotes, figures.sandbox.zygotes),
            (&self.records, figures.records.rows),
            (&self.records_bytes, figures.records.bytes),
        ] {
            metric.set(gauge(value));
        }
        for (state, value) in [
            ("running", figures.turns.running),
            ("waiting", figures.turns.waiting),
        ] {
            self.programs
                .get_or_create(&ProgramLabels { state })
                .set(gauge(value));
        }
    }
}
