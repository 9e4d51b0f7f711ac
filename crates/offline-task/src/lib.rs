//! Turns a task in words into a plan of tool calls and a program that makes the calls, without a
//! language model or I/O.
//!
//! Each step is a module: `words`, `clauses`, `select` (a clause's tool), `fill` (the tool's
//! parameters), `plan` and `program`. `coverage` refuses a changing call while a word of its clause
//! is left over. An argument that the task does not state is asked for, never invented. Tools come
//! from the catalog alone; no tool is known here.

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
