//! Exit codes, as in `codeyard --help` and the documents.

use std::process::ExitCode;

use adoption::AdoptionError;
use registry::EditError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The program failed, or the tool reported an error.
    ProgramFailed,
    /// The command line or a configuration file is wrong.
    Usage,
    /// This machine lacks the required sandbox.
    Refused,
    /// An upstream server failed.
    Upstream,
    /// Codeyard itself failed.
    Broken,
    /// The audit table was changed from outside.
    Tampered,
    /// The program exceeded its time limit.
    TimedOut,
    /// A signal ended it.
    Signal(u8),
}

impl Exit {
    /// The code for the shell.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::ProgramFailed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Upstream => 4,
            Exit::Broken => 5,
            Exit::Tampered => 6,
            // As `timeout` does.
            Exit::TimedOut => 124,
            // As a shell does for a program ended by a signal.
            Exit::Signal(number) => 128_u8.saturating_add(number),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// An error that sets the exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub exit: Exit,
    /// Printed on standard error.
    pub message: String,
}

impl Failure {
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self {
            exit,
            message: message.to_string(),
        }
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        let exit = match error {
            EditError::WhichFile(_)
            | EditError::Read { .. }
            | EditError::Comments(_)
            | EditError::Mistakes(_) => Exit::Usage,
            EditError::Changed(_) | EditError::Write { .. } => Exit::Broken,
        };
        Failure::new(exit, error)
    }
}

impl From<AdoptionError> for Failure {
    fn from(error: AdoptionError) -> Self {
        let exit = match error {
            AdoptionError::Edit(error) => return error.into(),
            AdoptionError::ChangedFile(_)
            | AdoptionError::ChangedInstallations(_)
            | AdoptionError::Write { .. }
            | AdoptionError::State(_) => Exit::Broken,
            _ => Exit::Usage,
        };
        Failure::new(exit, error)
    }
}

/// The exit code an error carries, else [`Exit::Broken`].
pub fn of(error: &anyhow::Error) -> Exit {
    error
        .downcast_ref::<Failure>()
        .map_or(Exit::Broken, |failure| failure.exit)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_help_lists_every_code() {
        let help = Cli::command().render_long_help().to_string();
        let all = [
            Exit::Done,
            Exit::ProgramFailed,
            Exit::Usage,
            Exit::Refused,
            Exit::Upstream,
            Exit::Broken,
            Exit::Tampered,
            Exit::TimedOut,
        ];
        for exit in all {
            assert!(help.contains(&format!("\n  {}  ", exit.code())), "{exit:?}");
        }
        assert!(help.contains("130, 143, 129"));
        assert_eq!(Exit::Signal(2).code(), 130);
    }
}
