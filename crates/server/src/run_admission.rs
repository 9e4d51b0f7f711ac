//! Whether and when a user's program may run at a virtual server: S0-47's rate, quotas of CPU time, and the user's turn.

use std::time::Duration;

use sandbox::BoxFuture;
use session::{CpuMeter, SessionError};
use store::accounts::Moment;
use store::rate_windows::RateDecision;
use store::{Front, Refused};
use surfaces::RunError;
use tokio_util::sync::CancellationToken;

use crate::Caller;
use crate::fair_turns::Turn;
use crate::served::Served;

const WINDOW: Duration = Duration::from_secs(60);

impl Caller {
    /// Counts a run that a client asks for, over all processes on the database. A run beyond the rate is recorded as
    /// refused.
    pub(crate) async fn count_run(&self, language: Option<&'static str>, code: &str) -> Result<(), RunError> {
        let Some(served) = &self.shared.served else {
            return Ok(());
        };
        self.check_cpu(served, language, code).await?;
        let most = served.runs_per_minute;
        let key = format!("runs:{}:{}", served.server, self.principal);
        let windows = &served.admission.windows;
        match windows.take(&key, most, WINDOW, Moment::Database).await {
            Ok(RateDecision::Granted) => Ok(()),
            Ok(RateDecision::Until(_)) => {
                self.refuse(language, code, Refused::RateLimit).await;
                Err(RunError::RateLimited { most })
            }
            Err(trouble) => {
                tracing::warn!(%trouble, "a run could not be counted");
                Err(RunError::NotCounted)
            }
        }
    }

    /// Refuses a run whose user or tenant has used up a quota of CPU time.
    async fn check_cpu(
        &self,
        served: &Served,
        language: Option<&'static str>,
        code: &str,
    ) -> Result<(), RunError> {
        match served.admission.cpu.exhausted(&self.principal).await {
            Ok(None) => Ok(()),
            Ok(Some(exhausted)) => {
                self.refuse(language, code, Refused::CpuQuota).await;
                Err(RunError::CpuQuota {
                    setting: exhausted.setting,
                    used: exhausted.used,
                    seconds_per_minute: exhausted.seconds_per_minute,
                    retry_in: exhausted.retry_in,
                })
            }
            Err(trouble) => {
                tracing::warn!(%trouble, "the CPU time of a user could not be read");
                Err(RunError::NotCounted)
            }
        }
    }

    async fn refuse(&self, language: Option<&'static str>, code: &str, why: Refused) {
        self.shared.runs.note_refused(self.client.get());
        let attempt = self.attempt(Front::Mcp, language, Some(code), None);
        // The program is refused either way; the writer reports a failure to record.
        let _ = self.shared.records.refused(attempt, why).await;
    }

    /// Measures what the user is charged for a run. Counts nothing outside virtual servers.
    pub(crate) fn cpu_meter(&self) -> CpuMeter {
        let served = self.shared.served.as_ref();
        let meter = served.map(|served| served.admission.cpu.meter(&self.principal));
        meter.unwrap_or_default()
    }

    /// Charges the user for what was measured until now.
    pub(crate) async fn charge(&self, meter: &CpuMeter) {
        if let Some(served) = &self.shared.served {
            served.admission.cpu.add(&self.principal, meter.take()).await;
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
