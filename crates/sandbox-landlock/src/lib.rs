//! The `landlock` backend: sessions without namespaces, for machines that grant none, by explicit choice only.
//!
//! What stands between a session and the machine is Landlock, seccomp, resource limits and, as root, a user of its own.
//! `docs/sandbox.md` says what that is not.
//!
//! Reading order: `ground` (what this machine and user allow), `place` (where sessions have their files), `session` (one of
//! them: its directories, what it may reach, what it is told), `backend` (launches), `guest` and `leash` (its processes), `disk`
//! (how much it has written), `doctor` (all of it, examined).

mod backend;
mod disk;
pub mod doctor;
mod ground;
mod guards;
mod guest;
mod leash;
mod place;
mod session;
mod trees;

pub use backend::{Landlock, Standing};

/// The backend's name in settings and results.
pub const NAME: &str = "landlock";

/// Whether files of sessions outlive them here. As root they do not: a session is a user of its own, to whom nothing can
/// show the files of another as its own.
pub fn keeps_files() -> bool {
    !rustix::process::geteuid().is_root()
}
