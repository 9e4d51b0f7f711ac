//! S0-47: how often a user may run programs at a virtual server.

use std::time::Duration;

use store::accounts::Moment;
use store::rate_windows::Taken;
use store::{Front, Refused};
use surfaces::RunError;

use crate::Caller;

const WINDOW: Duration = Duration::from_secs(60);

impl Caller {
    /// Counts a run that a client asks for, over all processes on the database. A refused one is recorded.
    pub(crate) async fn take_run(&self, language: Option<&'static str>, code: &str) -> Result<(), RunError> {
        let Some(served) = &self.shared.served else {
            return Ok(());
        };
        let (server, most) = (&served.server, served.runs_per_minute);
        let key = format!("runs:{server}:{}", self.principal);
        match served.windows.take(&key, most, WINDOW, Moment::Database).await {
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
}
