//! The queue of ended spans and the collector that receives them.

use std::fmt;

use ::sinks::OtlpTarget;
use traces::SpanQueue;

/// Ended spans and their collector.
#[derive(Debug)]
pub struct SpanOutlet {
    pub(crate) queue: SpanQueue,
    pub(crate) target: OtlpTarget,
}

impl fmt::Display for SpanOutlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OTLP at {}", self.target.url)
    }
}
