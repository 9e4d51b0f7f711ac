//! Observes the tool calls of a run, for parts that count them.

use std::fmt::Debug;

use sandbox::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use types::ToolRef;

/// Observes the tool calls of one run. A call waits for its observer.
pub trait CallObserver: Debug + Send + Sync {
    /// A program calls a tool with these arguments.
    fn begin<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Box<dyn ObservedCall>>;
}

/// One call under way.
pub trait ObservedCall: Send {
    /// The call has ended. `tool` has the names of the definition if the broker found the tool.
    fn end<'a>(self: Box<Self>, tool: &'a ToolRef, end: CallEnd<'a>) -> BoxFuture<'a, ()>;
}

/// How a call ended.
#[derive(Debug, Clone, Copy)]
pub enum CallEnd<'a> {
    /// With the `CallToolResult` of the server.
    Answered(&'a RawValue),
    /// With a `CallToolResult` by which the tool says that it failed.
    ToolError(&'a RawValue),
    /// Refused or not answered, with this message.
    Failed(&'a str),
    /// The run ended first.
    Cancelled,
    /// The tool is a file, which no client can call.
    ToolFile,
}
