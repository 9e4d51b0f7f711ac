//! The `bridge` surface: the single tool `run_python`, with the messages and formats of the bridge it replaces.

mod arguments;
mod handler;
mod render;
mod service;
mod text;
mod tools;

pub use handler::{BridgeConfig, bridge};
pub use render::Output;
pub use service::{BridgeService, Selected};
pub use tools::Timeouts;
