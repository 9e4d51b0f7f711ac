//! Why an upstream server could not do what it was asked; every message names the server.

use std::time::Duration;

/// A failed start, listing or call of an upstream server.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamError {
    /// No server of that name is configured.
    #[error("no server named '{server}' is configured")]
    UnknownServer {
        /// The name asked for.
        server: String,
    },
    /// The definition would start codeyard again.
    #[error(
        "server '{server}' is left out: its command would start codeyard itself; remove the entry from the configuration"
    )]
    SelfReference {
        /// The server's name.
        server: String,
    },
    /// The server could not be started.
    #[error("server '{server}' did not start: {}{cause}{stderr}", stderr.reason())]
    Start {
        /// The server's name.
        server: String,
        /// What went wrong.
        cause: StartError,
        /// The end of what it wrote to standard error.
        stderr: StderrTail,
    },
    /// The server failed just now and is not tried again yet.
    #[error("{cause}; it is tried again in {} ms at the earliest", .retry_in.as_millis())]
    BackOff {
        /// The server's name.
        server: String,
        /// What went wrong the last time; names the server.
        cause: Box<UpstreamError>,
        /// When the next attempt is made.
        retry_in: Duration,
    },
    /// Several calls in a row failed, and the server is left alone for a while.
    #[error(
        "server '{server}' is left alone: {failures} calls in a row failed, the last one because {cause}; it is tried again in {} ms at the earliest",
        .retry_in.as_millis()
    )]
    Suspended {
        /// The server's name.
        server: String,
        /// How many failed.
        failures: u32,
        /// What went wrong the last time; names the server.
        cause: Box<UpstreamError>,
        /// When the next attempt is made.
        retry_in: Duration,
    },
    /// As many calls as it may have were under way all the time.
    #[error(
        "server '{server}' has {limit} calls under way (`maxCalls`), and {request} found no place among them within {} ms",
        .after.as_millis()
    )]
    Busy {
        /// The server's name.
        server: String,
        /// What was to begin.
        request: String,
        /// How many it may have.
        limit: u32,
        /// How long it waited.
        after: Duration,
    },
    /// The server ended while the call was under way.
    #[error("server '{server}' ended during {request}: {cause}{stderr}")]
    Gone {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
        /// How it ended.
        cause: String,
        /// The end of what it wrote to standard error.
        stderr: StderrTail,
    },
    /// Its start takes longer than the call could wait, and goes on.
    #[error(
        "server '{server}' did not answer its start within {} ms; it is still starting, a later call may find it ready",
        .after.as_millis()
    )]
    Starting {
        /// The server's name.
        server: String,
        /// How long the call waited.
        after: Duration,
    },
    /// No answer in time.
    #[error("server '{server}' did not answer {request} within {} ms{seen}", .after.as_millis())]
    Timeout {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
        /// How long it had.
        after: Duration,
        /// What it did instead, if that may explain the silence.
        seen: String,
    },
    /// A remote server gave no answer.
    #[error("server '{server}' did not answer {request}: {cause}")]
    Unanswered {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
        /// What it did instead.
        cause: String,
        /// When the same request may be answered, if it may at all: zero unless the server has said.
        again_in: Option<Duration>,
    },
    /// The answer was longer than a line may be.
    #[error(
        "server '{server}' answered {request} with {bytes} bytes, more than the {limit} a message may have; ask it for less at a time"
    )]
    TooLarge {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
        /// Length of its line.
        bytes: u64,
        /// Longest line that is read.
        limit: u64,
    },
    /// The server answered with a protocol error.
    #[error("server '{server}' refused {request}: {message} (code {code})")]
    Refused {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
        /// Code of the JSON-RPC error.
        code: i64,
        /// The server's words.
        message: String,
        /// What came with them.
        data: Option<Box<serde_json::Value>>,
    },
    /// The answer is no result of the protocol.
    #[error("server '{server}' answered {request} with something that is no result: {cause}{stderr}")]
    BadAnswer {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
        /// What is wrong with it.
        cause: String,
        /// The end of what it wrote to standard error.
        stderr: StderrTail,
    },
    /// The server wants input from a person before it goes on.
    #[error(
        "server '{server}' asks a person for input before it answers {request}; codeyard cannot pass the question on yet"
    )]
    InputRequired {
        /// The server's name.
        server: String,
        /// What was under way.
        request: String,
    },
    /// The definition was changed or removed after the call had chosen the server.
    #[error("server '{server}' is not called any more: its definition was changed or removed; call it again")]
    Replaced {
        /// The server's name.
        server: String,
    },
    /// The hub is shutting down.
    #[error("server '{server}' is not called any more: codeyard is ending")]
    ShuttingDown {
        /// The server's name.
        server: String,
    },
}

