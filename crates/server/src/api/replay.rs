//! S0-79: repeats a recorded run as the caller.

use std::time::Duration;

use ::replay::{ProgramKind, RecordedProgram};
use gateway::{ApiReply, ApiRequest};
use identity::{Identity, Permission};
use rest::RestError;
use session::SessionError;
use surfaces::{RepeatedProgram, RunError};
use tokio_util::sync::CancellationToken;
use types::{RunId, ServerId, VirtualServer};

use super::errors::{refused, unavailable};
use super::servers::{id_in, owned};
use super::{GatewayApi, json};
use crate::meta_tools::SessionTools;
use crate::run_recordings::ReplayError;

/// The window of the rate, after which a run is certainly granted.
const RATE_WINDOW: Duration = Duration::from_secs(60);

/// Until a session may be free.
const BUSY: Duration = Duration::from_secs(1);

impl GatewayApi {
    pub(super) async fn replay_run(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let id = id_in(request);
        let server = self.replayed_server(identity, &id).await?;
        let run = RunId::new(request.parameters.get("run").cloned().unwrap_or_default());
        let program = self.recorded_program(identity, &server, &run).await?;
        let live = self.live(identity, &server).await?;
        let caller = live.host.caller(identity.principal().clone());
        let config = caller.server_surface_config();
        let tools = SessionTools::new(caller);
        // A client that goes away drops the future, which cancels the run.
        let repeated = surfaces::repeat(&tools, &config, repeated(program), CancellationToken::new());
        let mut result = repeated.await.map_err(of_run)?;
        result["replayed_from_run_id"] = run.as_str().into();
        json(200, &result)
    }

    async fn replayed_server(&self, identity: &Identity, id: &ServerId) -> Result<VirtualServer, RestError> {
        let missing = || RestError::BadRequest(format!("Server not found: {id}"));
        let found = self.server(identity, id).await;
        let server = found.map_err(|error| match error {
            RestError::NotFound(_) => missing(),
            other => other,
        })?;
        identity
            .decide(Permission::ServersUse, &owned(&server))
            .map_err(refused)?;
        // A repeated run is a `shell_exec`.
        let can_run = !self.parts.settings.disabled_tools.contains(&"shell_exec");
        match self.code_surface(&server)? {
            None => Err(missing()),
            Some(_) if self.parts.settings.replay && can_run => Ok(server),
            Some(_) => Err(RestError::BadRequest(
                "Replay is disabled by configuration".to_owned(),
            )),
        }
    }

    /// The program of a run that the caller may see. A run that is another's or another server's does not exist.
    async fn recorded_program(
        &self,
        identity: &Identity,
        server: &VirtualServer,
        run: &RunId,
    ) -> Result<RecordedProgram, RestError> {
        let recordings = &self.parts.host.shared.recordings;
        let found = recordings.find(run).await.map_err(of_replay)?;
        let seen = found.filter(|row| {
            let is_of_server = row.server.as_ref() == Some(&server.id)
                && row.principal.tenant() == &server.tenant
                && row.asked_ms >= server.created_ms;
            is_of_server && identity.may_see_record(&row.principal, server.settings.team.as_ref())
        });
        let row = seen.ok_or_else(|| of_replay(ReplayError::NotFound(run.clone())))?;
        let recording = recordings.open(run, &row).map_err(of_replay)?;
        Ok(recording.program)
    }
}

fn repeated(program: RecordedProgram) -> RepeatedProgram {
    RepeatedProgram {
        code: program.code,
        language: match program.kind {
            ProgramKind::Program(language) => Some(language),
            ProgramKind::Line => None,
        },
        appearance: program.appearance,
        results: program.results,
    }
}

fn of_replay(error: ReplayError) -> RestError {
    match error {
        ReplayError::Database(trouble) => unavailable(&trouble),
        error => RestError::BadRequest(error.to_string()),
    }
}

/// Why the program was not run.
fn of_run(error: RunError) -> RestError {
    let message = error.to_string();
    match error {
        RunError::RateLimited { .. } => RestError::TooManyRequests {
            message,
            retry_after: RATE_WINDOW,
        },
        RunError::CpuQuota { retry_in, .. } => RestError::TooManyRequests {
            message,
            retry_after: retry_in,
        },
        RunError::Session(SessionError::Limit { .. }) | RunError::Timeout(_) => {
            RestError::BadRequest(message)
        }
        _ => RestError::Unavailable {
            message,
            retry_after: BUSY,
        },
    }
}
