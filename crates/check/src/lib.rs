//! The check before a run: finds the tool calls in a program's text and holds them against the tools there are; no I/O.
//!
//! ```text
//! text ─► Program::read (syntax alone: calls, uses of results, names left behind) ─► judge (catalog, policy, learned shapes) ─► Report
//! ```
//!
//! What the text does not say for certain is let through: the call itself is checked again when it is made.

mod judge;
mod names;
mod program;
mod report;

pub use judge::{View, judge};
pub use names::Names;
pub use program::{Depth, Program};
pub use report::{Certainty, Finding, Report};
