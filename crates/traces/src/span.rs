//! One span, from its beginning to its end.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use types::TraceContext;

use crate::tracer::TracerParts;

/// Longest text of an attribute, in bytes.
const MAX_TEXT: usize = 256;

/// Work that goes on. Without a [`Span::end`], nothing is recorded.
#[derive(Debug)]
#[must_use = "a span is recorded at its end"]
pub struct Span {
    /// For requests that are made for this work.
    context: Option<TraceContext>,
    open: Option<Box<OpenSpan>>,
}

#[derive(Debug)]
pub(crate) struct OpenSpan {
    pub(crate) tracer: Arc<TracerParts>,
    pub(crate) span: EndedSpan,
    pub(crate) at: Instant,
}

/// A span as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedSpan {
    /// What was done.
    pub name: &'static str,
    /// For whom.
    pub kind: SpanKind,
    /// The trace with this span.
    pub context: TraceContext,
    /// The span that asked for the work; `None` for the first of a trace.
    pub parent: Option<u64>,
    /// When the work began.
    pub begun: SystemTime,
    /// How long it took.
    pub duration: std::time::Duration,
    /// Facts, in order.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// The kind of the failure; `None` for success.
    pub failure: Option<String>,
}

/// Who waits for the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// A client of this process.
    Server,
    /// This process, for a server.
    Client,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanValue {
    /// At most 256 bytes.
    Text(String),
    /// A count.
    Number(i64),
}

// === impl Span ===

impl Span {
    pub(crate) fn recorded(open: OpenSpan) -> Span {
        Span {
            context: Some(open.span.context.clone()),
            open: Some(Box::new(open)),
        }
    }

    /// Passes the context on.
    pub(crate) fn unrecorded(context: Option<TraceContext>) -> Span {
        Span { context, open: None }
    }

    /// The context of requests that are made for this work.
    pub fn context(&self) -> Option<&TraceContext> {
        self.context.as_ref()
    }

    /// Whether attributes are worth their computation.
    pub fn is_recorded(&self) -> bool {
        self.open.is_some()
    }

    /// Adds a text; an empty one is left out.
    pub fn text(&mut self, name: &'static str, text: &str) {
        if let Some(open) = &mut self.open
            && !text.is_empty()
        {
            let text = text[..text.floor_char_boundary(MAX_TEXT)].to_owned();
            open.span.attributes.push((name, SpanValue::Text(text)));
        }
    }

    /// Adds a count.
    pub fn number(&mut self, name: &'static str, number: u64) {
        if let Some(open) = &mut self.open {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            open.span.attributes.push((name, SpanValue::Number(number)));
        }
    }

    /// Queues the span. `failure` names the kind of a failure, never its text.
    pub fn end(mut self, failure: Option<&str>) {
        self.text("error.type", failure.unwrap_or_default());
        let Some(mut open) = self.open.take() else { return };
        open.span.duration = open.at.elapsed();
        open.span.failure = failure.map(|kind| kind[..kind.floor_char_boundary(MAX_TEXT)].to_owned());
        open.tracer.push(open.span);
    }
}
