//! The `code` surface: two tools, behind which everything that is connected can be called from programs.

mod arguments;
mod artifacts;
mod handler;
mod render;
mod service;
mod tools;

pub(crate) use handler::CodeHandler;
pub use render::error_text;
pub use service::{CodeService, Detail, Execute, Executed, NotExecuted, NotListed, NotSearched, Search};
