//! A guest: a conversation that ends with the session's disk quota.

use std::sync::Arc;
use std::time::Duration;

use sandbox::{Attachment, BoxFuture, Conversation, Guest, HostCalls, LaunchError, Leash as _, Run};
use tokio::time::{Instant, interval_at};
use types::{GuestError, Outcome, SessionFate, Status};

use crate::leash::LandlockLeash;

/// Time between two looks at a session that is idle.
const PERIOD: Duration = Duration::from_secs(1);
/// A session that has used no processor for so long has been measured since.
const SETTLING: Duration = Duration::from_secs(10);

/// One guest.
pub struct LandlockGuest(pub Conversation<LandlockLeash>);

/// What is known of a session between two runs.
#[derive(Default)]
struct Idle {
    cpu: Option<Duration>,
    /// When it last was found to have used the processor.
    active: Option<Instant>,
}

impl Idle {
    /// Ends a session whose programs, left behind by a run, have exceeded a limit that nothing binds. What uses no
    /// processor grows no more.
    fn look(&mut self, leash: &mut LandlockLeash) {
        let cpu = leash.measure().cpu;
        if cpu != self.cpu {
            (self.cpu, self.active) = (cpu, Some(Instant::now()));
        }
        let is_active = self.active.is_some_and(|active| active.elapsed() < SETTLING);
        if is_active && let Some(limit) = leash.exceeded() {
            tracing::info!(%limit, "what an idle session left running exceeded a limit");
            leash.kill();
        }
    }
}

impl Guest for LandlockGuest {
    fn execute(&mut self, run: Run, calls: Arc<dyn HostCalls>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            // Runs that are over before they are looked at must not escape, however many they are.
            let leash = self.0.leash();
            let Some(limit) = leash.outgrown() else {
                return self.0.execute(run, calls).await;
            };
            leash.kill();
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
            let mut idle = Idle::default();
            loop {
                tokio::select! {
                    biased;
                    () = self.0.died() => return,
                    _ = looks.tick() => idle.look(self.0.leash()),
                }
            }
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::new(self.0).close()
    }
}
