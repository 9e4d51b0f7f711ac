//! The conversation with one guest: sequential runs, concurrent host calls, and a bounded end for every run.
//!
//! ```text
//!  run ──► Running ──done──► outcome, session kept
//!            │ wall time, cpu time, cancelled
//!            ▼
//!         Interrupted (a short grace) ──done──► outcome, session kept
//!            │ grace over, or memory over, or protocol broken
//!            ▼
//!          Killed ──gone──► outcome, session lost
//! ```

mod calls;
mod grace;
mod pace;
mod report;
mod result_check;
mod send;
mod turn;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use guest::frames::{self, Done, GuestFrame, HostFrame};
use tokio::net::unix::pipe;
use tokio::task::yield_now;
use tokio::time::{Instant, Interval, MissedTickBehavior, sleep_until, timeout};
use types::{
    Appearance, GuestError, Language, Limit, Limits, Outcome, Results, RunLimits, SessionFate, Status,
    Threads, Usage,
};

use crate::capture::Capture;
use crate::guest_processes::{GuestProcesses, GuestUsage, Leftovers};
use crate::wire::{Channels, Wire, WireError, drain_pipe, drain_rest};
use crate::{Attachment, BoxFuture, Guest, HostCalls, LaunchError, Run, RunClock, Stream};
use calls::Calls;
use grace::Grace;
use pace::Pace;
use send::send;
use turn::Turn;

/// Maximum total time for an interrupted program to stop on a busy machine.
const MOST_GRACE: Duration = Duration::from_secs(2);
/// Time between interruptions. The host repeats the signal, because a signal just before the program starts to wait
/// has no effect.
const NUDGE: Duration = Duration::from_millis(10);
/// Time between checks of limits that the kernel does not enforce.
const WATCH: Duration = Duration::from_millis(50);
/// Longest wait for a killed guest's processes to end. Afterwards the host returns the outcome anyway.
const GOING: Duration = Duration::from_secs(5);
const CONFINING: Duration = Duration::from_secs(10);
const PIPE_PIECE: usize = 64 * 1024;
/// Bytes that the host reads from a pipe before it does other work.
const PIPE_TURN: usize = 1024 * 1024;
/// Maximum bytes that a pipe may still hold when its run is over.
const PIPE_REST: usize = 4 * 1024 * 1024;

/// One guest behind its channel; implements [`Guest`] for any backend that has a [`GuestProcesses`].
pub struct Conversation<P> {
    wire: Wire,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    processes: P,
    limits: Limits,
    /// Rules for returning results, taken from the first run. The guest has received them.
    results: Results,
    session: String,
    language: Language,
    /// Host paths of the session's directories, if its programs may know them.
    places: Vec<(String, String)>,
    ready: bool,
    runs: u64,
    /// Threads that earlier runs have left behind.
    left: Leftovers,
    before: GuestUsage,
    buffer: Vec<u8>,
}

/// Progress toward the end of a run.
enum Phase {
    Running,
    Interrupted {
        status: Status,
        since: Instant,
        /// The guest's CPU time at `since`.
        cpu: Duration,
        /// Interruptions in a row that count against the [`Grace`].
        nudges: u32,
        nudge_at: Instant,
    },
    Killed {
        status: Status,
        error: Option<GuestError>,
        /// Deadline for the end of the guest's processes.
        gone_by: Instant,
    },
}

struct Progress {
    phase: Phase,
    stdout: Capture,
    stderr: Capture,
    stdout_open: bool,
    stderr_open: bool,
    started: Instant,
    pace: Pace,
    turn: Turn,
}

impl<P: GuestProcesses> Conversation<P> {
    /// Begins a conversation with a guest that has just been started.
    pub fn new(channels: Channels, processes: P, limits: Limits, session: String) -> Self {
        Self {
            wire: Wire::new(channels.channel),
            stdout: channels.stdout,
            stderr: channels.stderr,
            processes,
            limits,
            results: Results::default(),
            session,
            language: Language::default(),
            places: Vec::new(),
            ready: false,
            runs: 0,
            left: Leftovers::default(),
            before: GuestUsage::default(),
            buffer: vec![0; PIPE_PIECE],
        }
    }

