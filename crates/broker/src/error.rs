//! All errors of host calls as programs see them.

use catalog::{ArgumentError, Entry, Unknown, UnknownKind};
use policy::Denied;
use store::SavedError;
use types::{HostCallError, HostCallErrorKind as Kind};
use upstream::UpstreamError;

/// Longest hint, in characters; a signature may be longer than an error needs.
const MAX_HINT: usize = 600;

fn failure(kind: Kind, message: String, hint: Option<String>) -> HostCallError {
    HostCallError {
        hint,
        ..HostCallError::new(kind, message)
    }
}

pub(crate) fn unknown_call(name: &str) -> HostCallError {
    let shown = &name[..name.floor_char_boundary(80)];
    failure(Kind::UnknownCall, format!("unknown host call {shown:?}"), None)
}

/// A wrong argument of a host call itself, rather than of a tool.
pub(crate) fn bad_call(message: impl Into<String>) -> HostCallError {
    failure(Kind::InvalidArguments, message.into(), None)
}

pub(crate) fn no_tool(name: &str) -> HostCallError {
    let shown = &name[..name.floor_char_boundary(80)];
    failure(
        Kind::UnknownTool,
        format!("'{shown}' is not a tool name; write \"server.tool\""),
        None,
    )
}

pub(crate) fn unknown(unknown: &Unknown) -> HostCallError {
    let hint = unknown.hint.clone().or_else(|| match unknown.kind {
        UnknownKind::Server => Some("no server is configured".to_owned()),
        UnknownKind::Tool => Some("it lists no tools".to_owned()),
        UnknownKind::NotListed(_) | UnknownKind::Bare => None,
    });
    failure(Kind::UnknownTool, unknown.to_string(), hint)
}

/// The run has not loaded the server, or it does not exist.
pub(crate) fn not_loaded(server: &str) -> HostCallError {
    let shown = &server[..server.floor_char_boundary(80)];
    let message = format!("Server '{shown}' is not available");
    failure(
        Kind::NotLoaded,
        message,
        Some(format!("pass servers=[{shown:?}]")),
    )
}

/// A program called a tool of its own surface.
pub(crate) fn nested(tool: &str) -> HostCallError {
    failure(
        Kind::Denied,
        format!("Nested invocation of meta-tool '{tool}' is not allowed"),
        Some("a program already runs; call the tools of connected servers".to_owned()),
    )
}

/// S0-56: the virtual server's policy disables calls.
pub(crate) fn calls_are_off() -> HostCallError {
    failure(
        Kind::Denied,
        "EACCES: tool calls are disabled by policy".to_owned(),
        None,
    )
}

pub(crate) fn denied(denied: &Denied) -> HostCallError {
    failure(Kind::Denied, denied.to_string(), None)
}

pub(crate) fn arguments(entry: &Entry, error: &ArgumentError) -> HostCallError {
    let signature = entry.signature();
    // The result type does not help to fix the arguments.
    let call = signature.rsplit_once(" -> ").map_or(signature, |(call, _)| call);
    let hint = (call.len() <= MAX_HINT).then(|| call.to_owned());
    failure(Kind::InvalidArguments, format!("{}: {error}", entry.tool), hint)
}

pub(crate) fn cancelled() -> HostCallError {
    failure(Kind::Cancelled, "the run is over".to_owned(), None)
}

pub(crate) fn upstream(error: &UpstreamError) -> HostCallError {
    let kind = match error {
        UpstreamError::UnknownServer { .. } => Kind::UnknownTool,
        UpstreamError::Starting { .. } | UpstreamError::Timeout { .. } => Kind::Timeout,
        UpstreamError::ShuttingDown { .. } => Kind::Cancelled,
        UpstreamError::NeedsLogin { .. } => Kind::NeedsLogin,
        UpstreamError::SelfReference { .. }
        | UpstreamError::NoLogins { .. }
        | UpstreamError::Start { .. }
        | UpstreamError::BackOff { .. }
        | UpstreamError::Suspended { .. }
        | UpstreamError::Busy { .. }
        | UpstreamError::RateLimited { .. }
        | UpstreamError::Paused { .. }
        | UpstreamError::NotCounted { .. }
        | UpstreamError::Gone { .. }
        | UpstreamError::Replaced { .. }
        | UpstreamError::Unanswered { .. }
        | UpstreamError::TooLarge { .. }
        | UpstreamError::Refused { .. }
        | UpstreamError::BadAnswer { .. }
        | UpstreamError::InputRequired { .. } => Kind::Upstream,
    };
    HostCallError {
        retryable: error.is_transient(),
        ..failure(kind, error.to_string(), None)
    }
}

/// The value may not be saved, it changed meanwhile, or the database failed. Programs do not learn the location of the
/// database.
pub(crate) fn saved(error: &SavedError) -> HostCallError {
    match error {
        SavedError::Refused(why) => failure(Kind::Refused, why.clone(), None),
        SavedError::Conflict { .. } => {
            let hint = "load it again and save with its new version";
            failure(Kind::Conflict, error.to_string(), Some(hint.to_owned()))
        }
        SavedError::Store(trouble) => HostCallError {
            retryable: trouble.is_passing(),
            ..failure(
                Kind::Store,
                format!("the database of saved tools and memories {}", trouble.brief()),
                Some("the reason is in codeyard's log".to_owned()),
            )
        },
    }
}

/// The host failed; the program is not at fault.
pub(crate) fn internal(what: &str) -> HostCallError {
    failure(Kind::Upstream, format!("codeyard failed: {what}"), None)
}

/// A server's list does not end.
pub(crate) fn endless(server: &str, method: &str, pages: usize) -> HostCallError {
    let message = format!(
        "server '{server}' answers {method} with more than {} pages or {} MiB",
        pages,
        upstream::MAX_LIST_BYTES / (1024 * 1024)
    );
    failure(Kind::Upstream, message, None)
}
