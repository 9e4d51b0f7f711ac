//! The `landlock` backend: sessions without namespaces, for machines that grant none, by explicit choice only.
//!
//! Landlock, seccomp, resource limits and, as root, a kernel user per session separate sessions from the machine.
//! `docs/sandbox.md` lists what that does not cover.
//!
//! Reading order: `host` (what this machine and user allow), `session_root` (where sessions have their files),
//! `session_files` (the directories and rules of one session), `tool_trees` (copies of the tree of tools), `backend`
//! (launches), `guest` and `processes` (one session's processes), `disk` (how much a session has written), `doctor`
//! (examines the machine).

mod backend;
mod disk;
pub mod doctor;
mod guards;
mod guest;
mod host;
mod processes;
mod session_files;
mod session_root;
mod tool_trees;

pub use backend::Landlock;

/// The backend's name in settings and results.
pub const NAME: &str = "landlock";

/// Whether the files of sessions outlive them. As root they do not: each session has its own user, and without mounts it
/// cannot see the files of another user as its own.
pub fn keeps_files() -> bool {
    !rustix::process::geteuid().is_root()
}