    /// Runs the warm-up in a guest that has no session yet.
    ///
    /// # Errors
    /// If the guest is gone, or sends anything else.
    pub async fn warm(&mut self) -> Result<(), WireError> {
        send(&mut self.wire, &HostFrame::Warm);
        loop {
            self.wire.readable().await;
            self.wire.fill()?;
            while let Some((frame, _)) = self.wire.next_frame().await? {
                match frame {
                    GuestFrame::Ready { v, .. } if !self.ready && v == frames::VERSION => self.ready = true,
                    GuestFrame::Warmed if self.ready => {
                        self.before = self.processes.measure();
                        return Ok(());
                    }
                    GuestFrame::Jail { step, errno } => {
                        return Err(WireError::Protocol(report::jail_error(step, errno).message));
                    }
                    _ => return Err(WireError::Protocol("a frame out of turn".to_owned())),
                }
            }
        }
    }

    /// Waits until a guest that has received nothing yet reports that it is confined.
    async fn confined(&mut self) -> Result<(), WireError> {
        while !self.ready {
            self.wire.readable().await;
            self.wire.fill()?;
            match self.wire.next_frame().await? {
                None => {}
                Some((GuestFrame::Ready { v, .. }, _)) if v == frames::VERSION => self.ready = true,
                Some(_) => return Err(WireError::Protocol("a frame out of turn".to_owned())),
            }
        }
        Ok(())
    }

    /// Assigns a guest that has run nothing yet to a session. `places` maps paths in the session to host paths, if
    /// programs may know them.
    pub fn assign(
        &mut self,
        limits: Limits,
        session: String,
        language: Language,
        places: Vec<(String, String)>,
    ) {
        self.limits = limits;
        self.session = session;
        self.language = language;
        self.places = places;
    }

    /// The guest's processes.
    pub fn processes(&mut self) -> &mut P {
        &mut self.processes
    }

    async fn run(&mut self, run: Run, host: Arc<dyn HostCalls>) -> Outcome {
        let started = Instant::now();
        let mut progress = Progress {
            phase: Phase::Running,
            stdout: Capture::new(run.limits().output),
            stderr: Capture::new(run.limits().output),
            stdout_open: true,
            stderr_open: true,
            started,
            pace: Pace::new(started, self.before.cpu.unwrap_or_default()),
            turn: Turn::default(),
        };
        let clock = RunClock::until(started + run.limits().wall_time);
        let mut calls = Calls::new(host, &run.limits(), clock.clone());
        let threads_before = self.left.threads;
        if self.runs > 0 {
            // The first frame of this run reports a protocol error from between the runs.
            let _ = self.wire.discard();
        }
        self.send_run(&run, &calls);
        self.processes.resume();
        let done = self.converse(&run, &mut progress, &mut calls, &clock).await;
        calls.cancel().await;
        let mut done = self.settle(done, &mut progress).await;
        calls.inputs_read(done.as_mut());
        if progress.pace.yields() {
            self.processes.reclaim_cpu();
        }
        self.drain_output(&mut progress);
        let threads = Threads {
            before: threads_before,
            after: self.left.threads,
        };
        Outcome {
            threads,
            ..self.outcome(done, progress, &run, calls.made())
        }
    }

    /// Ends the processes that the run has left behind, before the host reports the run's end. If that fails, the
    /// guest is lost.
    async fn settle(&mut self, done: Option<Done>, progress: &mut Progress) -> Option<Done> {
        let done = done?;
        match self.processes.settle(done.engine).await {
            Ok(left) => {
                self.left = left;
                Some(done)
            }
            Err(cause) => {
                tracing::warn!(session = %self.session, cause, "a run left something running that cannot be \
                    ended");
                self.kill(Some(Status::Failed), Some(report::unsettled(&cause)), progress);
                // No process acts after the answer. But a process that cannot be killed must not delay the answer
                // forever.
                let _ = timeout(GOING, self.processes.gone()).await;
                None
            }
        }
    }

