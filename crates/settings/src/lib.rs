//! Turns files, variables and arguments into the validated configuration of each part; reports all
//! mistakes at once.
//!
//! `codeyard.toml` holds codeyard's own settings (`file`). `load` adds the command line and the
//! servers of `registry`. `parts` gives each part its configuration. Parts start only if all settings
//! are valid.

mod bridge;
mod code_execution;
mod database;
mod file;
mod limit_arguments;
mod load;
mod mounts;
mod origins;
mod parts;
mod pool_memory;
#[cfg(test)]
mod tests;

pub use bridge::{Bridge, OutputMode};
pub use code_execution::CodeExecution;
pub use file::{
    Backend, Expose, Gateway, Http, Learned, Python, Records, Sessions, Settings, SurfaceSettings, Tools,
    Traces, UserAttribute, Workspace,
};
pub use load::{Arguments, Loaded, load, load_bridge, load_forgiving, load_gateway, load_settings_only};
pub use origins::{ValueWithOrigin, paths, values_with_origins};
pub use parts::{Parts, Program, bridge_sources, data_key, python_settings, typescript_settings};
