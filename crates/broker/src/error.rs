//! Every way in which a host call fails, as the program sees it.

use catalog::{ArgumentError, Entry, Unknown, UnknownKind};
use policy::Denied;
use sandbox::HostCallError;
use store::SavedError;
use upstream::UpstreamError;

/// Longest hint; a signature may be longer than is useful in an error.
const MAX_HINT: usize = 600;

fn failure(kind: &str, message: String, hint: Option<String>) -> HostCallError {
    HostCallError {
        kind: kind.to_owned(),
        message,
        hint,
        retryable: false,
    }
}

/// No host call has that name.
pub(crate) fn unknown_call(name: &str) -> HostCallError {
    let shown = &name[..name.floor_char_boundary(80)];
    failure("unknown_call", format!("there is no host call {shown:?}"), None)
}

/// A host call itself, not a tool, was given something wrong.
pub(crate) fn bad_call(message: impl Into<String>) -> HostCallError {
    failure("invalid_arguments", message.into(), None)
}

/// The name of a tool without its server's.
pub(crate) fn no_tool(name: &str) -> HostCallError {
    let shown = &name[..name.floor_char_boundary(80)];
    failure(
        "unknown_tool",
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
    failure("unknown_tool", unknown.to_string(), hint)
}

/// The server is not among those that the run has loaded, or there is none of that name.
pub(crate) fn not_loaded(server: &str) -> HostCallError {
    let shown = &server[..server.floor_char_boundary(80)];
    let message = format!("Server '{shown}' is not available");
    failure("not_loaded", message, Some(format!("pass servers=[{shown:?}]")))
}

/// A program asked for a tool of the surface that it runs behind.
pub(crate) fn nested(tool: &str) -> HostCallError {
    failure(
        "denied",
        format!("Nested invocation of meta-tool '{tool}' is not allowed"),
        Some("a program already runs; call the tools of connected servers".to_owned()),
    )
}

/// The policy refused.
pub(crate) fn denied(denied: &Denied) -> HostCallError {
    failure("denied", denied.to_string(), None)
}

/// The arguments do not fit the tool's schema.
pub(crate) fn arguments(entry: &Entry, error: &ArgumentError) -> HostCallError {
    let signature = entry.signature();
    // What comes back does not help here.
    let call = signature.rsplit_once(" -> ").map_or(signature, |(call, _)| call);
    let hint = (call.len() <= MAX_HINT).then(|| call.to_owned());
    failure("invalid_arguments", format!("{}: {error}", entry.tool), hint)
}

/// The server failed.
pub(crate) fn upstream(error: &UpstreamError) -> HostCallError {
    let kind = match error {
        UpstreamError::UnknownServer { .. } => "unknown_tool",
        UpstreamError::Starting { .. } | UpstreamError::Timeout { .. } => "timeout",
        UpstreamError::ShuttingDown { .. } => "cancelled",
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
        | UpstreamError::InputRequired { .. } => "upstream",
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
        SavedError::Refused(why) => failure("refused", why.clone(), None),
        SavedError::Conflict { .. } => {
            let hint = "load it again and save with the version that it has then";
            failure("conflict", error.to_string(), Some(hint.to_owned()))
        }
        SavedError::Store(trouble) => HostCallError {
            retryable: trouble.is_locked(),
            ..failure(
                "store",
                format!("the database of saved tools and memories {}", trouble.brief()),
                Some("whoever runs codeyard finds the reason in its log".to_owned()),
            )
        },
    }
}

/// Work of the host itself failed; nothing the program did.
pub(crate) fn internal(what: &str) -> HostCallError {
    failure("upstream", format!("codeyard failed: {what}"), None)
}

/// A server lists without end.
pub(crate) fn endless(server: &str, method: &str) -> HostCallError {
    let message = format!(
        "server '{server}' answers {method} with more than {} pages or {} MiB",
        crate::offers::MOST_PAGES,
        upstream::MAX_LIST_BYTES / (1024 * 1024)
    );
    failure("upstream", message, None)
}
