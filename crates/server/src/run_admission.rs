//! Whether a user's program may run at a virtual server now: S0-47's rate, and the user's turn.

use std::time::Duration;

use store::accounts::Moment;
use store::rate_windows::Taken;
use store::{Front, Refused};
use surfaces::RunError;
use tokio_util::sync::CancellationToken;

use crate::Caller;
use crate::fair_turns::{MOST_WAITING, TooManyWait, Turn};
use crate::served::Served;

const WINDOW: Duration = Duration::from_secs(60);

impl Caller {
    /// Counts a run that a client asks for, over all processes on the database, and waits for the user's turn. The run
    /// holds the turn until its end. A refused run is recorded.
    pub(crate) async fn take_run(
        &self,
        language: Option<&'static str>,
        code: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Turn>, RunError> {
        let Some(served) = &self.shared.served else {
            return Ok(None);
        };
        self.count_run(served, language, code).await?;
        let turn = cancel.run_until_cancelled(served.admission.turns.take(&self.principal));
        match turn.await {
            Some(Ok(turn)) => Ok(Some(turn)),
            Some(Err(TooManyWait)) => {
                self.record_refused(language, code, Refused::QueueFull).await;
                Err(RunError::TooManyWait(MOST_WAITING))
            }
            None => Err(RunError::Cancelled),
        }
    }

    async fn count_run(
        &self,
        served: &Served,
        language: Option<&'static str>,
        code: &str,
    ) -> Result<(), RunError> {
        let (server, most) = (&served.server, served.runs_per_minute);
        let key = format!("runs:{server}:{}", self.principal);
        let windows = &served.admission.windows;
        let taken = windows.take(&key, most, WINDOW, Moment::Database);
        match taken.await {
            Ok(Taken::Granted) => Ok(()),
            Ok(Taken::Until(_)) => {
                self.record_refused(language, code, Refused::RateLimit).await;
                Err(RunError::RateLimited { most })
            }
            Err(trouble) => {
                tracing::warn!(%trouble, "a run could not be counted");
                Err(RunError::NotCounted)
            }
        }
    }

    async fn record_refused(&self, language: Option<&'static str>, code: &str, why: Refused) {
        let attempt = self.attempt(Front::Mcp, language, Some(code), None);
        // The program is refused either way; the writer reports a failure to record.
        let _ = self.shared.records.refused(attempt, why).await;
    }
}