    /// Serves the run until the guest reports its end (`Some`) or is gone (`None`).
    async fn converse(
        &mut self,
        run: &Run,
        progress: &mut Progress,
        calls: &mut Calls,
        clock: &RunClock,
    ) -> Option<Done> {
        let mut wall = pin!(clock.ran_out());
        let mut watch = watch();
        loop {
            let nudge_at = match progress.phase {
                Phase::Interrupted { nudge_at, .. } => Some(nudge_at),
                _ => None,
            };
            let running = matches!(progress.phase, Phase::Running);
            let gone_by = match progress.phase {
                Phase::Killed { gone_by, .. } => Some(gone_by),
                _ => None,
            };
            let killed = gone_by.is_some();
            let room = self.wire.has_room();
            tokio::select! {
                // Check the ends of a run first: a guest that never stops writing frames would starve every branch
                // after its frames.
                biased;
                () = run.cancel.cancelled(), if running => {
                    let limit = run.exceeded.get().copied();
                    let status = limit.map_or(Status::Cancelled, |limit| Status::LimitExceeded { limit });
                    self.interrupt(status, progress);
                }
                () = &mut wall, if running => self.interrupt(Status::TimedOut, progress),
                () = sleep_until(nudge_at.unwrap_or(progress.started)), if nudge_at.is_some() => {
                    // The program may have stopped in time while this process was late.
                    match self.take_frames(run, progress, calls).await {
                        Ok(Some(done)) => return Some(done),
                        Ok(None) => self.nudge(progress),
                        Err(error) => self.broken(error, progress),
                    }
                }
                _ = watch.tick(), if !killed => self.check_limits(&run.limits(), calls.made(), progress),
                () = self.processes.gone(), if killed => return None,
                () = sleep_until(gone_by.unwrap_or(progress.started)), if killed => {
                    self.give_up(progress);
                    return None;
                }
                () = self.wire.readable(), if !killed && room && calls.has_room() => {
                    match self.take_frames(run, progress, calls).await {
                        Ok(Some(done)) => return Some(done),
                        Ok(None) => {}
                        Err(error) => self.broken(error, progress),
                    }
                }
                () = yield_now(), if calls.may_launch() => calls.launch(),
                Some((id, answer)) = calls.next(), if room => {
                    self.reply(id, answer);
                    progress.turn.step().await;
                }
                () = self.wire.writable(), if self.wire.has_output() && !killed => self.wire.flush(),
                ready = self.stdout.readable(), if progress.stdout_open => {
                    let take = |bytes: &[u8]| {
                        progress.stdout.push(bytes);
                        calls.printed(Stream::Stdout, bytes);
                    };
                    progress.stdout_open = ready.is_ok() && drain_pipe(&self.stdout, &mut self.buffer, take, PIPE_TURN);
                }
                ready = self.stderr.readable(), if progress.stderr_open => {
                    let take = |bytes: &[u8]| {
                        progress.stderr.push(bytes);
                        calls.printed(Stream::Stderr, bytes);
                    };
                    progress.stderr_open = ready.is_ok() && drain_pipe(&self.stderr, &mut self.buffer, take, PIPE_TURN);
                }
            }
        }
    }

    async fn take_frames(
        &mut self,
        run: &Run,
        progress: &mut Progress,
        calls: &mut Calls,
    ) -> Result<Option<Done>, WireError> {
        self.wire.fill()?;
        while let Some((frame, size)) = self.wire.next_frame().await? {
            progress.turn.step().await;
            match frame {
                GuestFrame::Ready { v, .. } if !self.ready && v == frames::VERSION => self.ready = true,
                GuestFrame::Jail { step, errno } if !self.ready => {
                    let error = report::jail_error(step, errno);
                    self.kill(Some(Status::Refused), Some(error), progress);
                    return Ok(None);
                }
                GuestFrame::Call { id, name, args } if self.ready => {
                    if let Some((id, refused)) = calls.start(id, name, args, size)? {
                        self.reply(id, Err(refused));
                    }
                }
                GuestFrame::Done(done) if self.ready && done.id == self.runs => {
                    result_check::check(&done, size, run)?;
                    return Ok(Some(*done));
                }
                _ => return Err(WireError::Protocol("a frame out of turn".to_owned())),
            }
        }
        Ok(None)
    }

