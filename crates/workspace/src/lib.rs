//! Files of principals and sessions: their paths, their owner, their quotas, and how the host reads them.
//!
//! Everything a session wrote is foreign input: names, links, sizes, kinds of files. The host reads
//! it through `confined` only. Reading order: `config`, `name`, `layout` and `sessions` (what a
//! session gets), `directory` (opening and creating), `lease` (who uses what), `quota` and `image`
//! (how the kernel enforces bounds), `confined` (reading), `virtual_files` (what clients see of a
//! session's files), `tree` (what all sessions share).
//!
//! Everything here blocks; asynchronous callers move it to other threads.

mod adopt;
mod artifacts;
mod clean;
mod config;
mod confined;
mod directory;
mod error;
mod image;
mod layout;
mod lease;
pub mod mount;
mod name;
mod owners;
mod ownership;
mod quota;
mod remove;
mod sessions;
mod tree;
mod usage;
pub mod virtual_files;

pub use artifacts::{Artifact, Artifacts};
pub use clean::{Extent, Holding};
pub use config::{DEFAULT_INODES, DEFAULT_QUOTA, Enforce, Keeping, Mount, Owner, WorkspaceConfig};
pub use confined::{DEEPEST, ReadError};
pub use error::WorkspaceError;
pub use layout::{SessionFiles, Workspaces};
pub use lease::{Lease, PrincipalLease};
pub use ownership::{Foreign, check_data};
pub use tree::Tree;
pub use usage::{FreeSpace, Quota, Usage};
