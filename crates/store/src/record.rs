//! The record of one run, and of one life of a session, from beginning to end.

use std::sync::Arc;
use std::time::Instant;

use types::{GuestError, Limits, Outcome, RunId, SessionFate, SessionName, Status};

use crate::clock::{micros, now_ms};
use crate::records::{NotRecorded, SharedRecords};
use crate::rows::{Attempt, Closing, Ended, RUN_REFUSED, Refused, Row, Run, Session};

/// The record of one run, until the run is [over](RunRecord::ended) or [refused](RunRecord::refuse). A record that is
/// dropped earlier (a panic, an aborted task) marks the run as cancelled.
#[derive(Debug)]
pub struct RunRecord {
    run: RunId,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    shared: Arc<SharedRecords>,
    attempt: Arc<Attempt>,
    /// Set once a session has accepted the run.
    accepted: Option<Accepted>,
}

#[derive(Debug)]
struct Accepted {
    run: Arc<Run>,
    at: Instant,
    begun: Option<Instant>,
}

/// The record of one life of a session, until it is [closed](SessionRecord::closed) or
/// [lost](SessionRecord::lost).
#[derive(Debug)]
pub struct SessionRecord {
    shared: Arc<SharedRecords>,
    session: Arc<Session>,
}

// === impl RunRecord ===

impl RunRecord {
    pub(crate) fn new(shared: Option<Arc<SharedRecords>>, attempt: Attempt) -> RunRecord {
        RunRecord {
            run: attempt.run.clone(),
            open: shared.map(|shared| Open {
                shared,
                attempt: Arc::new(attempt),
                accepted: None,
            }),
        }
    }

    /// A run that is not recorded.
    pub fn none(run: RunId) -> RunRecord {
        RunRecord { run, open: None }
    }

    /// Handle of the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Records that the run was accepted, and by which session, if any. The run may still be queued.
    pub fn accepted(&mut self, session: Option<&SessionName>) {
        let Some(open) = &mut self.open else { return };
        let run = open
            .shared
            .run_now(open.attempt.clone(), session.map(ToString::to_string));
        let run = Arc::new(run);
        open.shared.push(Row::Begun(run.clone()));
        open.accepted = Some(Accepted {
            run,
            at: Instant::now(),
            begun: None,
        });
    }

    /// Records that the run leaves its queue. Waits for room in the record queue or, if records are required, for the
    /// commit of all earlier rows.
    pub async fn begin(&mut self) -> Result<(), NotRecorded> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(accepted) = &open.accepted else {
            return Ok(());
        };
        if open.shared.config.recording.is_required() {
            // Push the row again: the row from the acceptance may be lost.
            open.shared.push(Row::Begun(accepted.run.clone()));
            open.shared.committed().await?;
            // The newest record of other processes is known only after the commit.
            open.shared.clock_is_right()?;
        } else {
            open.shared.queue.room().await;
        }
        Ok(())
    }

    /// Sets the effective limits: an open session keeps its original limits.
    pub fn bound(&mut self, limits: Limits) {
        let Some(open) = &mut self.open else { return };
        let Some(accepted) = &mut open.accepted else {
            return;
        };
        if accepted.run.attempt.limits.as_ref() == Some(&limits) {
            return;
        }
        let attempt = Attempt {
            limits: Some(limits),
            ..open.attempt.as_ref().clone()
        };
        accepted.run = Arc::new(Run {
            attempt: Arc::new(attempt),
            session: accepted.run.session.clone(),
            asked_ms: accepted.run.asked_ms,
        });
        open.shared.push(Row::Begun(accepted.run.clone()));
    }

    /// Marks the moment when the guest is ready and the program starts.
    pub fn begun(&mut self) {
        if let Some(accepted) = self.open.as_mut().and_then(|open| open.accepted.as_mut()) {
            accepted.begun = Some(Instant::now());
        }
    }

    /// Records that a guest was started for this run. `life` is the number of the guest in this process.
    pub fn opened(
        &self,
        life: u64,
        language: &'static str,
        mode: Option<&'static str>,
    ) -> Option<SessionRecord> {
        let open = self.open.as_ref()?;
        let session = Arc::new(Session {
            life: crate::rows::number(life),
            name: open.accepted.as_ref()?.run.session.clone().unwrap_or_default(),
            principal: open.attempt.principal.to_string(),
            language,
            backend: open.attempt.backend,
            mode,
            opened_by: self.run.clone(),
            opened_ms: now_ms(),
        });
        open.shared.push(Row::Opened(session.clone()));
        Some(SessionRecord {
            shared: open.shared.clone(),
            session,
        })
    }

    /// Records the run's outcome.
    pub async fn ended(
        mut self,
        outcome: &Outcome,
        session: Option<&SessionRecord>,
    ) -> Result<(), NotRecorded> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let mut ended = Ended::of(outcome, open.shared.config.execution, open.shared.clock.now().0);
        ended.life = session.map(|session| session.session.life);
        ended.mode = session.and_then(|session| session.session.mode);
        let shared = open.shared.clone();
        open.end(ended);
        if let Some((kind, detail)) = noteworthy(outcome) {
            shared.event(Some(&self.run), kind, detail);
        }
        if shared.config.recording.is_required() {
            shared.committed().await?;
        }
        Ok(())
    }

    /// Records that the attempt was refused.
    pub async fn refuse(self, why: Refused) -> Result<(), NotRecorded> {
        let Some(open) = &self.open else { return Ok(()) };
        let shared = open.shared.clone();
        shared.queue.room().await;
        self.give_up(why);
        if shared.config.recording.is_required() && why != Refused::NotRecorded {
            shared.committed().await?;
        }
        Ok(())
    }

    /// Like `refuse`, without waiting.
    pub fn give_up(mut self, why: Refused) {
        let Some(open) = self.open.take() else { return };
        let shared = open.shared.clone();
        let at_ms = shared.clock.now().0;
        open.end(Ended::refused(why, at_ms));
        shared.event(Some(&self.run), RUN_REFUSED, why.name().to_owned());
    }
}

