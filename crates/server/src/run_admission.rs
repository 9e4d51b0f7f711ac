//! Whether and when a user's program may run at a virtual server: S0-47's rate, and the user's turn.

use std::time::Duration;

use sandbox::BoxFuture;
use session::SessionError;
use store::accounts::Moment;
use store::rate_windows::Taken;
use store::{Front, Refused};
use surfaces::RunError;
use tokio_util::sync::CancellationToken;

use crate::Caller;
use crate::fair_turns::Turn;

const WINDOW: Duration = Duration::from_secs(60);

impl Caller {
    /// Counts a run that a client asks for, over all processes on the database. A run beyond the rate is recorded as
    /// refused.
    pub(crate) async fn count_run(&self, language: Option<&'static str>, code: &str) -> Result<(), RunError> {
        let Some(served) = &self.shared.served else {
            return Ok(());
        };
        let most = served.runs_per_minute;
        let key = format!("runs:{}:{}", served.server, self.principal);
        let windows = &served.admission.windows;
        match windows.take(&key, most, WINDOW, Moment::Database).await {
            Ok(Taken::Granted) => Ok(()),
            Ok(Taken::Until(_)) => {
                let attempt = self.attempt(Front::Mcp, language, Some(code), None);
                // The program is refused either way; the writer reports a failure to record.
                let _ = self.shared.records.refused(attempt, Refused::RateLimit).await;
                Err(RunError::RateLimited { most })
            }
            Err(trouble) => {
                tracing::warn!(%trouble, "a run could not be counted");
                Err(RunError::NotCounted)
            }
        }
    }

    /// Waits for the user's turn, for a run of a session.
    pub(crate) fn turn(&self) -> Option<BoxFuture<'static, Box<dyn Send>>> {
        let turns = self.shared.served.as_ref()?.admission.turns.clone();
        let user = self.principal.clone();
        Some(Box::pin(async move {
            let turn: Box<dyn Send> = Box::new(turns.take(&user).await);
            turn
        }))
    }

    /// Waits for the user's turn, for a line of commands, which has no session.
    pub(crate) async fn turn_of_line(&self, cancel: &CancellationToken) -> Result<Option<Turn>, RunError> {
        let Some(served) = &self.shared.served else {
            return Ok(None);
        };
        tokio::select! {
            biased;
            () = served.ended.cancelled() => Err(SessionError::Closing.into()),
            () = cancel.cancelled() => Err(RunError::Cancelled),
            turn = served.admission.turns.take(&self.principal) => Ok(Some(turn)),
        }
    }
}
