//! Spans of runs, as S0-84 names them: never the program, its arguments or its output.

use broker::RunTrace;
use session::SessionError;
use settings::{Traces, UserAttribute};
use sha2::{Digest as _, Sha256};
use surfaces::{MetaToolRun, RunError, RunReport};
use traces::{Span, SpanKind, Tracer};
use types::{Selector, Status, TraceContext};

use crate::Caller;
use crate::span_outlet::SpanOutlet;

/// Traces the runs of a host. Cheap to clone; by default off.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTraces {
    tracer: Tracer,
    user: UserAttribute,
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

// === impl Caller ===

impl Caller {
    /// Begins the span of a run that a client asks for in this trace.
    pub(crate) fn begin_span(&self, language: &str, code: &str, parent: Option<&TraceContext>) -> Span {
        let traces = &self.shared.traces;
        let mut span = traces
            .tracer
            .begin("code_execution.shell_exec", SpanKind::Server, parent);
        if !span.is_recorded() {
            return span;
        }
        span.text("code.hash", &hex::encode(Sha256::digest(code)));
        span.text("server.id", self.server().map_or("", |server| server.as_str()));
        match traces.user {
            UserAttribute::Email => span.text("user.email", self.principal.user().as_str()),
            UserAttribute::Hash => {
                let hash = Sha256::digest(self.principal.to_string());
                span.text("user.hash", &hex::encode(hash));
            }
            UserAttribute::Omitted => {}
        }
        span.text("language", language);
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
    end_as(span, report.outcome.status);
}

/// Ends the span of a line of the constrained commands, which calls no tool.
pub(crate) fn end_line(mut span: Span, ended: &Result<MetaToolRun, RunError>) {
    let Ok(run) = ended else {
        return span.end(Some("not_begun"));
    };
    span.text("run.id", run.run_id.as_str());
    end_as(span, run.outcome.status);
}

fn end_as(span: Span, status: Status) {
    match status {
        Status::Completed => span.end(None),
        status => span.end(Some(status.name())),
    }
}