impl Drop for RunRecord {
    fn drop(&mut self) {
        if let Some(open) = self.open.take()
            && open.accepted.is_some()
        {
            let error = GuestError {
                kind: "Withdrawn".to_owned(),
                ..GuestError::default()
            };
            let outcome = Outcome::bare(Status::Cancelled, SessionFate::Kept, Some(error));
            let detail = open.shared.config.execution;
            open.end(Ended::of(&outcome, detail, now_ms()));
        }
    }
}

// === impl Open ===

impl Open {
    fn end(self, mut ended: Ended) {
        let run = match self.accepted {
            Some(accepted) => {
                let begun = accepted.begun.unwrap_or_else(Instant::now);
                ended.waited_us = Some(micros(begun.duration_since(accepted.at)));
                ended.duration_us = accepted.begun.map(|begun| micros(begun.elapsed()));
                accepted.run
            }
            None => Arc::new(self.shared.run_now(self.attempt, None)),
        };
        self.shared.push(Row::Ended(run, Box::new(ended)));
    }
}

// === impl SessionRecord ===

impl SessionRecord {
    /// Records an orderly end.
    pub fn closed(self) {
        self.end("closed");
    }

    /// Records that the guest ended early, with the reason.
    pub fn lost(self, ending: &'static str) {
        let detail = format!("{}: {ending}", self.session.name);
        self.shared.event(None, "session_lost", detail);
        self.end(ending);
    }

    fn end(self, ending: &'static str) {
        let at_ms = now_ms();
        self.shared
            .push(Row::Closed(self.session, Closing { at_ms, ending }));
    }
}

/// The event for the operator, if the outcome needs one.
fn noteworthy(outcome: &Outcome) -> Option<(&'static str, String)> {
    match outcome.status {
        Status::LimitExceeded { limit } => Some(("limit_exceeded", limit.name().to_owned())),
        Status::TimedOut => Some(("limit_exceeded", "wall_time".to_owned())),
        Status::Refused => refused(outcome),
        Status::Completed | Status::Failed | Status::Cancelled => None,
    }
}

/// The event of a refused run; `None` for a denial (no error kind), which records its own event.
fn refused(outcome: &Outcome) -> Option<(&'static str, String)> {
    let kind = outcome.error.as_ref().map(|error| error.kind.clone());
    match kind {
        Some(kind) if kind.is_empty() => None,
        kind => Some((RUN_REFUSED, kind.unwrap_or_default())),
    }
}
