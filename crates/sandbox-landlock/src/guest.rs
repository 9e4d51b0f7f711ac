//! A guest: a conversation that ends when the session exceeds a limit that the kernel does not enforce.

use std::sync::Arc;
use std::time::Duration;

use sandbox::{Attachment, BoxFuture, Conversation, Guest, GuestProcesses as _, HostCalls, LaunchError, Run};
use tokio::time::{Instant, interval_at};
use types::{GuestError, Outcome, SessionFate, Status};

use crate::processes::SessionProcesses;

const PERIOD: Duration = Duration::from_secs(1);
/// After this time without CPU use, a session has been measured, and the backend stops watching it.
const ACTIVE_TIME: Duration = Duration::from_secs(10);

pub struct LandlockGuest(pub Conversation<SessionProcesses>);

#[derive(Default)]
struct IdleWatch {
    cpu: Option<Duration>,
    /// When the session was last seen to use the CPU.
    last_active: Option<Instant>,
}

impl IdleWatch {
    /// Ends a session whose remaining processes have exceeded a limit that the kernel does not enforce. Processes that
    /// use no CPU do not grow.
    fn look(&mut self, processes: &mut SessionProcesses) {
        let cpu = processes.measure().cpu;
        if cpu != self.cpu {
            (self.cpu, self.last_active) = (cpu, Some(Instant::now()));
        }
        let is_active = self
            .last_active
            .is_some_and(|active| active.elapsed() < ACTIVE_TIME);
        if is_active && let Some(limit) = processes.exceeded() {
            tracing::info!(%limit, "a process left by an idle session exceeded a limit");
            processes.kill();
        }
    }
}

impl Guest for LandlockGuest {
    fn execute(&mut self, run: Run, calls: Arc<dyn HostCalls>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            // A run may end before the session is measured, so each run also starts with a check.
            let processes = self.0.processes();
            let Some(limit) = processes.exceeded_disk() else {
                return self.0.execute(run, calls).await;
            };
            processes.kill();
            let error = GuestError {
                kind: "LimitExceeded".to_owned(),
                message: format!("earlier runs of the session exceeded its limit `{limit}`"),
                ..GuestError::default()
            };
            let status = Status::LimitExceeded { limit };
            Outcome::bare(status, SessionFate::Lost, Some(error))
        })
    }

    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), LaunchError>> {
        self.0.attach(files)
    }

    fn bound_files(&mut self, most: Option<u64>) -> BoxFuture<'_, ()> {
        self.0.bound_files(most)
    }

    fn unlinked(&mut self, device: u64) -> u64 {
        self.0.unlinked(device)
    }

    fn memory(&self) -> Option<u64> {
        self.0.memory()
    }

    fn died(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut looks = interval_at(Instant::now() + PERIOD, PERIOD);
            let mut watch = IdleWatch::default();
            loop {
                tokio::select! {
                    biased;
                    () = self.0.died() => return,
                    _ = looks.tick() => watch.look(self.0.processes()),
                }
            }
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::new(self.0).close()
    }
}
