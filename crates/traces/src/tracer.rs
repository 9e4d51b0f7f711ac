//! Begins spans, and queues ended spans for the sender.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc;
use types::TraceContext;

use crate::span::{EndedSpan, OpenSpan, Span, SpanKind};

/// Most ended spans in the queue, each of a few hundred bytes. Spans that do not fit are lost and counted.
const QUEUE: usize = 4096;

/// Begins spans. Cheap to clone; by default off.
#[derive(Debug, Clone, Default)]
pub struct Tracer {
    parts: Option<Arc<TracerParts>>,
}

#[derive(Debug)]
pub(crate) struct TracerParts {
    queue: mpsc::Sender<EndedSpan>,
    counts: Arc<SpanCounts>,
    /// Share of traces to record, of those that begin here.
    share: f64,
}

/// The receiving end of a tracer's queue.
#[derive(Debug)]
pub struct SpanQueue {
    spans: mpsc::Receiver<EndedSpan>,
    counts: Arc<SpanCounts>,
}

/// Numbers of sent and lost spans.
#[derive(Debug, Default)]
pub struct SpanCounts {
    sent: AtomicU64,
    lost: AtomicU64,
}

// === impl Tracer ===

impl Tracer {
    /// Records this share of traces, from 0 to 1. The sender of a client's context decides for its own.
    pub fn new(share: f64) -> (Tracer, SpanQueue) {
        let (queue, spans) = mpsc::channel(QUEUE);
        let counts = Arc::<SpanCounts>::default();
        let parts = TracerParts {
            queue,
            counts: Arc::clone(&counts),
            share,
        };
        let tracer = Tracer {
            parts: Some(Arc::new(parts)),
        };
        (tracer, SpanQueue { spans, counts })
    }

    /// Begins a span below `parent`, or a new trace.
    pub fn begin(&self, name: &'static str, kind: SpanKind, parent: Option<&TraceContext>) -> Span {
        let Some(tracer) = &self.parts else {
            return Span::unrecorded(parent.cloned());
        };
        let context = TraceContext {
            trace: parent.map_or_else(|| fastrand::u128(1..), |parent| parent.trace),
            span: fastrand::u64(1..),
            sampled: parent.map_or_else(|| fastrand::f64() < tracer.share, |parent| parent.sampled),
            state: parent.and_then(|parent| parent.state.clone()),
        };
        if !context.sampled {
            // The same decision everywhere below.
            return Span::unrecorded(Some(context));
        }
        Span::recorded(OpenSpan {
            tracer: Arc::clone(tracer),
            span: EndedSpan {
                name,
                kind,
                context,
                parent: parent.map(|parent| parent.span),
                begun: SystemTime::now(),
                duration: Duration::ZERO,
                attributes: Vec::new(),
                failure: None,
            },
            at: Instant::now(),
        })
    }
}

// === impl TracerParts ===

impl TracerParts {
    pub(crate) fn push(&self, span: EndedSpan) {
        if self.queue.try_send(span).is_err() {
            self.counts.add_lost(1);
        }
    }
}

// === impl SpanQueue ===

impl SpanQueue {
    /// Waits for spans, and adds at most `most` of them. Returns 0 once every tracer is gone.
    pub async fn receive(&mut self, spans: &mut Vec<EndedSpan>, most: usize) -> usize {
        self.spans.recv_many(spans, most).await
    }

    /// Numbers of sent and lost spans, for `/metrics` and for the sender.
    pub fn counts(&self) -> Arc<SpanCounts> {
        Arc::clone(&self.counts)
    }

    /// Ended spans in the queue.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

// === impl SpanCounts ===

impl SpanCounts {
    /// Counts spans that a collector accepted.
    pub fn add_sent(&self, spans: u64) {
        self.sent.fetch_add(spans, Ordering::Relaxed);
    }

    /// Counts spans that are lost.
    pub fn add_lost(&self, spans: u64) {
        self.lost.fetch_add(spans, Ordering::Relaxed);
    }

    /// Spans that a collector accepted.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Spans that did not fit into the queue, or that the collector refused.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpanValue;

    fn parent(flags: &str) -> TraceContext {
        let text = format!("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-{flags}");
        TraceContext::read(&text, Some("vendor=1")).expect("valid")
    }

    async fn ended(queue: &mut SpanQueue) -> EndedSpan {
        let mut spans = Vec::new();
        assert_eq!(queue.receive(&mut spans, 1).await, 1);
        spans.remove(0)
    }

    #[tokio::test]
    async fn a_span_belongs_to_its_parent() {
        let (tracer, mut queue) = Tracer::new(0.0);
        let mut outer = tracer.begin("outer", SpanKind::Server, Some(&parent("01")));
        outer.text("name", &"x".repeat(1000));
        outer.text("absent", "");
        outer.number("count", 3);
        let inner = tracer.begin("inner", SpanKind::Client, outer.context());
        inner.end(Some("timeout"));
        outer.end(None);
        let (inner, outer) = (ended(&mut queue).await, ended(&mut queue).await);
        assert_eq!(
            (outer.parent, outer.context.trace),
            (Some(parent("01").span), parent("01").trace)
        );
        assert_eq!(
            (inner.parent, inner.context.trace),
            (Some(outer.context.span), outer.context.trace)
        );
        assert_eq!(inner.context.state.as_deref(), Some("vendor=1"));
        assert_eq!((inner.failure.as_deref(), outer.failure), (Some("timeout"), None));
        assert_eq!(
            outer.attributes,
            [
                ("name", SpanValue::Text("x".repeat(256))),
                ("count", SpanValue::Number(3))
            ]
        );
    }

    #[test]
    fn contexts_are_passed_on_where_nothing_is_recorded() {
        let off = Tracer::default().begin("off", SpanKind::Server, Some(&parent("01")));
        assert_eq!((off.context(), off.is_recorded()), (Some(&parent("01")), false));
        let (tracer, queue) = Tracer::new(1.0);
        let span = tracer.begin("unsampled", SpanKind::Server, Some(&parent("00")));
        let context = span.context().expect("a context").clone();
        assert_eq!((context.trace, context.sampled), (parent("00").trace, false));
        span.end(None);
        let (rare, _) = Tracer::new(0.0);
        assert!(!rare.begin("rare", SpanKind::Server, None).is_recorded());
        assert!(queue.is_empty());
    }

    #[test]
    fn a_full_queue_loses_spans_and_counts_them() {
        let (tracer, queue) = Tracer::new(1.0);
        for _ in 0..QUEUE + 10 {
            tracer.begin("many", SpanKind::Server, None).end(None);
        }
        assert_eq!((queue.len(), queue.counts().lost()), (QUEUE, 10));
    }
}
