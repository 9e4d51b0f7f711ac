//! Finds, explains and applies changes to this machine that strengthen the isolation of sessions.
//!
//! `facts` reads the machine. `plan` decides what is missing, from the facts alone. `apply` makes the changes: it
//! creates files, appends lines to lists and runs commands. It replaces nothing that an administrator wrote.

mod apply;
mod facts;
mod plan;
mod step;

pub use apply::{ApplyError, apply};
pub use facts::{Account, FactsError, FixFacts};
pub use plan::plan;
pub use step::{Action, FixStep};
