//! Evaluates one line of `ls`, `cat`, `grep`, `rg`, `jq` and pipes over a session's files; no text reaches a shell.
//!
//! [`is_command`] recognizes such a line, and [`evaluate`] answers it. The crate does no I/O: files come through
//! [`Files`], filters of JSON through [`Jq`], and the end of the run's time through a closure.
//!
//! Time is bounded everywhere, memory everywhere but in [`Jaq`], which therefore belongs into a process that may die.

mod command;
mod ended;
mod evaluate;
mod failure;
mod files;
mod jaq;
mod jq;
mod line;
mod path;
mod recognition;
mod source;

pub use ended::{Ended, MAX_OUTPUT, TIME_IS_OVER};
pub use evaluate::evaluate;
pub use files::{EntryKind, FileEntry, FileError, Files};
pub use jaq::Jaq;
pub use jq::{Filtered, Jq, JqError, MAX_FILTER, MAX_JSON};
pub use path::{Root, VirtualPath};
pub use recognition::is_command;
