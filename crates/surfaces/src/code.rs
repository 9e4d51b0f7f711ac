//! The `code` surface: two tools that run programs and find tools; programs can call every connected server.

mod arguments;
mod artifacts;
mod config;
mod files;
mod handle;
mod handler;
mod render;
mod service;
mod table;
mod tool_list;
mod tools;
mod value;

pub use config::{CodeConfig, ToolListing};
pub use handler::{code, definition_tokens, receipt_input};
pub use service::{CodeService, ExposedTool, Search};
pub use tool_list::exposed_definitions;
pub use value::value_text;
