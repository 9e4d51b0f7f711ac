//! The words everyone shares: ids, principals, tools, limits, content and outcomes; no I/O, no async.

mod activity;
mod answers;
pub mod bulk;
mod check;
mod content;
mod file;
mod ids;
mod kept;
mod limits;
pub mod numbers;
mod outcome;
mod rules;
mod search;
mod tool;
pub mod units;
mod unseen;
mod written;

pub use activity::Activity;
pub use answers::{Answers, Format};
pub use check::CheckMode;
pub use content::{Body, Content};
pub use file::{WrittenFile, size_in_words};
pub use ids::{Principal, RunId, SessionId, SessionName};
pub use kept::Kept;
pub use limits::{Granted, Limit, Limits, Network, RunLimits};
pub use outcome::{GuestError, Outcome, SessionFate, Status, Text, Threads, Usage};
pub use rules::ToolRules;
pub use search::{MAX_FOUND, MAX_QUERY, USUALLY_FOUND};
pub use tool::{DefinitionError, ServerTools, Tool, ToolRef};
pub use unseen::{is_reordering, is_unseen, spelled_out};
pub use written::Written;
