//! A tool call that a program's text shows: read where the text is parsed, judged where the tools are known.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The host call by which a guest has the calls of its next program judged. Its arguments are [`FoundCalls`].
pub const CHECK_CALL: &str = "check";

/// Most calls that are judged; a program with more is not checked.
pub const MAX_FOUND_CALLS: usize = 1_000;

/// Every call that a program's text shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundCalls {
    /// In the order of the text.
    pub calls: Vec<FoundCall>,
}

/// The host's answer to [`FoundCalls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAnswer {
    /// The program must not run.
    pub refused: bool,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundCall {
    /// Of the text, from 1.
    pub line: u32,
    /// As written.
    pub server: String,
    /// As written.
    pub tool: String,
    /// What the text shows of the arguments.
    pub arguments: FoundArguments,
    /// Names of arguments that are words of a shell: the tool's schema says what value each means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The program expects that the call may fail.
    pub is_expected: bool,
    /// Nobody waits for the result.
    pub is_dropped: bool,
    /// The promise is used like the result.
    pub is_used_early: bool,
}

/// What a text shows of a call's arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FoundArguments {
    /// Nothing.
    Unknown,
    /// Something that no tool takes, such as `a string`.
    Wrong(String),
    /// Names and values, as far as they are written.
    Known {
        /// Null for unknown values.
        arguments: Map<String, Value>,
        /// Paths of unknown values.
        unknown: Vec<Vec<String>>,
        /// Paths of objects that may have more keys; the empty path means the arguments.
        open: Vec<Vec<String>>,
    },
}
