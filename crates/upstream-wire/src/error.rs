//! Why a server could not be started, and the end of its standard error.

use std::fmt;
use std::time::Duration;

/// Longest `PATH`, in bytes, that a message shows.
const MAX_SHOWN_PATH: usize = 120;
/// Endings of the first word of a line that reports an error.
const ERROR_WORDS: [&str; 6] = ["Error", "Exception", "error", "ERROR", "fatal", "FATAL"];

/// Why a server could not be started.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    /// The remote server cannot be reached or refuses the credentials.
    #[error("{cause}")]
    Unreachable {
        /// What failed, and the remedy.
        cause: String,
    },
    /// The remote server accepts only a person's login.
    #[error("{cause}")]
    LoginNeeded {
        /// The server's reason, and the command that logs in.
        cause: String,
    },
    /// The command does not exist.
    #[error(
        "command '{command}' was not found on PATH{}; give its full path in `command`",
        shown_path(path)
    )]
    CommandNotFound {
        /// The definition's command.
        command: String,
        /// The `PATH` that was searched.
        path: String,
    },
    /// The working directory does not exist.
    #[error("`cwd` '{cwd}' is not a directory")]
    WorkingDirectory {
        /// The definition's directory.
        cwd: String,
    },
    /// The operating system could not start the process.
    #[error("starting '{command}' failed: {cause}")]
    Spawn {
        /// The definition's command.
        command: String,
        /// The error of the operating system.
        cause: String,
    },
    /// The process ended before the handshake was complete.
    #[error("it {cause} before it answered")]
    Exited {
        /// How the process ended.
        cause: String,
    },
    /// The server did not complete the handshake in time.
    #[error("no answer to the handshake within {} ms{seen}", .after.as_millis())]
    Silent {
        /// How long the server had.
        after: Duration,
        /// The last warning about the server; it may explain the silence.
        seen: String,
    },
    /// The server refused the handshake.
    #[error("it refused the handshake: {cause}")]
    Handshake {
        /// The server's message.
        cause: String,
    },
}

impl StartError {
    /// Applies `hide` to each text except directories. Directories are not secret, and the person who
    /// corrects the definition needs them.
    pub(crate) fn map(self, hide: impl Fn(String) -> String + Copy) -> StartError {
        match self {
            StartError::Unreachable { cause } => StartError::Unreachable { cause: hide(cause) },
            StartError::LoginNeeded { cause } => StartError::LoginNeeded { cause: hide(cause) },
            StartError::CommandNotFound { command, path } => StartError::CommandNotFound {
                command: hide(command),
                path,
            },
            StartError::WorkingDirectory { cwd } => StartError::WorkingDirectory { cwd },
            StartError::Spawn { command, cause } => StartError::Spawn {
                command: hide(command),
                cause: hide(cause),
            },
            StartError::Exited { cause } => StartError::Exited { cause: hide(cause) },
            StartError::Silent { after, seen } => StartError::Silent {
                after,
                seen: hide(seen),
            },
            StartError::Handshake { cause } => StartError::Handshake { cause: hide(cause) },
        }
    }
}

/// The end of a server's standard error, as a suffix for a message; empty if the server wrote nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StderrTail(pub String);

fn shown_path(path: &str) -> String {
    match path.len() {
        0..=MAX_SHOWN_PATH => format!(" ({path})"),
        _ => String::new(),
    }
}

impl StderrTail {
    /// The last line that reports an error, as a prefix for a message; empty unless there are several lines.
    pub fn reason(&self) -> String {
        if !self.0.contains('\n') {
            return String::new();
        }
        let reports_error = |line: &&str| {
            let first_word = line.split([':', ' ']).next().unwrap_or_default();
            line.contains(':') && ERROR_WORDS.iter().any(|end| first_word.ends_with(end))
        };
        let reason = self.0.lines().map(str::trim).rfind(reports_error);
        reason.map_or(String::new(), |reason| format!("{reason}; "))
    }
}

impl fmt::Display for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        let separator = if self.0.contains('\n') { '\n' } else { ' ' };
        write!(f, "; it wrote to stderr:{separator}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_left_out() {
        let error = |path: &str| {
            let (command, path) = ("x".to_owned(), path.to_owned());
            StartError::CommandNotFound { command, path }.to_string()
        };
        assert!(error("/usr/bin:/bin").contains("on PATH (/usr/bin:/bin); give"));
        assert!(error(&"/a".repeat(100)).contains("on PATH; give"));
    }
}
