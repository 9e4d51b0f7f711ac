//! What a surface receives of a run that ended, and the sentences that every surface says about it.

use std::time::Duration;

use accounting::DirectCost;
use types::{GuestError, Outcome, RunId, SessionName, Status, spelled_out};

/// How a run ended, and what the client should know beside its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// Handle of the run.
    pub run_id: RunId,
    /// The session it ran in.
    pub session: SessionName,
    /// How it ended.
    pub outcome: Outcome,
    /// What the check before the run found, one line each.
    pub findings: Vec<String>,
    /// What else the client should know, such as that an earlier session was lost.
    pub notice: Option<String>,
    /// The backend, if it is not the default one.
    pub backend: Option<&'static str>,
    /// Whether files in `/workspace` and `/results` outlive the session.
    pub keeps_files: bool,
    /// What the run would have cost without codeyard, if that was to be counted.
    pub direct: Option<DirectCost>,
    /// Its calls that succeeded and may have changed something.
    pub changes: Option<String>,
}

impl RunReport {
    /// What to know before a program that has failed is run again.
    pub(crate) fn changed_before_failure(&self) -> Option<String> {
        changed_before_failure(self.outcome.status, self.changes.as_deref())
    }

    /// Adds a note to the notice.
    pub(crate) fn noted(mut self, note: Option<String>) -> RunReport {
        let notes: Vec<String> = self.notice.take().into_iter().chain(note).collect();
        self.notice = (!notes.is_empty()).then(|| notes.join("; "));
        self
    }
}

/// The line on calls that succeeded in a run that has failed.
pub fn changed_before_failure(status: Status, changes: Option<&str>) -> Option<String> {
    let changes = changes.filter(|_| !matches!(status, Status::Completed | Status::Refused))?;
    Some(format!(
        "before it failed, these calls had succeeded and may have changed something: {}",
        spelled_out(changes)
    ))
}

/// The error of a run that did not complete, traceback first as in Python; `None` if it completed.
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
        // The traceback shows where the program was. The headline says that it was interrupted.
        traceback = traceback.trim_end_matches("KeyboardInterrupt").trim_end();
    }
    Some(match traceback {
        "" => headline,
        // Python's traceback ends with the error itself.
        traceback if traceback.ends_with(&headline) => traceback.to_owned(),
        traceback => match traceback.rsplit_once('\n') {
            // The headline says the same and more.
            Some((frames, last)) if headline.starts_with(unqualified(last)) => {
                format!("{frames}\n{headline}")
            }
            _ => format!("{traceback}\n{headline}"),
        },
    })
}

/// The last line of a traceback without the module of the exception's class.
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
