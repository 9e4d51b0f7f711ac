//! A record as named values with time and severity, the same for every target.

use store::audit::AuditRow;
use store::sinks::{SentCall, SentEvent, SentRecord, SentRun};
use types::Principal;

use crate::config::RecordKind;

/// Events that S0-84 calls a violation of a policy, under its name and severity.
const VIOLATIONS: [&str; 2] = ["call_denied", store::FILE_DENIED];
const VIOLATION: &str = "code_execution_policy_violation";
const HIGH: &str = "HIGH";

/// A record ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SinkEntry {
    pub(crate) kind: RecordKind,
    /// Milliseconds since 1970.
    pub(crate) at_ms: i64,
    pub(crate) severity: Severity,
    /// Text for people, in ASCII.
    pub(crate) summary: String,
    pub(crate) fields: Vec<(&'static str, Field)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field {
    Text(String),
    Number(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Info,
    /// An administrative change.
    Notice,
    /// A refusal, a limit or a loss.
    Warning,
    /// Records were lost.
    Error,
}

/// Collects present fields.
#[derive(Debug, Default)]
struct EntryFields(Vec<(&'static str, Field)>);

// === impl SinkEntry ===

impl SinkEntry {
    pub(crate) fn of(record: &SentRecord) -> SinkEntry {
        match record {
            SentRecord::Run(sent) => of_run(sent),
            SentRecord::Call(call) => of_call(call),
            SentRecord::Event(event) => of_event(event),
            SentRecord::Audit(row) => of_audit(row),
        }
    }
}

/// The kind of a record, for the choice of kinds.
pub(crate) fn kind(record: &SentRecord) -> RecordKind {
    match record {
        SentRecord::Run(_) => RecordKind::Runs,
        SentRecord::Call(_) => RecordKind::Calls,
        SentRecord::Event(_) => RecordKind::Events,
        SentRecord::Audit(_) => RecordKind::Audit,
    }
}

fn of_run(SentRun { run, .. }: &SentRun) -> SinkEntry {
    let mut fields = EntryFields::default();
    fields.text("codeyard.record.id", Some(&run.id));
    fields.principal(Some(&run.principal));
    fields.place(
        run.virtual_server.as_deref(),
        run.session.as_deref(),
        Some(&run.id),
    );
    fields.text("codeyard.run.status", Some(&run.status));
    fields.text("codeyard.run.error", run.error_kind.as_deref());
    fields.text("codeyard.run.limit", run.limit.as_deref());
    fields.text("codeyard.run.language", run.language.as_deref());
    fields.text("codeyard.run.front", Some(&run.front));
    fields.text("codeyard.run.client", run.client.as_deref());
    fields.text("codeyard.run.code_sha256", run.code_hash.as_deref());
    fields.number("codeyard.run.code_bytes", run.code_bytes);
    fields.number("codeyard.run.waited_us", run.waited_us);
    fields.number("codeyard.run.duration_us", run.duration_us);
    fields.number("codeyard.run.cpu_us", run.cpu_us);
    fields.number("codeyard.run.peak_memory_bytes", run.peak_memory);
    fields.number("codeyard.run.calls", run.host_calls);
    fields.number("codeyard.run.result_bytes", run.result_bytes);
    fields.number("codeyard.run.stdout_bytes", run.stdout_bytes);
    fields.number("codeyard.run.stderr_bytes", run.stderr_bytes);
    SinkEntry {
        kind: RecordKind::Runs,
        at_ms: run.ended_ms.unwrap_or(run.asked_ms),
        severity: Severity::of_run(&run.status),
        summary: format!("run {}", run.status),
        fields: fields.0,
    }
}

fn of_call(call: &SentCall) -> SinkEntry {
    let mut fields = EntryFields::default();
    fields.text("codeyard.record.id", Some(&call.id));
    fields.principal(call.principal.as_deref());
    fields.place(
        call.virtual_server.as_deref(),
        call.session.as_deref(),
        Some(&call.run),
    );
    fields.text("codeyard.tool.server", Some(&call.server));
    fields.text("codeyard.tool.name", Some(&call.tool));
    fields.text("codeyard.call.outcome", Some(&call.outcome));
    fields.number("codeyard.call.duration_us", Some(call.duration_us));
    fields.number("codeyard.call.arguments_bytes", Some(call.arguments_bytes));
    fields.number("codeyard.call.result_bytes", call.result_bytes);
    fields.text("codeyard.call.arguments", call.arguments.as_deref());
    SinkEntry {
        kind: RecordKind::Calls,
        at_ms: call.at_ms,
        severity: Severity::of_call(&call.outcome),
        summary: format!("call {}", call.outcome),
        fields: fields.0,
    }
}

fn of_event(event: &SentEvent) -> SinkEntry {
    let mut fields = EntryFields::default();
    fields.text("codeyard.record.id", Some(&event.id));
    fields.principal(event.principal.as_deref());
    fields.place(
        event.virtual_server.as_deref(),
        event.session.as_deref(),
        event.run.as_deref(),
    );
    fields.text("codeyard.event.kind", Some(&event.kind));
    fields.text("codeyard.event.detail", event.detail.as_deref());
    if VIOLATIONS.contains(&event.kind.as_str()) {
        fields.text("codeyard.security.event", Some(VIOLATION));
        fields.text("codeyard.security.severity", Some(HIGH));
    }
    SinkEntry {
        kind: RecordKind::Events,
        at_ms: event.at_ms,
        severity: Severity::of_event(&event.kind),
        summary: format!("event {}", event.kind),
        fields: fields.0,
    }
}

fn of_audit(row: &AuditRow) -> SinkEntry {
    let mut fields = EntryFields::default();
    fields.number("codeyard.audit.sequence", Some(row.sequence));
    fields.text("codeyard.tenant", Some(&row.tenant));
    fields.text("enduser.id", Some(&row.actor));
    fields.text("codeyard.audit.action", Some(&row.action));
    fields.text("codeyard.audit.object", Some(&row.object));
    fields.text("codeyard.audit.object_id", Some(&row.object_id));
    fields.text("codeyard.audit.outcome", Some(&row.outcome));
    fields.text("codeyard.audit.hash", Some(&row.hash));
    fields.text("codeyard.audit.token_id", Some(&row.token));
    fields.text("codeyard.audit.detail", Some(&row.detail));
    SinkEntry {
        kind: RecordKind::Audit,
        at_ms: row.at_ms,
        severity: Severity::of_audit(&row.outcome),
        summary: format!("audit {} {}", row.action, row.outcome),
        fields: fields.0,
    }
}

// === impl Severity ===

impl Severity {
    /// The word in lines of JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    fn of_run(status: &str) -> Severity {
        match status {
            "completed" | "failed" | "cancelled" => Severity::Info,
            _ => Severity::Warning,
        }
    }

    fn of_call(outcome: &str) -> Severity {
        match outcome {
            "answered" | "in_sandbox" | "cancelled" => Severity::Info,
            _ => Severity::Warning,
        }
    }

    /// Info for events of normal operation, an error for lost records, a warning for all others, even unknown kinds.
    fn of_event(kind: &str) -> Severity {
        match kind {
            "task" | "tool_saved" | "tool_removed" | "memory_saved" | "memory_removed" | "result_drift" => {
                Severity::Info
            }
            "records_lost" => Severity::Error,
            _ => Severity::Warning,
        }
    }

    fn of_audit(outcome: &str) -> Severity {
        match outcome {
            "done" => Severity::Notice,
            _ => Severity::Warning,
        }
    }
}

// === impl EntryFields ===

impl EntryFields {
    /// Adds a text unless it is absent or empty.
    fn text(&mut self, name: &'static str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.0.push((name, Field::Text(text.to_owned())));
        }
    }

    fn number(&mut self, name: &'static str, number: Option<i64>) {
        self.0.extend(number.map(|number| (name, Field::Number(number))));
    }

    fn principal(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        match text.parse::<Principal>() {
            Ok(principal) => {
                self.text("codeyard.tenant", Some(principal.tenant().as_str()));
                self.text("enduser.id", Some(principal.user().as_str()));
            }
            Err(_) => self.text("enduser.id", Some(text)),
        }
    }

    fn place(&mut self, server: Option<&str>, session: Option<&str>, run: Option<&str>) {
        self.text("codeyard.server.id", server);
        self.text("codeyard.session.name", session);
        self.text("codeyard.run.id", run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, detail: Option<&str>) -> SinkEntry {
        SinkEntry::of(&SentRecord::Event(Box::new(SentEvent {
            id: "e7".to_owned(),
            at_ms: 1,
            kind: kind.to_owned(),
            detail: detail.map(str::to_owned),
            run: Some("r-1".to_owned()),
            principal: Some("acme/ann@example.com".to_owned()),
            session: None,
            virtual_server: Some("lab".to_owned()),
        })))
    }

    #[test]
    fn fields_that_are_absent_are_left_out() {
        let text = |name, text: &str| (name, Field::Text(text.to_owned()));
        assert_eq!(
            event("run_refused", None).fields,
            [
                text("codeyard.record.id", "e7"),
                text("codeyard.tenant", "acme"),
                text("enduser.id", "ann@example.com"),
                text("codeyard.server.id", "lab"),
                text("codeyard.run.id", "r-1"),
                text("codeyard.event.kind", "run_refused"),
            ]
        );
    }

    #[test]
    fn s0_84_denials_are_violations_of_a_policy() {
        for (kind, is_violation) in [
            ("call_denied", true),
            ("file_denied", true),
            ("run_refused", false),
        ] {
            let fields = event(kind, None).fields;
            let named = |name, text: &str| fields.contains(&(name, Field::Text(text.to_owned())));
            assert_eq!(
                named("codeyard.security.event", VIOLATION),
                is_violation,
                "{kind}"
            );
            assert_eq!(
                named("codeyard.security.severity", "HIGH"),
                is_violation,
                "{kind}"
            );
        }
    }

    #[test]
    fn refusals_and_losses_are_warnings_and_errors() {
        for (kind, severity) in [
            ("run_refused", Severity::Warning),
            ("call_denied", Severity::Warning),
            ("session_lost", Severity::Warning),
            ("a kind of a later version", Severity::Warning),
            ("records_lost", Severity::Error),
            ("tool_saved", Severity::Info),
        ] {
            assert_eq!(event(kind, None).severity, severity, "{kind}");
        }
    }
}
