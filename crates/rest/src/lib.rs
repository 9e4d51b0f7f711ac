//! The wire types of REST and JSON-RPC: bodies, queries, answers, errors, and the OpenAPI document.
//!
//! Nothing here knows a transport, a database or who asks: bodies become settings of [`types`], and every
//! mistake of a request is reported at once with its place.

mod audit;
mod body;
mod json;
mod openapi;
mod page;
mod problem;
mod report;
mod rpc;
mod view;

pub use audit::{
    RunMetrics, RunStatus, RunView, SecurityEvent, SecurityEventKind, SecurityEventView, SessionView,
    ToolCallView,
};
pub use body::{NewServer, create_server, sandbox_policy_json, update_server};
pub use openapi::openapi;
pub use page::{AuditFilter, BadCursor, Cursor, EventsQuery, Page, RunsQuery, ServersQuery, SessionsQuery};
pub use problem::{ErrorBody, FieldError, Problem};
pub use rpc::{RpcId, RpcProblem, RpcRefusal, RpcRequest, read_rpc, rpc_result};
pub use view::{Deleted, MountRulesView, ServerPage, ServerView, TokenizationView, ToolView, time};
