//! Metrics of sinks.
//!
//! The settings name the sinks, so the number of labels is bounded.

use std::sync::atomic::Ordering;

use ::sinks::SinkFigures;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Default)]
pub(super) struct SinkMetrics {
    sent: Family<SinkLabels, Counter>,
    refused: Family<SinkLabels, Counter>,
    removed: Family<SinkLabels, Counter>,
    failures: Family<SinkLabels, Counter>,
    waiting: Family<SinkLabels, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SinkLabels {
    sink: String,
}

// === impl SinkMetrics ===

impl SinkMetrics {
    pub(super) fn new(registry: &mut Registry) -> SinkMetrics {
        let metrics = SinkMetrics::default();
        let counters = [
            (
                "codeyard_sink_records_sent",
                "Records sent to a sink",
                &metrics.sent,
            ),
            (
                "codeyard_sink_records_refused",
                "Records that a sink refused, and that were skipped",
                &metrics.refused,
            ),
            (
                "codeyard_sink_records_removed",
                "Records that retention removed before they were sent",
                &metrics.removed,
            ),
            (
                "codeyard_sink_failures",
                "Failed attempts to send to a sink",
                &metrics.failures,
            ),
        ];
        for (name, help, family) in counters {
            registry.register(name, help, Family::clone(family));
        }
        registry.register(
            "codeyard_sink_records_waiting",
            "Records that wait in the database; 0 while another process sends",
            Family::clone(&metrics.waiting),
        );
        metrics
    }

    pub(super) fn set(&self, sinks: &[(String, SinkFigures)]) {
        for (name, figures) in sinks {
            let labels = SinkLabels { sink: name.clone() };
            let counters = [
                (&self.sent, figures.sent),
                (&self.refused, figures.refused),
                (&self.removed, figures.removed),
                (&self.failures, figures.failures),
            ];
            for (family, value) in counters {
                family
                    .get_or_create(&labels)
                    .inner()
                    .store(value, Ordering::Relaxed);
            }
            self.waiting.get_or_create(&labels).set(figures.waiting);
        }
    }
}
