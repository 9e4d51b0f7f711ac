//! What a client sees over any transport: the surfaces `code`, `bridge`, `server` and `standard`.
//!
//! Each surface is an MCP handler in front of a service trait ([`CodeService`], [`BridgeService`],
//! [`MetaTools`], [`StandardService`]). A transport carries a [`Surface`]; this crate depends on no transport.

mod arrival;
mod binary;
mod bridge;
mod code;
mod content;
mod error;
mod execute;
mod parked;
mod paused_calls;
mod person;
mod progress;
mod receipt;
mod report;
mod request;
mod server;
mod standard;
mod surface;
mod tool_names;
mod toon;
mod truncate;

pub use arrival::{ArrivalOrder, Ticket};
pub use bridge::{BridgeConfig, BridgeService, Output, Selected, Timeouts, bridge};
pub use code::{
    CodeConfig, CodeService, ExposedTool, Search, ToolListing, code, definition_tokens, exposed_definitions,
    receipt_input, value_text,
};
pub use content::content_as_json;
pub use error::{ArtifactsError, RunError};
pub use execute::{Execute, SearchCounts};
pub use report::{RunReport, changed_before_failure, error_text};
pub use server::{
    BrowseRequest, CommandLine, FileRequestError, MadeCall, MadeCalls, MetaToolRun, MetaTools,
    RepeatedProgram, ServerSurfaceConfig, repeat, server,
};
pub use standard::{LOG_LEVELS, Listing, StandardService, Upstream, standard};
pub use surface::{Surface, WireRules, raw_result_text};
