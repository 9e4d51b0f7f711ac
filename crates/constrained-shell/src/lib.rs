//! Evaluates one line of `ls`, `cat`, `grep`, `rg`, `jq` and pipes over a session's files; no text reaches a shell.
//!
//! [`is_command`] recognizes such a line, and [`evaluate`] answers it. The crate does no I/O: files come through
//! [`VirtualFiles`], filters of JSON through [`Jq`], and the end of the run's time through a closure.
//!
//! Time is bounded everywhere; memory is bounded except in [`Jaq`], which therefore belongs in a disposable process.

mod command;
mod command_name;
mod done;
mod evaluate;
mod evaluated;
mod failure;
mod input;
mod jaq;
mod jq;
mod line;
mod path;
mod printed;
mod recognition;
mod surroundings;
mod virtual_files;

pub use evaluate::evaluate;
pub use evaluated::{Evaluated, MAX_OUTPUT, TIME_IS_OVER};
pub use jaq::Jaq;
pub use jq::{Filtered, Jq, JqError, MAX_FILTER, MAX_JSON};
pub use path::{Root, VirtualPath};
pub use recognition::is_command;
pub use virtual_files::{EntryKind, FileEntry, FileError, VirtualFiles};
