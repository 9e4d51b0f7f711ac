//! From the words of a task and the tools that there are to a plan of calls, and to the program that makes them; no language
//! model, no I/O.
//!
//! A task is cut into steps, each step is searched for like any query, the tool to call is the one that fits what the step
//! says, and its arguments are the step's own words and numbers or the results of earlier steps. What the task does not say
//! is asked for and never invented. Nothing here knows any tool: which tools there are comes from the catalog alone.

mod choose;
mod clauses;
mod doubt;
mod error;
mod fill;
mod language;
mod literals;
mod parameters;
mod places;
mod plan;
mod program;
mod python;
mod select;
mod verbs;
mod vocabulary;

pub use error::TaskError;
pub use plan::{Argument, Call, Missing, Plan, Request, Step, Tools, plan};
pub use program::{Overrides, program};
pub use select::DEFAULT_THRESHOLD;
