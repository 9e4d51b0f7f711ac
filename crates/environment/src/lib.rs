//! This machine as configuration sees it: variables, directories, owner-protected files, and their lock.
//!
//! All access goes through the trait [`Environment`], so that tests can pass another machine. Readers of files report
//! all mistakes and warnings as [`Diagnostics`], each with file and field.

mod diagnostics;
mod directories;
mod machine;
mod ownership;
mod state;

pub use diagnostics::{Diagnostics, Mistake, Mistakes, Warning, nearest, why_unreadable};
pub use directories::{absolute, config_dir, data_dir, is_data_dir_set, without_links};
pub use machine::{Environment, MAX_FILE, Machine, NotUnicode};
pub use state::{ChangeLock, StateError, StateFile};
