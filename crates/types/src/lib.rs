//! The words everyone shares: ids, principals, tools, limits, content and outcomes; no I/O, no async.

mod content;
mod ids;
mod limits;
mod outcome;
mod tool;

pub use content::Content;
pub use ids::{Principal, RunId, SessionId, SessionName};
pub use limits::{Limit, Limits, Network};
pub use outcome::{GuestError, Outcome, SessionFate, Status, Text, Usage};
pub use tool::{DefinitionError, ServerTools, Tool, ToolRef};