    /// Kills the guest, which has ended by itself or broken the protocol.
    fn broken(&mut self, error: WireError, progress: &mut Progress) {
        match error {
            // The guest ended instead of stopping its program, so the interruption is the reason.
            WireError::Closed if matches!(progress.phase, Phase::Interrupted { .. }) => {
                self.kill(None, None, progress)
            }
            WireError::Closed => self.kill(Some(Status::Failed), Some(report::lost()), progress),
            WireError::Protocol(cause) => {
                tracing::warn!(session = %self.session, cause, "the guest broke the protocol");
                self.kill(Some(Status::Failed), Some(report::protocol(&cause)), progress);
            }
        }
    }

    fn interrupt(&mut self, status: Status, progress: &mut Progress) {
        self.processes.interrupt();
        let now = Instant::now();
        progress.phase = Phase::Interrupted {
            status,
            since: now,
            cpu: self.processes.measure().cpu.unwrap_or_default(),
            nudges: 0,
            nudge_at: now + NUDGE,
        };
    }

    /// Interrupts the program again, or kills the guest when the grace time is over.
    fn nudge(&mut self, progress: &mut Progress) {
        let Phase::Interrupted {
            since,
            cpu,
            nudges,
            nudge_at,
            ..
        } = &mut progress.phase
        else {
            return;
        };
        let grace = Grace::of(self.language);
        let now = Instant::now();
        let used = self
            .processes
            .measure()
            .cpu
            .unwrap_or(grace.cpu)
            .saturating_sub(*cpu);
        match used < grace.cpu && self.processes.wants_processor() {
            true => *nudges = 0,
            false => *nudges += 1,
        }
        if *nudges >= grace.nudges || now - *since >= MOST_GRACE {
            self.kill(None, None, progress);
        } else {
            *nudge_at = now + NUDGE;
            self.processes.interrupt();
        }
    }

    /// Kills the guest. Without a status, the outcome has the status of the earlier interruption.
    fn kill(&mut self, status: Option<Status>, error: Option<GuestError>, progress: &mut Progress) {
        self.processes.kill();
        let status = status.unwrap_or(match progress.phase {
            Phase::Interrupted { status, .. } | Phase::Killed { status, .. } => status,
            Phase::Running => Status::Failed,
        });
        let gone_by = Instant::now() + GOING;
        progress.phase = Phase::Killed {
            status,
            error,
            gone_by,
        };
    }

    /// Stops waiting for a killed guest that does not end. The backend cleans up when the guest ends.
    fn give_up(&mut self, progress: &mut Progress) {
        tracing::warn!(session = %self.session, "{}", report::STUCK);
        if let Phase::Killed { error, .. } = &mut progress.phase {
            error.get_or_insert_with(report::stuck);
        }
    }

    /// Ends the run if a limit is exceeded. `made` is the number of host calls of the run so far.
    fn check_limits(&mut self, limits: &RunLimits, made: u32, progress: &mut Progress) {
        if let Some(limit) = self.processes.exceeded() {
            self.kill(Some(Status::LimitExceeded { limit }), None, progress);
        } else if matches!(progress.phase, Phase::Running)
            && let Some(used) = self.processes.measure().cpu
        {
            if progress.pace.begins_to_yield(Instant::now(), used, made) {
                self.processes.yield_cpu();
            }
            if used.saturating_sub(self.before.cpu.unwrap_or_default()) > limits.cpu_time {
                self.interrupt(
                    Status::LimitExceeded {
                        limit: Limit::CpuTime,
                    },
                    progress,
                );
            }
        }
    }

