//! What configuration takes from this machine: variables, directories, files that only their owner can change, and the lock on them.
//!
//! Everything goes through the trait [`Environment`], so that tests can pass another machine. Whatever reads a file reports
//! mistakes and warnings as [`Diagnostics`]: each with its file and field, and all at once.

mod diagnostics;
mod directories;
mod machine;
mod ownership;
mod state;

pub use diagnostics::{Diagnostics, Mistake, Mistakes, Warning, nearest, why_unreadable};
pub use directories::{absolute, config_dir, data_dir, is_data_dir_set, without_links};
pub use machine::{Environment, MAX_FILE, Machine, NotUnicode};
pub use state::{ChangeLock, StateError, StateFile};
