//! The words everyone shares: ids, principals, tools, limits, content and outcomes; no I/O, no async.

mod check;
mod content;
mod ids;
mod limits;
mod outcome;
mod search;
mod tool;
pub mod units;
mod written;

pub use check::CheckMode;
pub use content::Content;
pub use ids::{Principal, RunId, SessionId, SessionName};
pub use limits::{Granted, Limit, Limits, Network, RunLimits};
pub use outcome::{GuestError, Outcome, SessionFate, Status, Text, Usage};
pub use search::{MAX_FOUND, MAX_QUERY, USUALLY_FOUND};
pub use tool::{DefinitionError, ServerTools, Tool, ToolRef};
pub use written::Written;
