//! The contract between sessions and sandboxes: a `Backend` launches a `Guest`, a `Guest` executes runs.
//!
//! Knows neither MCP nor tools: a host call is a name and JSON.

mod backend;
mod calls;

pub use backend::{Backend, BoxFuture, Guest, LaunchError, LaunchSpec, Run};
pub use calls::{HostCall, HostCallError, HostCalls};
