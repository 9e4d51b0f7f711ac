//! A task in words becomes a plan of tool calls and a program that makes the calls, without a language model and without I/O.
//!
//! The steps are a module each: `words`, `clauses`, `select` (the tool of a clause), `fill` (the tool's parameters), `plan` and
//! `program`. `coverage` refuses a call that would change something while a word of its clause is left over. What the task does
//! not say is asked for and never invented. No tool is known here: tools come from the catalog alone.

mod call;
mod clauses;
mod coverage;
mod error;
mod fill;
mod parameters;
mod places;
mod plan;
mod program;
mod python;
mod select;
mod verbs;
mod vocabulary;
mod words;

pub use call::{Argument, MissingArgument, PlannedCall};
pub use error::TaskError;
pub use plan::{PlanRequest, PlannedStep, TaskPlan, ToolNames, plan};
pub use program::{ProgramOverrides, program};
pub use select::DEFAULT_THRESHOLD;
