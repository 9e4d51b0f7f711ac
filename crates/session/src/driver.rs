//! The task of one session: takes runs from its queue one after another and owns the guest.

mod files;
mod judged_calls;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use check::Names;
use sandbox::{Attachment, BoxFuture, Guest, HostCalls, LaunchError, LaunchSpec, Run};
use store::{RunRecord, SessionRecord};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use types::{
    CheckMode, Granted, GuestError, Language, Limit, Limits, Outcome, Principal, Reach, RunLimits,
    SessionFate, Status, Validation,
};

use crate::check::{Checked, checked, refused};
use crate::driver::judged_calls::JudgedCalls;
use crate::files::{Allowance, Files, SharedTree};
use crate::names::mint_id;
use crate::request::{RunRequest, RunResult, SessionError};
use crate::sessions::SharedSessions;
use crate::table::{Contact, DriverId, Key, LossReason, Next, TurnEnd};

/// Delay between the end of a session and the end of its guest.
const ENDING_PAUSE: Duration = Duration::from_millis(5);
/// Idle time before a session's memory is measured.
const RESTING: Duration = Duration::from_secs(1);

pub(crate) struct Job {
    pub(crate) request: RunRequest,
    pub(crate) reply: oneshot::Sender<Result<RunResult, SessionError>>,
}

pub(crate) struct Driver {
    shared: Arc<SharedSessions>,
    key: Key,
    id: DriverId,
    contact: Arc<Contact>,
    guest: Option<Box<dyn Guest>>,
    /// Limits of the guest's launch.
    limits: Limits,
    /// Record of the guest's life.
    life: Option<SessionRecord>,
    /// The tree of tools and skills that the guest sees.
    shared_tree: Option<SharedTree>,
    /// The user's folders that the guest may read, refreshed at each run.
    read_only: Vec<Attachment>,
    /// Keeps the guest's directories on the host.
    lease: Option<Box<dyn Send + Sync>>,
    /// Message about the guest's directories for the next result.
    files_notice: Option<String>,
    /// Whether files in `/workspace`, `/results` and `/scratch` outlive the guest.
    keeps_files: bool,
    /// Names that the guest's runs left bound.
    names: Names,
    /// Whether the guest's memory was measured since its last run.
    measured: bool,
    threads: Threads,
}

/// The reach of threads that outlive their runs: the servers that the threads can call.
#[derive(Debug, Default)]
enum Threads {
    /// No thread is left.
    #[default]
    None,
    /// Every run since the first leftover thread had at least this reach.
    Left(Reach),
}

impl Threads {
    /// Updates the reach after a run that left this many threads.
    fn after(&mut self, run: &Reach, left: u32) {
        *self = match (left, std::mem::take(self)) {
            (0, _) => Threads::None,
            (_, Threads::None) => Threads::Left(run.clone()),
            (_, Threads::Left(reach)) => Threads::Left(reach.intersection(run)),
        };
    }

    /// Whether a run with this reach would give leftover threads more servers.
    fn would_gain(&self, run: &Reach) -> bool {
        match self {
            Threads::None => false,
            Threads::Left(reach) => !reach.includes(run),
        }
    }
}

// === impl Job ===

impl Job {
    pub(crate) fn refuse(self, error: SessionError) {
        self.request.record.give_up(error.refused());
        // The caller may have dropped its future.
        let _ = self.reply.send(Err(error));
    }
}

// === impl Driver ===

impl Driver {
    pub(crate) fn new(shared: Arc<SharedSessions>, key: Key, id: DriverId, contact: Arc<Contact>) -> Self {
        Self {
            shared,
            key,
            id,
            contact,
            guest: None,
            limits: Limits::default(),
            life: None,
            shared_tree: None,
            read_only: Vec::new(),
            lease: None,
            files_notice: None,
            keeps_files: false,
            names: Names::default(),
            measured: false,
            threads: Threads::default(),
        }
    }

    pub(crate) async fn drive(mut self) {
        while !self.contact.stop.is_cancelled() {
            self.notice_death().await;
            let next = self.shared.table().next(&self.key, self.id, Instant::now());
            match next {
                Next::Run(job) => self.turn(job).await,
                Next::Wait(until) => self.wait(until).await,
                Next::Stop => break,
            }
        }
        if let Some(guest) = self.guest.take() {
            // The end of processes keeps the kernel busy. After this pause the successor has started.
            sleep(ENDING_PAUSE).await;
            guest.close().await;
        }
        if self.lease.take().is_some() {
            self.shared.files.ended(&self.key.principal, &self.key.name).await;
        }
    }

