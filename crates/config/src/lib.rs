//! Reads files and environment into validated configuration; all mistakes of all files are reported at once.
//!
//! Two kinds of file: `mcpServers` JSON, which names the upstream servers as other MCP clients do, and
//! `codeyard.toml`, which holds codeyard's own settings. Nothing is started before everything is valid.

mod bridge;
mod consent;
mod definitions;
mod edit;
mod effective;
mod expand;
#[cfg(test)]
mod fake;
mod host;
mod installed;
mod json;
mod kept;
mod limits;
mod load;
mod memory;
mod mistakes;
mod mounts;
mod named;
mod overview;
mod own;
mod places;
mod reread;
mod secrets;
mod servers;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod trust;

pub use bridge::{Bridge, OutputMode};
pub use consent::{agree, agreed_files, forget};
pub use definitions::{Definitions, Scan};
pub use edit::{EditError, ServerFile, server_file};
pub use effective::{Shown, effective, files};
pub use host::{Host, MAX_FILE, Machine, NotUnicode};
pub use installed::{Installation, installations, keep_installations};
pub use kept::{KeptError, Turn, turn};
pub use load::{
    Loaded, Parts, Program, Sources, data_directory, load, load_bridge, load_forgiving, load_settings_only,
    python_settings,
};
pub use mistakes::{Mistake, Mistakes, Warning, nearest, why_unreadable};
pub use overview::{Defined, Use, as_written, defined, meaning};
pub use places::{config_dir, data_dir};
pub use reread::{Reloaded, Reread};
pub use secrets::Secrets;
pub use settings::{Backend, Expose, Python, Records, Sessions, Settings, Surface, Tools, Workspace};
pub use trust::{PROJECT_FILE, Review, TrustError, accept, review};