/// Why a server could not be started.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    /// There is no way to it, or it lets us not in.
    #[error("{cause}")]
    Unreachable {
        /// What stands in the way, and what can be done.
        cause: String,
    },
    /// It lets in only who has logged in.
    #[error("{cause}")]
    LoginNeeded {
        /// What it said, and what to do.
        cause: String,
    },
    /// The command is not there.
    #[error(
        "command '{command}' was not found on PATH{}; give its full path in `command`",
        in_short(path)
    )]
    CommandNotFound {
        /// The definition's command.
        command: String,
        /// Where it was looked for.
        path: String,
    },
    /// The working directory is not there.
    #[error("`cwd` '{cwd}' is no directory")]
    WorkingDirectory {
        /// The definition's directory.
        cwd: String,
    },
    /// The process could not be made.
    #[error("starting '{command}' failed: {cause}")]
    Spawn {
        /// The definition's command.
        command: String,
        /// The system's words.
        cause: String,
    },
    /// It ended before the handshake was over.
    #[error("it {cause} before it answered")]
    Exited {
        /// How it ended.
        cause: String,
    },
    /// It did not finish the handshake in time.
    #[error("no answer to the handshake within {} ms{seen}", .after.as_millis())]
    Silent {
        /// How long it had.
        after: Duration,
        /// What it did instead, if that may explain the silence.
        seen: String,
    },
    /// Nor did it start when it was greeted in the other way before, which says less.
    #[error("{last}")]
    Twice {
        /// The first attempt.
        first: Box<StartError>,
        /// The last one.
        last: Box<StartError>,
    },
    /// It answered the handshake with an error.
    #[error("it refused the handshake: {cause}")]
    Handshake {
        /// Its words.
        cause: String,
    },
}

impl StartError {
    /// The same in other words.
    pub(crate) fn map(self, say: impl Fn(String) -> String + Copy) -> StartError {
        match self {
            StartError::Unreachable { cause } => StartError::Unreachable { cause: say(cause) },
            StartError::LoginNeeded { cause } => StartError::LoginNeeded { cause: say(cause) },
            // Directories are no secrets, and who mends the definition has to see them.
            StartError::CommandNotFound { command, path } => StartError::CommandNotFound {
                command: say(command),
                path,
            },
            StartError::WorkingDirectory { cwd } => StartError::WorkingDirectory { cwd },
            StartError::Spawn { command, cause } => StartError::Spawn {
                command: say(command),
                cause: say(cause),
            },
            StartError::Exited { cause } => StartError::Exited { cause: say(cause) },
            StartError::Silent { after, seen } => StartError::Silent {
                after,
                seen: say(seen),
            },
            StartError::Twice { first, last } => StartError::Twice {
                first: Box::new((*first).map(say)),
                last: Box::new((*last).map(say)),
            },
            StartError::Handshake { cause } => StartError::Handshake { cause: say(cause) },
        }
    }
}

/// The end of a server's standard error, ready to be appended to a message; empty if it wrote nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StderrTail(pub(crate) String);

/// The places where a command was looked for, unless they are too many to read.
fn in_short(path: &str) -> String {
    match path.len() {
        0..=LONGEST_PATH => format!(" ({path})"),
        _ => String::new(),
    }
}

/// Longest `PATH` that a message shows.
const LONGEST_PATH: usize = 120;

/// Ends of the words by which a line says what went wrong.
const ERRORS: [&str; 6] = ["Error", "Exception", "error", "ERROR", "fatal", "FATAL"];