    /// Waits for a run, the end of the idle time, or the end of the guest. Measures the guest after `RESTING` of idle
    /// time.
    async fn wait(&mut self, until: Instant) {
        let rests = Instant::now() + RESTING;
        if self.guest.is_some() && !self.measured && rests < until {
            self.wait_until(rests).await;
            if Instant::now() < rests {
                return;
            }
            self.measured = true;
            if let Some(memory) = self.guest.as_ref().and_then(|guest| guest.memory()) {
                tracing::debug!(session = %self.key.name, memory, "idle");
                self.shared.table().settled(&self.key, self.id, memory);
            }
            return;
        }
        self.wait_until(until).await;
    }

    async fn wait_until(&mut self, until: Instant) {
        let died = async {
            match &mut self.guest {
                Some(guest) => guest.died().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.contact.wake.notified() => {}
            () = self.contact.stop.cancelled() => {}
            () = sleep_until(until) => {}
            () = died => self.bury(),
        }
    }

    /// Drops a guest that died since its last run. `wait` may report the run before the death.
    async fn notice_death(&mut self) {
        let Some(guest) = &mut self.guest else { return };
        tokio::select! {
            biased;
            () = guest.died() => self.bury(),
            () = std::future::ready(()) => {}
        }
    }

    fn bury(&mut self) {
        tracing::info!(session = %self.key.name, "the guest of an idle session ended by itself");
        self.lose(&LossReason::Died);
        self.shared.table().died(&self.key, self.id, LossReason::Died);
    }

    /// One run: from the launch, if needed, to the answer.
    async fn turn(&mut self, job: Job) {
        let Job { request, mut reply } = job;
        let RunRequest {
            spec,
            profile,
            calls,
            cancel,
            mut record,
            turn,
            meter,
            ..
        } = request;
        let reach = profile.reach.clone();
        if self.guest.is_some() && self.threads.would_gain(&reach) {
            self.lose(&LossReason::Threads);
            self.shared.table().died(&self.key, self.id, LossReason::Threads);
        }
        // A child token: cancelled when the client cancels or disconnects, and when the session ends.
        let cancel = cancel.child_token();
        let run = Run {
            spec,
            profile,
            cancel: cancel.clone(),
            exceeded: Arc::default(),
        };
        self.measured = false;
        let (contact, exceeded) = (self.contact.clone(), run.exceeded.clone());
        let (files, principal) = (self.shared.files.clone(), self.key.principal.clone());
        let mut findings = Vec::new();
        let (result, ended) = {
            let started = Notify::new();
            let work = Box::pin(self.work(run, turn, calls, &started, &mut findings, &mut record));
            let mut work = pin!(meter.around(work));
            let outgrown = async {
                // Start after the program begins, so that earlier delays of the measurement do not count.
                started.notified().await;
                files.outgrown(&principal).await;
            };
            tokio::select! {
                biased;
                done = &mut work => done,
                () = reply.closed() => {
                    cancel.cancel();
                    work.await
                }
                () = contact.stop.cancelled() => {
                    cancel.cancel();
                    work.await
                }
                () = outgrown => {
                    // The only place that sets the limit.
                    let _ = exceeded.set(Limit::Workspace);
                    cancel.cancel();
                    work.await
                }
            }
        };
        let run_id = record.run().clone();
        if let Ok(outcome) = &result {
            self.threads.after(&reach, outcome.threads.after);
            meter.add_guest(outcome.usage.cpu.unwrap_or(outcome.usage.wall));
        }
        let result = write_down(record, result, self.life.as_ref()).await;
        let notice = self.settle(ended);
        let answer = result.map(|outcome| RunResult {
            run_id,
            session: self.key.name.clone(),
            outcome,
            findings,
            notice: self.notices(notice.as_ref()),
            keeps_files: self.keeps_files,
        });
        if let Err(Ok(_)) = reply.send(answer)
            && let Some(why) = notice
        {
            self.shared.table().restore_notice(&self.key, self.id, why);
        }
    }

    fn lose(&mut self, why: &LossReason) {
        self.guest = None;
        self.names = Names::default();
        self.threads = Threads::None;
        if let Some(life) = self.life.take() {
            life.lost(why.name());
        }
    }

    /// Records the end of the turn; returns the loss of an earlier life for the result.
    fn settle(&mut self, ended: TurnEnd) -> Option<LossReason> {
        if let TurnEnd::Lost(why) = &ended {
            self.lose(why);
        }
        let mut table = self.shared.table();
        // A failed launch started no new life, so a later result reports the loss.
        let notice = match ended {
            TurnEnd::NoGuest => None,
            TurnEnd::Kept | TurnEnd::Lost(_) => table.take_notice(&self.key, self.id),
        };
        table.finished(&self.key, self.id, ended, Instant::now());
        notice
    }

    /// Messages for the result about an earlier life and the session's directories.
    fn notices(&mut self, lost: Option<&LossReason>) -> Option<String> {
        let lost = lost.map(|why| self.notice(why));
        let notices: Vec<String> = lost.into_iter().chain(self.files_notice.take()).collect();
        (!notices.is_empty()).then(|| notices.join("; "))
    }

    fn notice(&self, why: &LossReason) -> String {
        let name = &self.key.name;
        let gone = if self.keeps_files {
            "variables"
        } else {
            "variables and files"
        };
        format!("session '{name}' started afresh, its earlier {gone} are gone: {why}")
    }

    async fn work(
        &mut self,
        run: Run,
        turn: Option<BoxFuture<'static, Box<dyn Send>>>,
        calls: Arc<dyn HostCalls>,
        started: &Notify,
        findings: &mut Vec<String>,
        record: &mut RunRecord,
    ) -> (Result<Outcome, SessionError>, TurnEnd) {
        let untouched = if self.guest.is_some() {
            TurnEnd::Kept
        } else {
            TurnEnd::NoGuest
        };
        let turn = match turn {
            Some(turn) => run.cancel.run_until_cancelled(turn).await.map(Some),
            None => Some(None),
        };
        let Some(_turn) = turn else {
            return (Ok(cancelled()), untouched);
        };
        if let Err(unrecorded) = record.begin().await {
            return (Err(SessionError::NotRecorded(unrecorded)), untouched);
        }
        let looked_and_checked = async {
            self.shared.files.look().await;
            self.check(&run).await
        };
        let checked = match run.cancel.run_until_cancelled(looked_and_checked).await {
            Some(checked) => checked,
            None => return (Ok(cancelled()), untouched),
        };
        *findings = checked.report.lines();
        if run.profile.check == CheckMode::Enforce && checked.report.has_errors() {
            return (Ok(refused(&checked.report)), untouched);
        }
        let granted = &run.spec.granted;
        if self.guest.is_none() {
            match self.launch(&run, granted.limits.clone(), record).await {
                Ok(Some(guest)) => {
                    self.guest = Some(guest);
                    self.limits = granted.limits.clone();
                }
                Ok(None) => return (Ok(cancelled()), TurnEnd::NoGuest),
                Err(error) => return (Err(error.into()), TurnEnd::NoGuest),
            }
        } else if let Some(limit) = self.other_limit(granted) {
            let error = SessionError::Limit {
                session: self.key.name.clone(),
                limit,
                has: self.limits.shown(limit),
                asked: granted.limits.shown(limit),
            };
            return (Err(error), TurnEnd::Kept);
        } else if let Err(error) = self.renew_files(&run.spec.code).await {
            return (Err(error.into()), TurnEnd::Kept);
        }
        record.bound(self.binding(run.limits()));
        let Some(guest) = &mut self.guest else {
            return (Ok(cancelled()), TurnEnd::NoGuest);
        };
        let (files, principal) = (&self.shared.files, &self.key.principal);
        let before = allowance(files.as_ref(), principal, guest.as_mut()).await;
        guest.bound_files(before.most()).await;
        record.begun();
        started.notify_one();
        self.names.take(checked.program.left());
        let outcome = if self.key.language != Language::Python {
            let judged = Arc::new(JudgedCalls::new(
                calls,
                self.shared.check.clone(),
                principal.clone(),
                self.key.language,
                run.profile.check,
            ));
            let outcome = guest.execute(run, judged.clone()).await;
            let (report, outcome) = judged.settle(outcome);
            findings.extend(report.lines());
            outcome
        } else {
            guest.execute(run, calls).await
        };
        let after = allowance(files.as_ref(), principal, guest.as_mut()).await;
        let outcome = within_quota(outcome, before, after, self.limits.file_size);
        let ended = TurnEnd::of(&outcome);
        (Ok(outcome), ended)
    }

    /// Checks the program before it runs, unless only the server validates arguments.
    async fn check(&mut self, run: &Run) -> Checked {
        if run.profile.validate == Validation::ByServer {
            return Checked::default();
        }
        let (check, principal) = (self.shared.check.as_ref(), &self.key.principal);
        checked(check, principal, run, &self.names).await
    }

    /// A requested limit that differs from the limit of the open session.
    fn other_limit(&self, granted: &Granted) -> Option<Limit> {
        let named = granted.named.iter().copied();
        named
            .filter(|limit| limit.is_of_session())
            .find(|limit| granted.limits.shown(*limit) != self.limits.shown(*limit))
    }

    /// The combined limits of session and run.
    fn binding(&self, own: RunLimits) -> Limits {
        Limits {
            wall_time: own.wall_time,
            cpu_time: own.cpu_time,
            output: own.output,
            host_calls: own.host_calls,
            concurrent_host_calls: own.concurrent_host_calls,
            ..self.limits.clone()
        }
    }

    /// Launches a guest; `None` if the run was cancelled first.
    async fn launch(
        &mut self,
        run: &Run,
        limits: Limits,
        record: &RunRecord,
    ) -> Result<Option<Box<dyn Guest>>, LaunchError> {
        self.shared.backend.check().await?;
        let files = self.files(&run.spec.code).await?;
        let longest = self.shared.config.launch_time;
        let number = self.shared.next_life();
        let spec = LaunchSpec {
            session: mint_id(&self.key.name, number),
            limits: Limits {
                // Later runs of the session may request more time than this run.
                wall_time: limits.wall_time.max(Limits::MAX_WALL_TIME),
                ..limits
            },
            language: self.key.language,
            first_code: run.spec.code.clone(),
            files,
        };
        let launched = run
            .cancel
            .run_until_cancelled(timeout(longest, self.shared.backend.launch(spec)));
        match launched.await {
            None => Ok(None),
            Some(Ok(launched)) => {
                let guest = launched?;
                let mode = self.shared.backend.mode();
                self.life = record.opened(number, self.key.language.name(), mode);
                Ok(Some(guest))
            }
            Some(Err(_)) => Err(LaunchError::Failed(format!(
                "no guest within {} s; the machine may be overloaded",
                longest.as_secs()
            ))),
        }
    }
}

impl Drop for Driver {
    /// Ends the wait of callers, even after a panic.
    fn drop(&mut self) {
        if let Some(life) = self.life.take() {
            life.closed();
        }
        let waiting = self.shared.table().end(&self.key, self.id, LossReason::Inside);
        for job in waiting {
            let session = self.key.name.clone();
            job.refuse(SessionError::Failed { session });
        }
    }
}

/// Bytes that the principal may still write, counting the guest's unnamed files.
async fn allowance(files: &dyn Files, principal: &Principal, guest: &mut dyn Guest) -> Allowance {
    files
        .allowance(principal, &mut |device| guest.unlinked(device))
        .await
}

/// The outcome, or a failure if the files exceed their quota and have not shrunk, or if the run hit the remaining
/// space.
fn within_quota(outcome: Outcome, before: Allowance, after: Allowance, file_size: u64) -> Outcome {
    let is_over = matches!(after, Allowance::Over { .. }) && !after.has_shrunk_from(before);
    let hit_the_bound = before.most().is_some_and(|most| most < file_size)
        && outcome.status
            == (Status::LimitExceeded {
                limit: Limit::FileSize,
            });
    let reason = match (is_over, hit_the_bound) {
        (true, _) => after,
        (false, true) => before,
        (false, false) => return outcome,
    };
    let traceback = outcome.error.map(|error| error.traceback).unwrap_or_default();
    let error = GuestError {
        kind: "LimitExceeded".to_owned(),
        message: reason.to_string(),
        traceback,
        exit: None,
    };
    Outcome {
        status: Status::LimitExceeded {
            limit: Limit::Workspace,
        },
        error: Some(error),
        ..outcome
    }
}

/// Records the end of a run. If a required record fails, the caller receives the error instead of the outcome.
async fn write_down(
    record: RunRecord,
    result: Result<Outcome, SessionError>,
    life: Option<&SessionRecord>,
) -> Result<Outcome, SessionError> {
    match result {
        Ok(outcome) => {
            let recorded = record.ended(&outcome, life).await;
            recorded.map_err(SessionError::EndNotRecorded).map(|()| outcome)
        }
        Err(error) => {
            let recorded = record.refuse(error.refused()).await;
            Err(recorded.map_or_else(SessionError::NotRecorded, |()| error))
        }
    }
}

pub(crate) fn cancelled() -> Outcome {
    let error = GuestError {
        kind: "Cancelled".to_owned(),
        message: "the run was cancelled before it began".to_owned(),
        ..GuestError::default()
    };
    Outcome::bare(Status::Cancelled, SessionFate::Kept, Some(error))
}
