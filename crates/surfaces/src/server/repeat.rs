//! Repeats a recorded program with the result of `shell_exec`, outside of MCP.

use broker::RunClient;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use types::{Appearance, Granted, Language, Results};

use super::handler::{ServerSurfaceConfig, execution, rendered};
use super::service::{CommandLine, MetaTools};
use crate::error::RunError;

/// A recorded program.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedProgram {
    /// The text.
    pub code: String,
    /// `None` for a line of the constrained commands.
    pub language: Option<Language>,
    /// What the program sees of its surface.
    pub appearance: Appearance,
    /// Which results leave the session.
    pub results: Results,
}

/// Runs the program and returns the object that `shell_exec` answers.
///
/// # Errors
/// If the program was not run.
pub async fn repeat<S: MetaTools>(
    service: &S,
    config: &ServerSurfaceConfig,
    program: RepeatedProgram,
    cancel: CancellationToken,
) -> Result<Value, RunError> {
    let limits = config.policy.limits_within(None)?;
    let (wall_time, code) = (limits.wall_time, program.code.clone());
    let run = match program.language {
        None => {
            let line = CommandLine {
                line: program.code,
                limits,
                trace: None,
            };
            service.evaluate(line, cancel).await?
        }
        Some(language) => {
            let granted = Granted {
                limits,
                named: Vec::new(),
            };
            let program = execution(program, language, granted, config.max_printed);
            service.run(program, cancel, RunClient::default()).await?
        }
    };
    let result = rendered(run, config, &code, wall_time);
    Ok(result.structured_content.unwrap_or_default())
}
