//! Observes the tool calls of a run, for parts that count them.

use std::fmt::Debug;

use sandbox::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use types::ToolRef;

/// Observes one run's tool calls. Each call waits for its observer.
pub trait CallObserver: Debug + Send + Sync {
    /// Called when a tool call with these arguments starts.
    fn begin<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Box<dyn ObservedCall>>;
}

/// An active tool call.
pub trait ObservedCall: Send {
    /// Called when the call has ended. `tool` has the definition's names if the broker found the tool.
    fn end<'a>(self: Box<Self>, tool: &'a ToolRef, end: CallEnd<'a>) -> BoxFuture<'a, ()>;
}

/// The end of a call.
#[derive(Debug, Clone, Copy)]
pub enum CallEnd<'a> {
    /// The server's `CallToolResult`.
    Answered(&'a RawValue),
    /// A `CallToolResult` with which the tool reports an error.
    ToolError(&'a RawValue),
    /// Refused or unanswered, with this message.
    Failed(&'a str),
    /// The run ended first.
    Cancelled,
    /// The tool is a file, and clients cannot call tool files.
    ToolFile,
}
