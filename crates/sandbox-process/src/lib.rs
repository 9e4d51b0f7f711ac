//! The `process` backend: sessions cloned and jailed from a warmed CPython zygote.
//!
//! Reading order: `config`, `mode` (what this machine and user allow), `layout` (what sessions see), `appearance` (as what), `station` (one
//! zygote and what is prepared for its sessions), `attach` (directories that they see), `pool` (sessions that stand
//! ready), `backend` (profiles, launches), `leash` (a session's processes), `settle` (what a run leaves behind),
//! `python` (the machine's interpreter and the managed environment), `guards` (what the mode promises), `doctor` (all of
//! it, examined), `fix` (what an administrator can do about it).

mod appearance;
mod attach;
mod backend;
pub mod census;
mod config;
pub mod doctor;
pub mod fix;
mod folders;
mod guards;
pub mod layout;
mod leash;
mod mode;
pub mod open_files;
mod pool;
mod post;
mod provisions;
pub mod python;
mod remedy;
pub mod rlimits;
mod selftest;
pub mod settle;
mod station;

pub use backend::{Process, Standing};
pub use config::{Config, Floor, Pool, Profile, Requirement};
pub use jail::guards::Removed;
pub use jail::spec::Appearance;
pub use mode::without_groups;
