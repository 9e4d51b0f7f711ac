//! The wire types of REST and JSON-RPC: bodies, queries, answers, errors, and the OpenAPI document.
//!
//! This crate is independent of transports, databases and callers. Bodies become settings of [`types`]. All mistakes
//! of a request are reported together, each with its place.

mod accounts;
mod audit;
mod body;
mod error;
mod export;
mod json;
mod logins;
mod mistakes;
mod object;
mod openapi;
mod page;
mod rpc;
mod upstreams;
mod view;

pub use accounts::{
    CreatedToken, MemberPage, MemberView, TeamPage, TeamView, TokenPage, TokenView, UserPage, UserView,
};
pub use audit::{
    AuditView, ReplayView, RunMetrics, RunStatus, RunView, SecurityEvent, SecurityEventKind,
    SecurityEventView, SessionView, ToolCallView,
};
pub use body::{
    ChangedUser, NewServer, NewTeam, NewUser, TokenRequest, UpstreamDraft, UpstreamSettings, create_server,
    create_team, create_token, create_upstream, create_user, sandbox_policy_json, set_login, set_member,
    update_server, update_team, update_upstream, update_user,
};
pub use error::{ErrorBody, FieldError, RestError};
pub use export::{ExportError, ExportRow, ListFormat, csv, csv_names};
pub use logins::{LoginUse, LoginView};
pub use openapi::openapi;
pub use page::{
    AuditQuery, BadCursor, Cursor, EventsQuery, LoginsQuery, NamesQuery, PageRequest, RecordFilter,
    RunsQuery, ServersQuery, SessionsQuery, TokensQuery,
};
pub use rpc::{RpcError, RpcId, RpcRefusal, RpcRequest, read_rpc, rpc_result};
pub use upstreams::{UpstreamHealth, UpstreamPage, UpstreamTest, UpstreamTool, UpstreamView};
pub use view::{Deleted, MountRulesView, ServerPage, ServerView, TokenizationView, ToolView, time};
