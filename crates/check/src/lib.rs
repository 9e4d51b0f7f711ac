//! The check before a run: finds the tool calls in a program's text and compares them with the available
//! tools; no I/O.
//!
//! ```text
//! text ─► Program::read (syntax alone: calls, uses of results, names left behind) ─► judge (catalog, policy, learned shapes) ─► Report
//! ```
//!
//! The check accepts what the text leaves uncertain; each call is checked again when it is made.

mod found;
mod judge;
mod names;
mod program;
mod report;

pub use judge::{View, judge};
pub use names::Names;
pub use program::{Depth, Program};
pub use report::{Certainty, Finding, Report};