    /// Reads the bytes left in the pipes. The guest wrote all of them before the run was over.
    fn drain_output(&mut self, progress: &mut Progress) {
        drain_rest(
            &self.stdout,
            &mut self.buffer,
            |bytes| progress.stdout.push(bytes),
            PIPE_REST,
        );
        drain_rest(
            &self.stderr,
            &mut self.buffer,
            |bytes| progress.stderr.push(bytes),
            PIPE_REST,
        );
    }

    fn outcome(&mut self, done: Option<Done>, progress: Progress, run: &Run, host_calls: u32) -> Outcome {
        let session = if done.is_some() {
            SessionFate::Kept
        } else {
            SessionFate::Lost
        };
        let measured = self.processes.measure();
        let used = Usage {
            wall: progress.started.elapsed(),
            cpu: measured
                .cpu
                .map(|now| now.saturating_sub(self.before.cpu.unwrap_or_default())),
            peak_memory: measured.peak_memory,
            bytes_written: done.as_ref().and_then(|done| done.disk),
            host_calls,
        };
        let copied = done.as_ref().map(|done| done.copied.clone()).unwrap_or_default();
        let out_of_memory = measured.out_of_memory > self.before.out_of_memory;
        self.before = measured;
        let verdict = match (done, progress.phase) {
            (Some(done), Phase::Interrupted { status, .. }) => report::Verdict::ended(done, status),
            (Some(done), _) => report::Verdict::from_done(done),
            (None, Phase::Killed { error: Some(_), .. }) if out_of_memory => report::Verdict::out_of_memory(),
            (None, Phase::Killed { status, error, .. }) => report::Verdict::killed(status, error),
            (None, _) => report::Verdict::killed(Status::Failed, None),
        };
        let verdict = verdict.explained(&self.limits, &run.limits());
        let directory = match run.profile.appearance {
            Appearance::Code | Appearance::Server => "/results",
            // Programs on `bridge` have no `/results`.
            Appearance::Bridge(_) => "/tmp",
        };
        // The guests of a session share the directory, and each counts its own runs.
        let run = match self.language {
            Language::Python => self.runs.to_string(),
            Language::TypeScript => format!("ts{}", self.runs),
            Language::Shell => format!("sh{}", self.runs),
        };
        let text = |stream: &str, capture: Capture| {
            let is_copied = copied.iter().any(|name| name == stream);
            capture.finish(is_copied.then(|| format!("{directory}/{stream}-{run}.txt")))
        };
        Outcome {
            stdout: text("stdout", progress.stdout),
            stderr: text("stderr", progress.stderr),
            session,
            usage: used,
            ..verdict.outcome
        }
    }
}

fn watch() -> Interval {
    let mut watch = tokio::time::interval_at(Instant::now() + WATCH, WATCH);
    watch.set_missed_tick_behavior(MissedTickBehavior::Delay);
    watch
}

impl<P: GuestProcesses + 'static> Guest for Conversation<P> {
    fn execute(&mut self, run: Run, calls: Arc<dyn HostCalls>) -> BoxFuture<'_, Outcome> {
        Box::pin(self.run(run, calls))
    }

    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), LaunchError>> {
        Box::pin(async { self.processes.attach(files).await.map_err(LaunchError::Failed) })
    }

    fn bound_files(&mut self, most: Option<u64>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if most.is_some_and(|most| most < self.limits.file_size) {
                // Wait for the confinement: a guest that is still being confined would later set the limits of its
                // launch. If the confinement fails, the guest's run fails.
                let _ = timeout(CONFINING, self.confined()).await;
            }
            self.processes.bound_files(most);
        })
    }

    fn unlinked(&mut self, device: u64) -> u64 {
        self.processes.unlinked(device)
    }

    fn memory(&self) -> Option<u64> {
        self.processes.memory()
    }

    fn died(&mut self) -> BoxFuture<'_, ()> {
        self.processes.gone()
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.processes.kill();
            // If the guest takes longer, its caller still treats the guest as ended, and the backend continues the
            // cleanup.
            let _ = tokio::time::timeout(GOING, self.processes.gone()).await;
        })
    }
}
