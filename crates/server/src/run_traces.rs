//! Spans of runs, as S0-84 names them: never the program, its arguments or its output.

use std::fmt;

use ::sinks::OtlpTarget;
use broker::RunTrace;
use session::SessionError;
use settings::{Traces, UserAttribute};
use sha2::{Digest as _, Sha256};
use surfaces::RunReport;
use traces::{Span, SpanKind, SpanQueue, Tracer};
use types::{RunSpec, Selector, Status, TraceContext};

use crate::Caller;

/// Traces the runs of a host. Cheap to clone; by default off.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTraces {
    tracer: Tracer,
    user: UserAttribute,
}

/// Ended spans and their collector.
#[derive(Debug)]
pub struct SpanOutlet {
    pub(crate) queue: SpanQueue,
    pub(crate) target: OtlpTarget,
}

// === impl RunTraces ===

impl RunTraces {
    /// Traces runs as the settings say.
    pub(crate) fn new(traces: Traces) -> (RunTraces, SpanOutlet) {
        let (tracer, queue) = Tracer::new(traces.share);
        let outlet = SpanOutlet {
            queue,
            target: traces.target,
        };
        let traces = RunTraces {
            tracer,
            user: traces.user,
        };
        (traces, outlet)
    }
}

impl fmt::Display for SpanOutlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OTLP at {}", self.target.url)
    }
}

// === impl Caller ===

impl Caller {
    /// Begins the span of a run that a client asks for in this trace.
    pub(crate) fn begin_span(&self, spec: &RunSpec, parent: Option<&TraceContext>) -> Span {
        let traces = &self.shared.traces;
        let mut span = traces
            .tracer
            .begin("code_execution.shell_exec", SpanKind::Server, parent);
        if !span.is_recorded() {
            return span;
        }
        span.text("code.hash", &hex::encode(Sha256::digest(&spec.code)));
        span.text("server.id", self.server().map_or("", |server| server.as_str()));
        match traces.user {
            UserAttribute::Email => span.text("user.email", self.principal.user().as_str()),
            UserAttribute::Hash => {
                let hash = Sha256::digest(self.principal.to_string());
                span.text("user.hash", &hex::encode(hash));
            }
            UserAttribute::Omitted => {}
        }
        span.text("language", spec.language.name());
        span.text("mcp.method.name", "tools/call");
        span.text("gen_ai.operation.name", "execute_tool");
        span
    }

    /// The trace of a run's calls, below the run's span.
    pub(crate) fn trace_of_calls(&self, session: &Selector, parent: Option<TraceContext>) -> RunTrace {
        RunTrace {
            tracer: self.shared.traces.tracer.clone(),
            parent,
            session: match session {
                Selector::Named(name) => name.to_string(),
                Selector::Default => session::default_name().to_string(),
                // The name is made later; the run's span has it.
                Selector::New => String::new(),
            },
        }
    }
}

/// Ends the span of a run.
pub(crate) fn end(mut span: Span, ended: &Result<RunReport, SessionError>) {
    let Ok(report) = ended else {
        return span.end(Some("not_begun"));
    };
    span.text("run.id", report.run_id.as_str());
    span.text("session.id", report.session.as_str());
    span.number("run.calls", u64::from(report.outcome.usage.host_calls));
    match report.outcome.status {
        Status::Completed => span.end(None),
        status => span.end(Some(status.name())),
    }
}
