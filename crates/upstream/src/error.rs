//! Errors of starts, lists and calls.
//!
//! Every message names the server.

use std::time::Duration;

use upstream_wire::{StartError, StderrTail};

/// A failed start, listing or call of an upstream server.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamError {
    /// No server of that name is configured.
    #[error("no server named '{server}' is configured")]
    UnknownServer {
        /// The requested name.
        server: String,
    },
    /// The definition would start codeyard again.
    #[error(
        "server '{server}' is left out: its command would start codeyard itself; remove the entry from the configuration"
    )]
    SelfReference {
        /// As configured.
        server: String,
    },
    /// The server could not be started.
    #[error("server '{server}' did not start: {}{cause}{stderr}", stderr.reason())]
    Start {
        /// As configured.
        server: String,
        /// Why the start failed.
        cause: StartError,
        /// The end of the server's standard error.
        stderr: StderrTail,
    },
    /// The server failed recently; its next start waits.
    #[error("{cause}; the next attempt is allowed in {} ms", .retry_in.as_millis())]
    BackOff {
        /// As configured.
        server: String,
        /// The last error; names the server.
        cause: Box<UpstreamError>,
        /// Time until the next attempt.
        retry_in: Duration,
    },
    /// The circuit breaker is open: several calls in a row failed.
    #[error(
        "server '{server}' is suspended: {failures} calls in a row failed, the last because {cause}; the next attempt is allowed in {} ms",
        .retry_in.as_millis()
    )]
    Suspended {
        /// As configured.
        server: String,
        /// In a row.
        failures: u32,
        /// The last error; names the server.
        cause: Box<UpstreamError>,
        /// Time until the next attempt.
        retry_in: Duration,
    },
    /// The limit of concurrent calls was reached until the deadline.
    #[error(
        "server '{server}' has {limit} calls in flight (`maxCalls`), and {request} found no free slot within {} ms",
        .after.as_millis()
    )]
    Busy {
        /// As configured.
        server: String,
        /// The request that waited.
        request: String,
        /// Concurrent calls.
        limit: u32,
        /// How long the request waited.
        after: Duration,
    },
    /// The credential's limit of requests was reached, and the call's time ends before the credential has room again.
    #[error(
        "server '{server}' and the other servers with its credential take {limit} calls a minute (`maxCallsPerMinute`); {request} was not sent; try again in {} ms",
        .retry_in.as_millis()
    )]
    RateLimited {
        /// As configured.
        server: String,
        /// The request that was not sent.
        request: String,
        /// Requests within a minute.
        limit: u32,
        /// Until the credential has room, at the earliest.
        retry_in: Duration,
    },
    /// The server answered an earlier request with HTTP 429 or `Retry-After`, and its pause outlasts the call's time.
    #[error(
        "server '{server}' asked codeyard to wait (HTTP 429 or `Retry-After`); {request} was not sent; try again in {} ms",
        .retry_in.as_millis()
    )]
    Paused {
        /// As configured.
        server: String,
        /// The request that was not sent.
        request: String,
        /// Until the pause ends.
        retry_in: Duration,
    },
    /// The windows that several processes share cannot be reached.
    #[error(
        "server '{server}' has a limit of calls (`maxCallsPerMinute`), and {request} could not be counted; it was not sent; try again later"
    )]
    NotCounted {
        /// As configured.
        server: String,
        /// The request that was not sent.
        request: String,
    },
    /// The server ended during a request.
    #[error("server '{server}' ended during {request}: {cause}{stderr}")]
    Gone {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
        /// How the server ended.
        cause: String,
        /// The end of the server's standard error.
        stderr: StderrTail,
    },
    /// The start takes longer than the call could wait; the start continues.
    #[error(
        "server '{server}' did not answer its start within {} ms; it is still starting, a later call may find it ready",
        .after.as_millis()
    )]
    Starting {
        /// As configured.
        server: String,
        /// How long the call waited.
        after: Duration,
    },
    /// The server did not respond in time.
    #[error("server '{server}' did not answer {request} within {} ms{seen}", .after.as_millis())]
    Timeout {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
        /// How long the request waited.
        after: Duration,
        /// The last warning about the server; it may explain the silence.
        seen: String,
    },
    /// A remote server gave no answer.
    #[error("server '{server}' did not answer {request}: {cause}")]
    Unanswered {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
        /// What happened instead.
        cause: String,
        /// Pause before the request may be repeated: zero unless the server named a pause; `None` if a repetition
        /// cannot help.
        again_in: Option<Duration>,
    },
    /// The answer exceeds the limit of a message.
    #[error(
        "server '{server}' answered {request} with {bytes} bytes, more than the {limit} a message may have; ask it for less at a time"
    )]
    TooLarge {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
        /// Length of the answer.
        bytes: u64,
        /// Longest message in bytes.
        limit: u64,
    },
    /// The server answered with a protocol error.
    #[error("server '{server}' refused {request}: {message} (code {code})")]
    Refused {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
        /// The JSON-RPC error code.
        code: i64,
        /// The server's message.
        message: String,
        /// Further data of the error.
        data: Option<Box<serde_json::Value>>,
    },
    /// The answer is not a valid result.
    #[error("server '{server}' answered {request} with something other than a result: {cause}{stderr}")]
    BadAnswer {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
        /// Why the answer is invalid.
        cause: String,
        /// The end of the server's standard error.
        stderr: StderrTail,
    },
    /// The server asks a person for input.
    #[error(
        "server '{server}' asks a person for input before it answers {request}; codeyard cannot pass the question on yet"
    )]
    InputRequired {
        /// As configured.
        server: String,
        /// The pending request.
        request: String,
    },
    /// The server takes each user's own login, and this user has none.
    #[error(
        "server '{server}' needs a login of its user (needs_login); open {link} in a browser, then call it again"
    )]
    NeedsLogin {
        /// As configured.
        server: String,
        /// Where the user logs in.
        link: String,
    },
    /// The server takes each user's own login, and logins cannot be read.
    #[error("server '{server}' needs a login of its user, and logins cannot be used: {cause}")]
    NoLogins {
        /// As configured.
        server: String,
        /// Why.
        cause: String,
    },
    /// The definition was changed or removed during the call.
    #[error("server '{server}' takes no more calls: its definition was changed or removed; call it again")]
    Replaced {
        /// As configured.
        server: String,
    },
    /// The hub is shutting down.
    #[error("server '{server}' takes no more calls: codeyard is shutting down")]
    ShuttingDown {
        /// As configured.
        server: String,
    },
}

impl UpstreamError {
    /// Whether the server waits for a login. A pause does not help then, and the login may happen at any moment.
    pub(crate) fn awaits_login(&self) -> bool {
        matches!(
            self,
            UpstreamError::Start {
                cause: StartError::LoginNeeded { .. },
                ..
            }
        )
    }

    /// Whether the same call may succeed later: the server ended, was slow or has not started yet. A refusal is not
    /// transient.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            UpstreamError::BackOff { .. }
                | UpstreamError::Suspended { .. }
                | UpstreamError::Busy { .. }
                | UpstreamError::RateLimited { .. }
                | UpstreamError::Paused { .. }
                | UpstreamError::NotCounted { .. }
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
    fn the_reason_comes_first() {
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
}
