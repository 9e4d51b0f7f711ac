//! A change that an administrator can make, as data.

use std::path::PathBuf;

use serde::Serialize;

/// A change that does not depend on other changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixStep {
    /// One word, such as `ranges`.
    pub name: &'static str,
    /// Effect of the step.
    pub what: String,
    /// The reason, and what is missing without the step.
    pub why: String,
    /// What the step weakens, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weakens: Option<String>,
    /// Actions, in execution order.
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
        /// Absolute.
        path: PathBuf,
        /// The whole content.
        content: String,
    },
    /// Appends a line to a file, which is made if missing.
    Append {
        /// Absolute.
        path: PathBuf,
        /// Without its newline.
        line: String,
    },
    /// Runs a command.
    Run {
        /// Program and arguments.
        command: Vec<String>,
    },
}
