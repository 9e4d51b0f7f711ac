//! Every way in which a host call fails, as the program sees it.

use catalog::{ArgumentError, Entry, Unknown, UnknownKind};
use policy::Denied;
use store::SavedError;
use types::{HostCallError, HostCallErrorKind as Kind};
use upstream::UpstreamError;

/// Longest hint; a signature may be longer than is useful in an error.
const MAX_HINT: usize = 600;

fn failure(kind: Kind, message: String, hint: Option<String>) -> HostCallError {
    HostCallError {
        hint,
        ..HostCallError::new(kind, message)
    }
}

/// No host call has that name.
pub(crate) fn unknown_call(name: &str) -> HostCallError {
    let shown = &name[..name.floor_char_boundary(80)];
    failure(Kind::UnknownCall, format!("unknown host call {shown:?}"), None)
}

/// A host call itself, not a tool, was given something wrong.
pub(crate) fn bad_call(message: impl Into<String>) -> HostCallError {
    failure(Kind::InvalidArguments, message.into(), None)
}

/// The name of a tool without its server's.
pub(crate) fn no_tool(name: &str) -> HostCallError {
    let shown = &name[..name.floor_char_boundary(80)];
    failure(
        Kind::UnknownTool,
        format!("'{shown}' names no tool; write \"server.tool\""),
        None,
    )
}

/// The names mean no tool.
pub(crate) fn unknown(unknown: &Unknown) -> HostCallError {
    let hint = unknown.hint.clone().or_else(|| match unknown.kind {
        UnknownKind::Server => Some("no server is configured".to_owned()),
        UnknownKind::Tool => Some("it lists no tools".to_owned()),
        UnknownKind::NotListed(_) | UnknownKind::Bare => None,
    });
    failure(Kind::UnknownTool, unknown.to_string(), hint)
}

/// The server is not among those that the run has loaded, or there is none of that name.
pub(crate) fn not_loaded(server: &str) -> HostCallError {
    let shown = &server[..server.floor_char_boundary(80)];
    let message = format!("Server '{shown}' is not available");
    failure(
        Kind::NotLoaded,
        message,
        Some(format!("pass servers=[{shown:?}]")),
    )
}

/// A program asked for a tool of the surface that it runs behind.
pub(crate) fn nested(tool: &str) -> HostCallError {
    failure(
        Kind::Denied,
        format!("Nested invocation of meta-tool '{tool}' is not allowed"),
        Some("a program already runs; call the tools of connected servers".to_owned()),
    )
}

/// The policy refused.
pub(crate) fn denied(denied: &Denied) -> HostCallError {
    failure(Kind::Denied, denied.to_string(), None)
}

/// The arguments do not fit the tool's schema.
pub(crate) fn arguments(entry: &Entry, error: &ArgumentError) -> HostCallError {
    let signature = entry.signature();
    // What comes back does not help here.
    let call = signature.rsplit_once(" -> ").map_or(signature, |(call, _)| call);
    let hint = (call.len() <= MAX_HINT).then(|| call.to_owned());
    failure(Kind::InvalidArguments, format!("{}: {error}", entry.tool), hint)
}

/// The run ended before the call did.
pub(crate) fn cancelled() -> HostCallError {
    failure(Kind::Cancelled, "the run is over".to_owned(), None)
}

/// The server failed.
pub(crate) fn upstream(error: &UpstreamError) -> HostCallError {
    let kind = match error {
        UpstreamError::UnknownServer { .. } => Kind::UnknownTool,
        UpstreamError::Starting { .. } | UpstreamError::Timeout { .. } => Kind::Timeout,
        UpstreamError::ShuttingDown { .. } => Kind::Cancelled,
        UpstreamError::SelfReference { .. }
        | UpstreamError::Start { .. }
        | UpstreamError::BackOff { .. }
        | UpstreamError::Suspended { .. }
        | UpstreamError::Busy { .. }
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

/// Something may not be saved so, was changed meanwhile, or its database cannot be used. The place of the database does
/// not concern programs.
pub(crate) fn saved(error: &SavedError) -> HostCallError {
    match error {
        SavedError::Refused(why) => failure(Kind::Refused, why.clone(), None),
        SavedError::Conflict { .. } => {
            let hint = "load it again and save with the version that it has then";
            failure(Kind::Conflict, error.to_string(), Some(hint.to_owned()))
        }
        SavedError::Store(trouble) => HostCallError {
            retryable: trouble.is_passing(),
            ..failure(
                Kind::Store,
                format!("the database of saved tools and memories {}", trouble.brief()),
                Some("whoever runs codeyard finds the reason in its log".to_owned()),
            )
        },
    }
}

/// Work of the host itself failed; nothing the program did.
pub(crate) fn internal(what: &str) -> HostCallError {
    failure(Kind::Upstream, format!("codeyard failed: {what}"), None)
}

/// A server lists without end.
pub(crate) fn endless(server: &str, method: &str, pages: usize) -> HostCallError {
    let message = format!(
        "server '{server}' answers {method} with more than {} pages or {} MiB",
        pages,
        upstream::MAX_LIST_BYTES / (1024 * 1024)
    );
    failure(Kind::Upstream, message, None)
}
