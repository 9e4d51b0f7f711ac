//! The `process` backend: sessions cloned and jailed from a warmed CPython zygote.
//!
//! Reading order:
//!
//! - `config`, `mode`: what this machine and user allow.
//! - `zygote_spec`, `appearance`: file system and program of a zygote, and how sessions look from inside.
//! - `zygote`: starts sessions.
//! - `network`, `resources`: network namespaces, control groups and users, made in advance.
//! - `attach`: directories of the host.
//! - `session`: a session's processes.
//! - `session_pool`, `zygote_pool`: idle sessions.
//! - `backend`: profiles and launches.
//! - `guards`: what the mode promises.
//! - `doctor`: examines the machine.

mod appearance;
mod attach;
mod backend;
mod config;
pub mod doctor;
mod guards;
mod mode;
mod mount_sources;
mod network;
mod remedy;
mod resources;
mod selftest;
mod session;
mod session_pool;
#[cfg(feature = "unconfined-guests")]
mod unconfined;
mod zygote;
mod zygote_pool;
mod zygote_spec;

pub use backend::Process;
pub use config::{PoolConfig, ProcessConfig, Profile};
