//! The wire types of REST and JSON-RPC: bodies, queries, answers, errors, and the OpenAPI document.
//!
//! Nothing here knows a transport, a database or who asks: bodies become settings of [`types`], and every
//! mistake of a request is reported at once with its place.

mod audit;
mod body;
mod error;
mod json;
mod mistakes;
mod object;
mod openapi;
mod page;
mod rpc;
mod view;

pub use audit::{
    RunMetrics, RunStatus, RunView, SecurityEvent, SecurityEventKind, SecurityEventView, SessionView,
    ToolCallView,
};
pub use body::{NewServer, create_server, sandbox_policy_json, update_server};
pub use error::{ErrorBody, FieldError, RestError};
pub use openapi::openapi;
pub use page::{
    AuditFilter, BadCursor, Cursor, EventsQuery, PageRequest, RunsQuery, ServersQuery, SessionsQuery,
};
pub use rpc::{RpcError, RpcId, RpcRefusal, RpcRequest, read_rpc, rpc_result};
pub use view::{Deleted, MountRulesView, ServerPage, ServerView, TokenizationView, ToolView, time};