impl StderrTail {
    /// The line of several that says what went wrong, to stand first: the last that begins as errors do; with what goes before
    /// the rest of a message.
    fn reason(&self) -> String {
        if !self.0.contains('\n') {
            return String::new();
        }
        let is_one = |line: &&str| {
            let kind = line.split([':', ' ']).next().unwrap_or_default();
            line.contains(':') && ERRORS.iter().any(|end| kind.ends_with(end))
        };
        let reason = self.0.lines().map(str::trim).rfind(is_one);
        reason.map_or(String::new(), |reason| format!("{reason}; "))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for StderrTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        if self.0.contains('\n') {
            return write!(f, "; it wrote to stderr:\n{}", self.0);
        }
        write!(f, "; it wrote to stderr: {}", self.0)
    }
}

impl UpstreamError {
    /// The server's name.
    pub fn server(&self) -> &str {
        match self {
            UpstreamError::UnknownServer { server }
            | UpstreamError::SelfReference { server }
            | UpstreamError::Start { server, .. }
            | UpstreamError::BackOff { server, .. }
            | UpstreamError::Suspended { server, .. }
            | UpstreamError::Busy { server, .. }
            | UpstreamError::Gone { server, .. }
            | UpstreamError::Starting { server, .. }
            | UpstreamError::Timeout { server, .. }
            | UpstreamError::Unanswered { server, .. }
            | UpstreamError::TooLarge { server, .. }
            | UpstreamError::Refused { server, .. }
            | UpstreamError::BadAnswer { server, .. }
            | UpstreamError::InputRequired { server, .. }
            | UpstreamError::Replaced { server }
            | UpstreamError::ShuttingDown { server } => server,
        }
    }

    /// Whether it waits for somebody to log in: no pause makes that better, and a login may come at any moment.
    pub(crate) fn awaits_login(&self) -> bool {
        matches!(
            self,
            UpstreamError::Start {
                cause: StartError::LoginNeeded { .. },
                ..
            }
        )
    }

    /// A failed start after another one that failed in its own way.
    pub(crate) fn after(self, first: UpstreamError) -> UpstreamError {
        match (first, self) {
            (
                UpstreamError::Start { cause: first, .. },
                UpstreamError::Start {
                    server,
                    cause: last,
                    stderr,
                },
            ) if first.to_string() != last.to_string() => UpstreamError::Start {
                server,
                cause: StartError::Twice {
                    first: Box::new(first),
                    last: Box::new(last),
                },
                stderr,
            },
            (_, last) => last,
        }
    }

    /// Whether the same call may succeed later: the server ended, was slow or is held back, and did not refuse.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            UpstreamError::BackOff { .. }
                | UpstreamError::Suspended { .. }
                | UpstreamError::Busy { .. }
                | UpstreamError::Gone { .. }
                | UpstreamError::Starting { .. }
                | UpstreamError::Timeout { .. }
                | UpstreamError::Unanswered {
                    again_in: Some(_),
                    ..
                }
                | UpstreamError::Replaced { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stderr: &str, expected: &str) {
        let error = UpstreamError::Start {
            server: "s".to_owned(),
            cause: StartError::Exited {
                cause: "exited with status 1".to_owned(),
            },
            stderr: StderrTail(stderr.to_owned()),
        };
        assert_eq!(error.to_string(), format!("server 's' did not start: {expected}"));
    }

    #[test]
    fn what_went_wrong_stands_first() {
        let exited = "it exited with status 1 before it answered";
        check("", exited);
        check("no key", &format!("{exited}; it wrote to stderr: no key"));
        for (stderr, reason) in [
            (
                "Traceback:\n  line 3\nRuntimeError: no URL",
                "RuntimeError: no URL; ",
            ),
            ("at x.js:3\n\nError: no key\n    at main", "Error: no key; "),
            ("fatal: no key\nbye", "fatal: no key; "),
            ("first\nsecond", ""),
        ] {
            check(
                stderr,
                &format!("{reason}{exited}; it wrote to stderr:\n{stderr}"),
            );
        }
    }

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
