//! The `landlock` backend: sessions without namespaces, for machines that grant none, by explicit choice only.
//!
//! Landlock, seccomp, resource limits and, as root, a kernel user per session separate sessions from the machine.
//! `docs/sandbox.md` lists what these measures do not cover.
//!
//! Reading order:
//!
//! - `host`: what this machine and user allow.
//! - `session_root`, `session_files`, `tool_trees`: where sessions have their files, and their rules.
//! - `guest_program`: what a session executes.
//! - `backend`: launches.
//! - `guest`, `processes`: one session's processes.
//! - `disk`: how much a session has written.
//! - `doctor`, `guards`: the report.

mod backend;
mod disk;
pub mod doctor;
mod guards;
mod guest;
mod guest_program;
mod host;
mod processes;
mod session_files;
mod session_root;
mod task_limit;
mod tool_trees;

pub use backend::Landlock;

/// The backend's name in settings and results.
pub const NAME: &str = "landlock";

/// Whether the files of sessions outlive the sessions. As root they do not. Each session then has its own user, and
/// without mounts another user's files cannot appear as that user's.
pub fn keeps_files() -> bool {
    !rustix::process::geteuid().is_root()
}
