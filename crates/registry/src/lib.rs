//! Definitions of upstream servers: files, content, edits, and reloads after changes.
//!
//! A definition is an entry of `mcpServers` in a JSON file, as other MCP clients write it, or a
//! variable `MCP_SERVER_<NAME>_URL`. Reading order: `sources` (which files count), `entries` (one
//! file, one entry), `expand` and `secrets` (values of `${VAR}`), `load` (all files together),
//! `watch`; `bridge` for the files of the surface `bridge`; `stored` for entries in a database.

mod bridge;
mod edit;
mod entries;
mod expand;
mod file_version;
mod json;
mod listing;
mod load;
mod review;
mod secrets;
mod sources;
mod stored;
mod url_variables;
mod watch;

pub use bridge::{BridgeDefinitions, BridgeSources, Scan};
pub use edit::{DefinitionFile, EditError, file_to_edit};
pub use listing::{Definition, DefinitionStatus, expanded_fingerprint, list_definitions, parse_unexpanded};
pub use load::load_servers;
pub use review::{PROJECT_FILE, Review, ReviewError, review};
pub use secrets::Secrets;
pub use sources::{Sources, definition_paths};
pub use stored::read_stored;
pub use watch::{DefinitionWatcher, Reload};
