//! Finds, explains and applies the changes of this machine that make the isolation of sessions stronger.
//!
//! `facts` reads the machine. `plan` decides from the facts alone what is missing. `apply` makes the changes: it creates
//! files, appends lines to lists and runs commands. It replaces nothing that an administrator wrote.

mod apply;
mod facts;
mod plan;
mod step;

pub use apply::{ApplyError, apply};
pub use facts::{Account, FactsError, FixFacts};
pub use plan::plan;
pub use step::{Action, FixStep};
