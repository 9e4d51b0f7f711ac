//! Adopts other MCP clients' servers: imports them into codeyard, installs codeyard in their place, and undoes an
//! installation.
//!
//! `plan` selects an import's new servers, and `save` adds them. `install` selects the client's servers that codeyard
//! replaces, and changes the client's file. `undo` restores the file. Only commands print and ask the person.

mod address;
mod bill;
mod client_files;
mod coverage;
mod diff;
mod edited_file;
mod env_file;
mod error;
mod install;
mod installations;
mod plan;
mod references;
mod save;
mod undo;

pub use address::{AddressRefused, ServedAddress, ServedBy};
pub use bill::{Bill, ServerCost};
pub use client_files::{
    client_by_name, own_file, place_of, read_servers, read_text, running_processes, surroundings, text_of,
};
pub use coverage::KnownServers;
pub use diff::diff;
pub use edited_file::{EditedFile, FileMode};
pub use error::AdoptionError;
pub use install::{Installer, Replacement, install, is_installed};
pub use plan::{Decision, ImportPlan, PlannedServer, Planner};
pub use references::references;
pub use save::{save_accepted, save_plan};
pub use undo::{Undo, undo};
