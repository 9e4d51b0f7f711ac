//! The wire to one MCP server: starts its process or connects over HTTP, logs in, shakes hands, and carries
//! messages.
//!
//! ```text
//! Connector ─► ServerHandle (supervised process, or HTTP connection)
//!          └─► RunningService (the MCP library) ── ServerTransport ── lines of JSON-RPC ──► server
//!                                                        └─► Notifications (what the server sends unasked)
//! ```
//!
//! INVARIANTS: results stay the text that the server sent, so that no field is lost. Every input from a
//! server is limited in bytes. No message, warning or log shows a secret of a definition.

mod blocking;
mod client;
mod client_service;
mod connect;
mod connector;
mod control_groups;
mod definition;
mod environment;
mod era;
mod error;
mod handle;
mod handshake;
mod headers;
mod http_client;
mod logs;
mod notifications;
pub mod oauth;
mod pause;
mod process;
mod remote;
mod secret_file;
mod secrets;
mod stderr;
mod text;
mod transport;

pub use blocking::block_in_place_if_large;
pub use client::{ClientResponse, ClientSlot, DownstreamClient, JsonRpcError};
pub use client_service::ClientService;
pub use connect::{ConnectError, ConnectedServer, START_TIMEOUT};
pub use connector::{Connector, ToolDefinitions};
pub use control_groups::ControlGroups;
pub use definition::{Http, HttpKind, LoginOwner, OAuth, SecretValues, ServerLimits, Stdio, Transport};
pub use environment::{Environment, find_program, is_self_reference};
pub use era::Era;
pub use error::{StartError, StderrTail};
pub use handle::ServerHandle;
pub use handshake::ServerHello;
pub use headers::check_header;
pub use http_client::address::{
    AddressError, check_discovered_url, check_public_url, check_url, names_this_machine,
};
pub use http_client::{client_tls, describe as describe_http_error, gateway_client, public_client};
pub use logs::{Log, Logs, MAX_LOG_BYTES, log_file, log_file_before};
pub use notifications::{Notifications, ProgressWatch};
pub use pause::Pause;
pub use remote::header_parameters::check as check_header_parameters;
pub use remote::sse::{SseEvent, SseParser};
pub use secret_file::read as read_secret_file;
pub use secrets::Secrets;
pub use stderr::Stderr;
pub use transport::{Frame, JsonRpcResponse, Line, MAX_LINE, Reply, RequestFailure, Splitter};
