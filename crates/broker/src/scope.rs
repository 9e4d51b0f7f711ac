//! The run that a call belongs to.

use std::sync::Arc;

use traces::{Span, SpanKind, Tracer};
use types::{RunId, RunProfile, ToolRef, TraceContext};

use crate::answered_calls::AnsweredCalls;
use crate::client::RunClient;
use crate::observer::CallObserver;

/// The facts about a run that its calls need.
#[derive(Debug, Clone)]
pub struct RunScope {
    /// Handle of the run.
    pub run: RunId,
    /// How the surface interprets the run.
    pub profile: RunProfile,
    /// Observes the tool calls, if tokens are counted.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Collects the run's successful calls.
    pub done: AnsweredCalls,
    /// The client that waits for the run.
    pub client: RunClient,
    /// Where its calls belong in a trace.
    pub trace: RunTrace,
}

/// Where the calls of a run belong in a trace.
#[derive(Debug, Clone, Default)]
pub struct RunTrace {
    /// Begins their spans.
    pub tracer: Tracer,
    /// The run's own span.
    pub parent: Option<TraceContext>,
    /// Name of the run's session.
    pub session: String,
}

// === impl RunTrace ===

impl RunTrace {
    /// Begins the span of a call, with the names of OpenTelemetry's conventions for MCP beside S0-84's.
    pub(crate) fn begin_call(&self) -> Span {
        let mut span = self
            .tracer
            .begin("code_execution.tool_call", SpanKind::Client, self.parent.as_ref());
        span.text("session.id", &self.session);
        span.text("mcp.method.name", "tools/call");
        span.text("gen_ai.operation.name", "execute_tool");
        span
    }
}

/// Ends the span of a call. The names of a tool that does not exist are the program's own words, and are left out.
pub(crate) fn end_call(mut span: Span, tool: Option<&ToolRef>, failure: Option<&str>) {
    if let Some(tool) = tool {
        span.text("tool.server", &tool.server);
        span.text("tool.name", &tool.tool);
        span.text("gen_ai.tool.name", &tool.tool);
    }
    span.end(failure);
}
