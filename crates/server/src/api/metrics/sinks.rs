//! Metrics of sinks and of spans.
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
    spans_sent: Counter,
    spans_lost: Counter,
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
        let spans = [
            (
                "codeyard_spans_sent",
                "Spans that the collector took",
                &metrics.spans_sent,
            ),
            (
                "codeyard_spans_lost",
                "Spans that did not fit into the queue, or that the collector refused",
                &metrics.spans_lost,
            ),
        ];
        for (name, help, counter) in spans {
            registry.register(name, help, counter.clone());
        }
        registry.register(
            "codeyard_sink_records_waiting",
            "Records that wait in the database; 0 while another process sends",
            Family::clone(&metrics.waiting),
        );
        metrics
    }

    pub(super) fn set(&self, sinks: &[(String, SinkFigures)], spans: Option<(u64, u64)>) {
        if let Some((sent, lost)) = spans {
            for (counter, value) in [(&self.spans_sent, sent), (&self.spans_lost, lost)] {
                counter.inner().store(value, Ordering::Relaxed);
            }
        }
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
