//! Spans of runs and calls: begun where work begins, queued when it ends, never waited for.
//!
//! A [`Tracer`] that is off records nothing, and passes the client's context on to upstream servers unchanged.

mod span;
mod tracer;

pub use span::{EndedSpan, Span, SpanKind, SpanValue};
pub use tracer::{SpanCounts, SpanQueue, Tracer};
