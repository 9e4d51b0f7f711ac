//! What an administrator can do on this machine so that sessions get stronger walls: found, explained, and done when told so.
//!
//! `facts` looks at the machine, `plan` decides from the facts alone what is missing, `apply` does it: whole files that
//! are not there yet, lines at the end of lists, and commands. Nothing that an administrator wrote is replaced.

mod apply;
mod facts;
mod plan;

use std::path::PathBuf;

use serde::Serialize;

pub use apply::{ApplyError, apply};
pub use facts::{Account, Facts, FactsError};
pub use plan::plan;

/// One thing to do, which stands by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// A word for it: `ranges`.
    pub name: &'static str,
    /// What it does.
    pub what: String,
    /// Why, and what is missing without it.
    pub why: String,
    /// What it makes weaker, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weakens: Option<String>,
    /// What is done, in order.
    pub actions: Vec<Action>,
    /// What a person has to do afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Writes a file that is not there.
    Write {
        /// Its absolute path.
        path: PathBuf,
        /// All of it.
        content: String,
    },
    /// Adds a line to the end of a file, which is made if it is missing.
    Append {
        /// Its absolute path.
        path: PathBuf,
        /// The line, without its end.
        line: String,
    },
    /// Runs a command.
    Run {
        /// Program and arguments.
        command: Vec<String>,
    },
}
