//! The `server` surface: `shell_exec`, `fs_browse`, `fs_read` and `fs_write`, with the messages and formats of system 0.

mod arguments;
mod handler;
mod metrics;
mod render;
mod repeat;
mod report;
mod service;
mod tools;

pub use handler::{ServerSurfaceConfig, server};
pub use repeat::{RepeatedProgram, repeat};
pub use report::{MadeCall, MadeCalls, MetaToolRun};
pub use service::{BrowseRequest, CommandLine, FileRequestError, MetaTools};
