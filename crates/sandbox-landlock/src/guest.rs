//! A guest: a conversation that ends with the session's disk quota.

use std::sync::Arc;

use sandbox::{Attachment, BoxFuture, Conversation, Guest, HostCalls, LaunchError, Leash as _, Run};
use types::{GuestError, Outcome, SessionFate, Status};

use crate::leash::LandlockLeash;

/// One guest.
pub struct LandlockGuest(pub Conversation<LandlockLeash>);

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
                traceback: String::new(),
            };
            let status = Status::LimitExceeded { limit };
            Outcome::bare(status, SessionFate::Lost, Some(error))
        })
    }

    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), LaunchError>> {
        self.0.attach(files)
    }

    fn memory(&self) -> Option<u64> {
        self.0.memory()
    }

    fn died(&mut self) -> BoxFuture<'_, ()> {
        self.0.died()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::new(self.0).close()
    }
}
