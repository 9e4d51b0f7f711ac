//! Types of failed requests; each has one mapping to what the client receives.

use std::time::Duration;

use policy::TimeoutError;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};
use session::SessionError;
use tokio::task::JoinError;
use upstream_wire::JsonRpcError;
use workspace::{ReadError, WorkspaceError};

/// Why a program was not run. Clients receive it as a tool result's error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunError {
    /// The session refused the run.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The policy does not grant the requested time.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// No server definition has this name.
    #[error("Unknown MCP server: {name}{}", .hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}")))]
    UnknownServer {
        /// As the caller wrote it.
        name: String,
        /// The nearest name.
        hint: Option<String>,
    },
    /// A variable requests containers, a backend that codeyard does not have.
    #[error(
        "{setting} asks for containers, and this codeyard does not run programs in containers; unset it, or set \
         MCP_BRIDGE_RUNTIME=auto: programs then run in the sandbox that `codeyard doctor` describes"
    )]
    NoContainers {
        /// Variable and value.
        setting: String,
    },
    /// The user has reached the virtual server's limit of runs per minute.
    #[error("Rate limit exceeded: max {most} runs/minute")]
    RateLimited {
        /// Maximum runs of a user per minute.
        most: u32,
    },
    /// Programs of the user, or of the tenant, have used up the operator's quota of CPU time.
    #[error(
        "CPU quota exceeded: {:.1} s are used, and `{setting}` allows {seconds_per_minute} s a minute; try again in {} s",
        .used.as_secs_f64(),
        .retry_in.as_millis().div_ceil(1000)
    )]
    CpuQuota {
        /// The key in `[gateway]`.
        setting: &'static str,
        /// CPU time that has not drained yet.
        used: Duration,
        /// CPU seconds that drain per minute.
        seconds_per_minute: u32,
        /// Time until a program may run.
        retry_in: Duration,
    },
    /// The database that counts runs does not answer.
    #[error("the database that counts runs does not answer; try again")]
    NotCounted,
    /// The client cancelled the call before the program ran.
    #[error("Execution was cancelled")]
    Cancelled,
}

/// Why the artifacts could not be listed.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactsError {
    /// The directory of the artifacts is unusable.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The thread that read the directory failed.
    #[error("the files could not be listed")]
    Interrupted,
}

/// Why a request has no result. [`ErrorData`] is its form on the wire.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("codeyard failed while it answered the call")]
    Panicked,
    #[error("the request failed inside: {0}")]
    TaskFailed(#[from] JoinError),
    #[error("the request was cancelled")]
    Cancelled,
    #[error("Method not found: {0}")]
    UnknownMethod(String),
    #[error("Invalid params: `params` of {0} does not match the protocol")]
    Undecodable(String),
    #[error("Invalid params: `{0}` must be a string")]
    NotAString(&'static str),
    #[error("Invalid params: `level` must be one of {0}")]
    LogLevel(String),
    #[error("Invalid params: `requestState` {0}")]
    RequestState(&'static str),
    #[error("`ref` must name a prompt (`name`) or a resource template (`uri`)")]
    CompletionReference,
    /// The whole sentence, because each surface names another tool to call instead.
    #[error("Unknown tool: {0}")]
    UnknownTool(String),
    #[error("Unknown prompt: {0}")]
    UnknownPrompt(String),
    #[error("`cursor` does not come from resources/list; leave it out to begin again")]
    ArtifactsCursor,
    #[error("`cursor` does not come from this list; leave it out to begin with the first page")]
    ListCursor(Value),
    #[error("Unknown resource: {0}")]
    UnknownResource(String),
    #[error("Resource not found: {0}; resources/list shows what there is")]
    UnknownArtifact(String),
    #[error("Resource not found: {uri}; no connected server lists it or a template for it")]
    UnlistedResource { uri: String, code: ErrorCode },
    #[error("{uri}: {error}")]
    UnreadableArtifact { uri: String, error: ReadError },
    #[error(transparent)]
    Artifacts(#[from] ArtifactsError),
    #[error("no handle could be made for the call: {0}")]
    NoHandle(#[from] getrandom::Error),
    #[error("server '{server}' asked for input more than {most} times")]
    TooManyQuestions { server: String, most: usize },
    #[error("{}", .0.message)]
    Upstream(JsonRpcError),
}

impl RequestError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Panicked
            | Self::TaskFailed(_)
            | Self::Cancelled
            | Self::Artifacts(_)
            | Self::UnreadableArtifact {
                error: ReadError::System(_),
                ..
            }
            | Self::NoHandle(_)
            | Self::TooManyQuestions { .. } => ErrorCode::INTERNAL_ERROR,
            Self::UnknownMethod(_) => ErrorCode::METHOD_NOT_FOUND,
            Self::UnknownArtifact(_) => ErrorCode::RESOURCE_NOT_FOUND,
            Self::UnlistedResource { code, .. } => *code,
            Self::Upstream(refusal) => ErrorCode(refusal.code),
            _ => ErrorCode::INVALID_PARAMS,
        }
    }

    /// Details for client programs.
    fn data(&mut self) -> Option<Value> {
        match self {
            Self::ListCursor(cursor) => Some(json!({"cursor": cursor})),
            Self::UnknownResource(uri)
            | Self::UnknownArtifact(uri)
            | Self::UnlistedResource { uri, .. }
            | Self::UnreadableArtifact { uri, .. } => Some(json!({"uri": uri})),
            Self::Upstream(refusal) => refusal.data.take(),
            _ => None,
        }
    }
}

impl From<RequestError> for ErrorData {
    fn from(mut error: RequestError) -> Self {
        let data = error.data();
        ErrorData::new(error.code(), error.to_string(), data)
    }
}
