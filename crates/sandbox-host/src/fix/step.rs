//! One change that an administrator can make, as data.

use std::path::PathBuf;

use serde::Serialize;

/// One change, independent of all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixStep {
    /// One word, such as `ranges`.
    pub name: &'static str,
    /// What the step does.
    pub what: String,
    /// The reason, and what is missing without the step.
    pub why: String,
    /// What the step makes weaker, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weakens: Option<String>,
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// What a person has to do afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
}

/// One action of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Creates a file.
    Write {
        /// Its absolute path.
        path: PathBuf,
        /// The whole content.
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
