//! The report of a finished run, and the sentences about runs that all surfaces share.

use std::time::Duration;

use accounting::DirectCost;
use types::{GuestError, Outcome, RunId, SessionName, Status, spelled_out};

/// A finished run: its outcome, and the facts that the client needs besides.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session it ran in.
    pub session: SessionName,
    /// How the run ended.
    pub outcome: Outcome,
    /// Findings of the check before the run, one line each.
    pub findings: Vec<String>,
    /// Another note for the client, such as that an earlier session was lost.
    pub notice: Option<String>,
    /// `None` for the default backend.
    pub backend: Option<&'static str>,
    /// Whether files in `/workspace` and `/results` outlive the session.
    pub keeps_files: bool,
    /// Cost of the run without codeyard, if counted.
    pub direct: Option<DirectCost>,
    /// Successful calls that may have changed something.
    pub changes: Option<String>,
}

impl RunReport {
    /// A warning to read before a failed program is run again.
    pub(crate) fn changed_before_failure(&self) -> Option<String> {
        changed_before_failure(self.outcome.status, self.changes.as_deref())
    }

    pub(crate) fn noted(mut self, note: Option<String>) -> RunReport {
        let notes: Vec<String> = self.notice.take().into_iter().chain(note).collect();
        self.notice = (!notes.is_empty()).then(|| notes.join("; "));
        self
    }
}

/// The line about successful calls in a failed run.
pub fn changed_before_failure(status: Status, changes: Option<&str>) -> Option<String> {
    let changes = changes.filter(|_| !matches!(status, Status::Completed | Status::Refused))?;
    Some(format!(
        "before it failed, these calls had succeeded and may have changed something: {}",
        spelled_out(changes)
    ))
}

/// The error of a run, traceback first as in Python; `None` if the run completed.
pub fn error_text(outcome: &Outcome, wall_time: Duration) -> Option<String> {
    let given = outcome.error.as_ref();
    let says = |fallback: &str| given.map_or_else(|| fallback.to_owned(), sentence);
    let headline = match outcome.status {
        Status::Completed => return None,
        Status::TimedOut => format!("Execution timed out after {}ms", wall_time.as_millis()),
        Status::Failed => says("The program failed"),
        Status::LimitExceeded { limit } => says(&format!("The limit {limit} was exceeded")),
        Status::Cancelled => says("Execution was cancelled"),
        Status::Refused => says("The program was not run"),
    };
    let mut traceback = given.map_or("", |error| error.traceback.trim_end());
    if matches!(outcome.status, Status::TimedOut | Status::Cancelled) {
        // The headline already reports the interruption.
        traceback = traceback.trim_end_matches("KeyboardInterrupt").trim_end();
    }
    Some(match traceback {
        "" => headline,
        // Python's traceback ends with the error itself.
        traceback if traceback.ends_with(&headline) => traceback.to_owned(),
        traceback => match traceback.rsplit_once('\n') {
            // The headline contains the last line and adds to it.
            Some((frames, last)) if headline.starts_with(unqualified(last)) => {
                format!("{frames}\n{headline}")
            }
            _ => format!("{traceback}\n{headline}"),
        },
    })
}

/// A traceback's last line without the module of the exception class.
fn unqualified(line: &str) -> &str {
    let kind = line.split_once(": ").map_or(line, |(kind, _)| kind);
    kind.rfind('.').map_or(line, |dot| &line[dot + 1..])
}

fn sentence(error: &GuestError) -> String {
    match (error.kind.as_str(), error.message.as_str()) {
        ("", message) => message.to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, message) => format!("{kind}: {message}"),
    }
}
