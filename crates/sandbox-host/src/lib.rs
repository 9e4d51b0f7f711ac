//! Facts and services of this machine that all backends share: its features, its Python and engines of TypeScript, the guests' view of it, and
//! `doctor`.
//!
//! Reading order:
//!
//! - `config`, `facts`: what the kernel and this user allow.
//! - `python`: interpreters and the managed environment.
//! - `shell`: bash.
//! - `typescript`: the engine of TypeScript and its packages.
//! - `layout`, `guest_user`: paths, variables and the user that guests see.
//! - `process_tree`, `usage_meter`: the state of processes.
//! - `engine_process`: the process that runs a session's programs beside its first one.
//! - `run_cleanup`: ends the processes that a run started.
//! - `free_users`: users of a lease.
//! - `open_files`, `rlimits`: limits of processes.
//! - `channels`: between host and guest.
//! - `doctor`: the report.
//! - `fix`: what an administrator can change.

pub mod channels;
mod child;
mod config;
pub mod doctor;
pub mod engine_process;
pub mod facts;
pub mod fix;
pub mod free_users;
pub mod guest_user;
pub mod layout;
pub mod open_files;
pub mod process_tree;
pub mod python;
pub mod rlimits;
pub mod run_cleanup;
pub mod shell;
pub mod typescript;
pub mod usage_meter;

pub use config::HostConfig;
pub use facts::HostFacts;
