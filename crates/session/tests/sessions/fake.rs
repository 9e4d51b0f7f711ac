//! A scripted guest: each program is one command, so that tests control the end of every run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandbox::{
    Attachment, Backend, BoxFuture, CallContext, Guest, HostCall, HostCalls, LaunchError, LaunchSpec, Run,
};
use serde_json::json;
use serde_json::value::RawValue;
use session::{CpuMeter, NoCheck, NoFiles, RunRequest, SessionQuota, Sessions, SessionsConfig, mint_run};
use store::RunRecord;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use types::{
    CheckMode, Granted, GuestError, HostCallError, Outcome, Principal, RunLimits, RunProfile, RunSpec,
    Selector, SessionFate, SessionName, Status, Text,
};

/// Bytes of every guest.
pub const MEMORY: u64 = 1 << 20;

/// State of all guests, for tests to observe and control.
#[derive(Default)]
pub struct Stage {
    pub alive: AtomicUsize,
    /// Every launch so far.
    pub launched: Mutex<Vec<LaunchSpec>>,
    /// Runs cancelled while active.
    pub cancelled: AtomicUsize,
    /// Limits of all runs.
    pub runs: Mutex<Vec<RunLimits>>,
    /// Notified when a run begins.
    pub begun: Notify,
    gates: Mutex<HashMap<String, Arc<Semaphore>>>,
    death: Notify,
    /// Failures of the next launches.
    pub launches: Mutex<Vec<Launch>>,
}

pub enum Launch {
    Fail,
    Hang,
    Panic,
}

pub struct Stages(pub Arc<Stage>);

struct Actor {
    stage: Arc<Stage>,
    /// Number of runs so far: the state of this session.
    runs: u32,
    working: bool,
    dead: bool,
}

impl Stage {
    /// Sessions whose guests play on this stage.
    pub fn sessions(self: &Arc<Self>, config: SessionsConfig, quota: Option<SessionQuota>) -> Sessions {
        Sessions::new(
            Arc::new(Stages(Arc::clone(self))),
            Arc::new(NoFiles),
            Arc::new(NoCheck),
            config,
            quota,
        )
    }

    /// Opens a gate for all runs.
    pub fn open(&self, gate: &str) {
        self.gate(gate).add_permits(1000);
    }

    pub fn kill_idle(&self) {
        self.death.notify_waiters();
    }

    pub async fn until_alive(&self, alive: usize) {
        while self.alive.load(Ordering::SeqCst) != alive {
            // A guest ends a moment after its session; a paused clock advances only while every task sleeps.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn gate(&self, name: &str) -> Arc<Semaphore> {
        let mut gates = self.gates.lock().expect("no other panic");
        gates
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(0)))
            .clone()
    }
}

impl Backend for Stages {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>> {
        Box::pin(async move {
            let odd = self.0.launches.lock().expect("no other panic").pop();
            match odd {
                Some(Launch::Fail) => return Err(LaunchError::Failed("as scripted".to_owned())),
                Some(Launch::Hang) => std::future::pending().await,
                Some(Launch::Panic) => panic!("as scripted"),
                None => {}
            }
            self.0.launched.lock().expect("no other panic").push(spec);
            self.0.alive.fetch_add(1, Ordering::SeqCst);
            let guest: Box<dyn Guest> = Box::new(Actor {
                stage: self.0.clone(),
                runs: 0,
                working: false,
                dead: false,
            });
            Ok(guest)
        })
    }

    fn warm(&self) {}
}

impl Actor {
    fn outcome(&self, status: Status, session: SessionFate) -> Outcome {
        let error = (status != Status::Completed).then(|| GuestError {
            kind: "Scripted".to_owned(),
            message: "it ended".to_owned(),
            ..GuestError::default()
        });
        let mut outcome = Outcome::bare(status, session, error);
        outcome.result = Some(json!(self.runs));
        outcome
    }

    async fn act(&mut self, run: Run) -> Outcome {
        self.runs += 1;
        let (word, argument) = run.spec.code.split_once(' ').unwrap_or((&run.spec.code, ""));
        let gate = self.stage.gate(argument);
        match word {
            "say" => {
                // Lets other tasks run in the middle of every run.
                tokio::task::yield_now().await;
                let mut outcome = self.outcome(Status::Completed, SessionFate::Kept);
                outcome.stdout = Text::whole(argument);
                outcome
            }
            "lose" => self.outcome(Status::TimedOut, SessionFate::Lost),
            "hold" | "hold-hard" => {
                tokio::select! {
                    _ = gate.acquire() => self.outcome(Status::Completed, SessionFate::Kept),
                    () = run.cancel.cancelled() => {
                        self.stage.cancelled.fetch_add(1, Ordering::SeqCst);
                        let fate = if word == "hold" { SessionFate::Kept } else { SessionFate::Lost };
                        self.outcome(Status::Cancelled, fate)
                    }
                }
            }
            "ignore-everything" => std::future::pending().await,
            other => panic!("no such script: {other}"),
        }
    }
}

impl Guest for Actor {
    fn execute(&mut self, run: Run, _calls: Arc<dyn HostCalls>) -> BoxFuture<'_, Outcome> {
        assert!(
            !self.working && !self.dead,
            "one run at a time, and none after the end"
        );
        self.working = true;
        self.stage.runs.lock().expect("no other panic").push(run.limits());
        self.stage.begun.notify_one();
        Box::pin(async move {
            let outcome = self.act(run).await;
            self.working = false;
            self.dead = outcome.session == SessionFate::Lost;
            outcome
        })
    }

    fn attach(&mut self, _files: Vec<Attachment>) -> BoxFuture<'_, Result<(), LaunchError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn bound_files(&mut self, _most: Option<u64>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn unlinked(&mut self, _device: u64) -> u64 {
        0
    }

    fn memory(&self) -> Option<u64> {
        Some(MEMORY)
    }

    fn died(&mut self) -> BoxFuture<'_, ()> {
        assert!(!self.working, "only an idle guest is watched");
        Box::pin(async move {
            self.stage.death.notified().await;
            self.dead = true;
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { drop(self) })
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.stage.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

struct NoCalls;

impl HostCalls for NoCalls {
    fn call(
        &self,
        call: HostCall,
        _context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        panic!("no script calls the host, but {} was called", call.name);
    }
}

pub fn request(session: &str, code: &str) -> RunRequest {
    RunRequest {
        principal: Principal::local(),
        spec: RunSpec {
            session: match session {
                "" => Selector::Default,
                "new" => Selector::New,
                name => Selector::Named(SessionName::new(name)),
            },
            ..RunSpec::python(code, Granted::default())
        },
        profile: RunProfile {
            check: CheckMode::Off,
            ..RunProfile::default()
        },
        calls: Arc::new(NoCalls),
        cancel: CancellationToken::new(),
        record: RunRecord::none(mint_run()),
        turn: None,
        meter: CpuMeter::default(),
    }
}
